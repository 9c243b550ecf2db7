#!/usr/bin/env python3
"""AxMemo's benchmarks on the simulated CPU: what they compute without memoization, with the unit, in software, and rewritten.

Python because it is processes and bytes. Without the programs, which need the cross compiler, the test is skipped."""
import argparse
import array
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ["blackscholes", "fft", "inversek2j", "jmeint", "jpeg", "kmeans", "sobel", "hotspot", "lavamd", "srad"]
SKIPPED = 77
NOISE = 1.01  # a rewritten program may take so many times the cycles of the original
BOUND = {"jpeg": 0.02}  # of the square error; at this size a picture has nine blocks of pixels
# Of all cycles, per cent that the analysis must find by itself.
FOUND = {"blackscholes": 70, "fft": 75, "inversek2j": 90, "jmeint": 30, "jpeg": 15, "kmeans": 70, "sobel": 20, "hotspot": 35, "lavamd": 50, "srad": 40}


class Runner:
    def __init__(self, reprise, programs, folder):
        self.reprise, self.programs, self.folder = reprise, programs, folder

    def command(self, words, expect=0):
        done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode != expect:
            raise RuntimeError(f"{' '.join(str(w) for w in words)}: {done.returncode}\n{done.stderr.decode(errors='replace')[-1000:]}")
        return done.stdout, done.stderr.decode(errors="replace")

    def cycles(self, program, cpu):
        file = self.folder / "timed.json"
        self.command([self.reprise, "cpu", "run", "--region", "--cpu", cpu, "--json", file, "--", program, "--size", "tiny"])
        return json.loads(file.read_text())["totals"]["cycles"]

    def results(self, name, *options, program=None):
        """What a program wrote to its file of results, and printed."""
        file = self.folder / "results"
        file.unlink(missing_ok=True)
        words = [self.reprise, "cpu", "run", "--functional", *options, "--", program or self.programs / name]
        text, _ = self.command([*words, "--size", "tiny", "--results", file])
        return file.read_bytes(), text


def square_error(right, got):
    def values(data):
        head, kind, body = data.split(b"\n", 2)
        assert head == b"reprise results 1"
        v = array.array({b"f32": "f", b"u8": "B"}[kind.split()[0]])
        v.frombytes(body)
        return v

    x, y = values(right), values(got)
    assert len(x) == len(y)
    return sum((a - b) ** 2 for a, b in zip(x, y)) / sum(a * a for a in x)


def check(r, name):
    plain, text = r.results(name)
    bad = []

    def must(what, holds):
        if not holds:
            bad.append(f"{name}: {what}")

    if shutil.which("qemu-aarch64"):
        for program in (name, name + ".soft"):
            theirs, _ = r.command(["qemu-aarch64", r.programs / program, "--size", "tiny"])
            must(f"{program} differs from qemu's", theirs == (text if program == name else r.results(program)[1]))
    must("without a unit it differs", r.results(name + ".memo")[0] == plain)
    must("without truncation it differs", r.results(name + ".memo", "--cpu", "memo-exact", "--set", "memo.sample=0")[0] == plain)
    error = square_error(plain, r.results(name + ".memo", "--cpu", "memo-8k-512k")[0])
    must(f"its error is {error}", error <= BOUND.get(name, 1e-3))
    table = r.results(name + ".memo", "--cpu", "memo-8k", "--set", "memo.direct=28", "--set", "memo.sample=0")[0]
    must("software and its table in the unit differ", r.results(name + ".soft")[0] == table)
    for inputs in (12, 6):  # with fewer there are other blocks, which must be right as well
        out, file, report = r.folder / "rewritten", r.folder / "sample", r.folder / "analysis.json"
        words = [r.reprise, "cpu", "memo", "--region", "--inputs", inputs, "--out", out, "--results", file, "--json", report]
        text, said = r.command([*words, "--", r.programs / name, "--size", "tiny", "--results", file])
        found = json.loads(report.read_text())["totals"]["counters"]
        covered = 100 * found["analysis.memoized"] / found["analysis.total"]
        must(f"the analysis finds {covered}% of it", inputs < 12 or covered >= FOUND[name])
        before, after = r.cycles(r.programs / name, "hpi"), r.cycles(out, "memo-8k-512k")
        must(f"rewritten with {inputs} inputs it takes {after} cycles instead of {before}", after <= NOISE * before)
        told = (found["analysis.cycles_before"], found["analysis.cycles"])
        must(f"it is told that cycles are {told}, not {before}, {after}", abs(told[0] - before) + abs(told[1] - after) <= 2 * (NOISE - 1) * before)
        must(f"with {inputs} inputs a block was wrong", "does not compute the same" not in said)
        error = square_error(plain, r.results(name, "--cpu", "memo-8k-512k", program=out)[0])
        must(f"rewritten, its error is {error}", error <= 1e-3)
        must("rewritten, without a unit it differs", r.results(name, program=out)[0] == plain)
    return bad


def check_mistakes(r):
    """What users get wrong has a word and a status of its own."""
    rows = [
        (["cpu", "memo", "--", "/dev/null"], "not an ELF file"),
        (["cpu", "memo"], "no program is named"),
        (["run", "cpu-fft"], "is a program for the CPU"),
        (["compare", "cpu-fft", "--mech", "other:cpu=hpi"], "fft.other has not been built: that needs aarch64-linux-gnu-gcc"),
        (["cpu", "memo", "--ratio", "x", "--", "p"], "not a number: x"),
        (["cpu", "memo", "--trace", "0", "--", "p"], "a trace has"),
        (["cpu", "run", "--trace-window", "7", "--", "p"], "a window is"),
        (["cpu", "run", "--cpu", "memo-9k", "--", r.programs / "fft"], "memo-9k"),
        (["cpu", "run", "--set", "memo.l1=1000", "--", r.programs / "fft"], "power of two"),
        (["repro", "axmemo", "4.9", "--workloads", "hotspot", "--out", r.folder / "out"], "program for the GPU"),
    ]
    bad = []
    for words, message in rows:
        done = subprocess.run([str(r.reprise)] + [str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 2 or message not in done.stderr.decode(errors="replace"):
            bad.append(f"{words}: {done.returncode}, {done.stderr.decode(errors='replace')[:300]}")
    return bad


def check_signal(r):
    """A run that is interrupted ends before the program does, which prints its result last, and says how far it came."""
    file = r.folder / "report.json"
    words = [r.reprise, "cpu", "run", "--json", file, "--", r.programs / "inversek2j", "--size", "large"]
    run = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=120)
    report = json.loads(file.read_text())
    if run.returncode != 128 + signal.SIGINT or report.get("incomplete") != "signal 2" or not report["totals"]["insts"] or said:
        return [f"interrupted: {run.returncode}, {report.get('incomplete')}, {said}"]
    return []


def check_progress(r):
    """Who waits is told how far it is: at a terminal on one line that goes, in a log on lines of their own, and not at all if unwanted."""
    bad = []
    run = ["cpu", "run", "--functional", "--max-insts", "100000000", "--", r.programs / "inversek2j", "--size", "large"]
    memo = ["cpu", "memo", "--region", "--out", r.folder / "rewritten", "--results", r.folder / "sample", "--"]
    memo += [r.programs / "kmeans", "--size", "tiny", "--results", r.folder / "sample"]
    share = r"(\d+)%  0:\d\d(?:, about 0:\d\d left)?  "
    for words, status, what in (
        (run, 1, r"\d+ million instructions"),
        (memo, 0, r"block \d+ of \d+: (?:results|low bits|cycles)"),
    ):
        for how, begin in (("lines", "reprise: "), ("bar", r"\r\x1b\[K\[=* *\] ")):
            done = subprocess.run([str(r.reprise)] + [str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  env={"REPRISE_PROGRESS": f"{how}:0.001:100000000"}, timeout=60)
            said = done.stderr.decode()
            shares = [int(n) for n in re.findall(begin + share + what, said)]
            if done.returncode != status or not shares or shares != sorted(shares) or "left" not in said:
                bad.append(f"progress, {how}: {done.returncode}, {said!r}")
            if how == "bar" and not re.search(r"\r\x1b\[K(?!\[)", re.split(what, said)[-1]):
                bad.append(f"the line stays: {said!r}")
        done = subprocess.run([str(r.reprise)] + [str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={"REPRISE_PROGRESS": "none"}, timeout=60)
        if "%" in done.stderr.decode():
            bad.append(f"progress that nobody wants: {done.stderr.decode()!r}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reprise", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not (args.programs / "fft").exists():
        print("the benchmarks were not built: aarch64-linux-gnu-gcc is missing")
        return SKIPPED
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        r = Runner(args.reprise.resolve(), args.programs.resolve(), pathlib.Path(folder))
        for name in args.names or NAMES:
            bad += check(r, name)
        bad += check_mistakes(r) + check_signal(r) + check_progress(r)
    for line in bad:
        print(line)
    print(f"{len(args.names or NAMES)} benchmarks, {len(bad)} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

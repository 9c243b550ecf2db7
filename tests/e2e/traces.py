#!/usr/bin/env python3
"""Traces as users meet them: well-formed, complete, cut as asked, alike where they must be, and no change to what is traced.

Every check is a function named test_*; they print what went wrong, then a count. Python because it is processes and text.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import trace_check  # noqa: E402

import harness
from harness import expect

MIXED = str(HERE.parent / "timing" / "mixed.ptx")
SAXPY = str(HERE.parent / "golden" / "saxpy.ptx")
REPRISE = TMP = None  # set by main
WORKLOADS = ["nn", "hotspot", "bfs", "convolutionTexture", "sgemm"]  # the form of the first is checked, it is the smallest


def run(*words, env=None):
    done = subprocess.run([REPRISE, "run", *map(str, words)], capture_output=True, text=True, timeout=120, env=env)
    return done.returncode, done.stdout, done.stderr


def file(name):
    return os.path.join(TMP, name)


def mixed(kernel, grid, block):
    return [MIXED, "--entry", kernel, "--grid", grid, "--block", block, "--arg", "buf:65536", "--arg", "u32:3", "--arg", "u32:5"]


# Kernels with barriers, shared memory, divergence, atomics, fences and locks; the loop of saxpy's lanes that have exited.
KERNELS = [mixed("reduce", 30, 70), mixed("diverge", 3, 45), mixed("atomics", 7, 45), mixed("produce", 8, 64), mixed("lock", 2, 40),
           [SAXPY, "--block", 64, "--grid", 2, "--arg", "f32:2", "--arg", "iota:100", "--arg", "iota:100", "--arg", "u32:100"]]


def workloads():
    """Arguments of runs, where workloads were built."""
    return [[name, "--size", "tiny"] for name in WORKLOADS] if HAS_WORKLOADS else []


def report_of(words, *options):
    path = file("report.json")
    rc, out, err = run("--gpu", "gtx480", "--json", path, *options, *words)
    expect(rc == 0 and not err, f"{words}: status {rc}: {out}{err}")
    data = json.loads(pathlib.Path(path).read_text())
    data.pop("host")
    return data


def trace_of(words, name, *options):
    path = file(name)
    report = report_of(words, "--trace", path, *options)
    return trace_check.check(path), report


def test_traces_are_complete_and_change_nothing():
    for words in KERNELS + workloads()[:1]:
        plain = report_of(words)
        for name in ("t.kanata", "t.json"):
            found, report = trace_of(words, name)
            expect(report == plain, f"{words}: {name} changes the report")
            expect(found["last"] >= plain["totals"]["cycles"] - 1, f"{words}: {name} ends at {found['last']}")
            if found["format"] == "kanata":
                expect(found["retired"] == plain["totals"]["warp_insts"], f"{words}: {found['retired']} instructions retired")
            else:
                expect(found["instructions"] == plain["totals"]["warp_insts"], f"{words}: {found['instructions']} issued")


def test_mechanisms_are_shown():
    """WIR supplies results and adds moves; both are in the trace, as often as its counters say."""
    words = mixed("diverge", 3, 45)
    plain = report_of(words, "--mech", "wir")
    found, report = trace_of(words, "t.kanata", "--mech", "wir")
    expect(report == plain, "the trace changes the report")
    counters = plain["totals"]["counters"]
    supplied = sum("[supplied]" in i.labels[0] for i in found["insts"])
    moves = sum(" ----:" in i.labels[0] for i in found["insts"])
    expect(supplied == counters["wir.reused"] > 0, f"{supplied} supplied, {counters['wir.reused']} reused")
    expect(moves == counters["wir.movs"] > 0, f"{moves} moves, {counters['wir.movs']} counted")
    trace_of(words, "t.json", "--mech", "wir")


def test_workloads_are_traced():
    for words in workloads()[1:]:
        plain = report_of(words)
        for name in ("t.kanata", "t.json"):
            report = report_of(words, "--trace", file(name))
            expect(report == plain, f"{words}: {name} changes the report")
            text = pathlib.Path(file(name)).read_bytes()
            if name == "t.kanata":
                count = sum(line.startswith(b"R\t") and line.endswith(b"\t0") for line in text.split(b"\n"))
            else:
                count = text.count(b'"cat":"issue"')
            expect(count == plain["totals"]["warp_insts"], f"{words}: {count} instructions in {name}")


def test_traces_are_the_same_again():
    for name in ("t.kanata", "t.json"):
        trace_of(KERNELS[0], name)
        first = pathlib.Path(file(name)).read_bytes()
        trace_of(KERNELS[0], name)
        expect(pathlib.Path(file(name)).read_bytes() == first, f"{name} differs from run to run")


def clipped(inst, first, last):
    return sorted((lane, name, max(begin, first), min(end, last + 1)) for lane, name, begin, end in inst.stages
                  if end > first and begin <= last)


def test_windows_cut():
    """What a window shows is the whole trace between its cycles, no more and no less."""
    for words in (KERNELS[0], KERNELS[2], KERNELS[4]):
        whole, report = trace_of(words, "t.kanata")
        end = report["totals"]["cycles"]
        for first, last in ((0, 100), (end // 3, end // 2), (end // 2, end // 2), (end - 30, end + 1000)):
            found, _ = trace_of(words, "cut.kanata", "--trace-window", f"{first}:{last}")
            want = {i.sim: clipped(i, first, last) for i in whole["insts"] if i.end > first and i.begin <= last}
            got = {i.sim: sorted(i.stages) for i in found["insts"]}
            expect(got == want, f"{words}: window {first}:{last} shows {len(got)} instructions, not {len(want)}, or other stages")
            ids = {i.sim: i.retire_id for i in whole["insts"]}
            expect(all(ids[i.sim] == i.retire_id for i in found["insts"] if not i.flushed), "retire ids differ")
            found, _ = trace_of(words, "cut.json", "--trace-window", f"{first}:{last}")
            expect(found["first"] >= first and found["last"] <= last + 1, f"{found['first']} to {found['last']}")


def sms_of(insts):
    return {int(i.labels[1].split(" SM ")[1].split("\\n")[0]) for i in insts}


def test_sms_cut():
    whole, _ = trace_of(KERNELS[0], "t.kanata")
    by_id = {i.retire_id: sorted(i.stages) for i in whole["insts"] if not i.flushed}
    for sms, option in ((range(15), "0:14"), ([3], "3"), ([0, 1], ":1"), ([14], "14:99")):
        found, _ = trace_of(KERNELS[0], "cut.kanata", "--trace-sm", option)
        expect(sms_of(found["insts"]) == set(sms), f"--trace-sm {option} shows {sms_of(found['insts'])}")
        expect(all(by_id[i.retire_id] == sorted(i.stages) for i in found["insts"] if not i.flushed), "other instructions")
        found, _ = trace_of(KERNELS[0], "cut.json", "--trace-sm", option)
        shown = {e["pid"] - 1 for e in found["events"] if e.get("cat") == "issue"}
        expect(shown == set(sms), f"--trace-sm {option} shows {shown}")


def test_retire_ids_align():
    """The same instruction has the same id and label on machines that run it at other times, on other SMs."""
    def ids(*options):
        found, _ = trace_of(KERNELS[0], "t.kanata", *options)
        return {i.retire_id: (i.thread, i.labels[0].partition(" [")[0]) for i in found["insts"] if not i.flushed}, \
            {i.retire_id: i.begin for i in found["insts"] if not i.flushed}
    labels, begins = ids()
    for options in (["--set", "issue.policy=lrr"], ["--set", "device.sms=2"], ["--set", "latency.alu=4"], ["--mech", "wir"]):
        other, times = ids(*options)
        expect(other == labels, f"{options}: other ids")
        expect(times != begins, f"{options}: nothing changed, the test proves nothing")


def test_interrupted_runs_leave_whole_lines():
    for name in ("t.kanata", "t.json"):
        path = file(name)
        process = subprocess.Popen([REPRISE, "run", "--gpu", "gtx480", "--trace", path, *map(str, mixed("reduce", 60000, 200))],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + 60
        part = f"{path}.{process.pid}.part"
        while time.time() < deadline and (not os.path.exists(part) or os.path.getsize(part) < 2000000):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        expect(process.wait() == -signal.SIGINT, "the run ended before it was interrupted")
        text = pathlib.Path(path).read_text()
        if name.endswith("json"):
            json.loads(text + "]")
        else:
            expect(text.endswith("\n"), f"the last line is not whole: {text[-80:]!r}")


def test_faults_are_traced_to_their_end():
    words = [SAXPY, "--grid", 1000, "--block", 64, "--arg", "f32:2", "--arg", "iota:64000", "--arg", "u64:64", "--arg", "u32:4096000"]
    for name in ("t.kanata", "t.json"):
        rc, _, err = run("--gpu", "gtx480", "--trace", file(name), *words)
        expect(rc == 1 and "illegal address" in err, err)
        expect(trace_check.check(file(name))["instructions"] > 100, "nothing was traced")


def test_what_is_said():
    words = KERNELS[-1]
    rc, _, err = run("--gpu", "gtx480", "--trace", "/nonexistent/t.kanata", *words)
    expect(rc == 1 and "/nonexistent/t.kanata cannot be written: No such file or directory" in err, err)
    rc, _, err = run("--gpu", "gtx480", "--trace", file("t"), "--trace-sm", "15", *words)
    expect(rc == 1 and "no trace of SM 15: the GPU has 15 SMs" in err, err)
    rc, _, err = run("--functional", "--trace", file("t"), *words)
    expect(rc == 0 and "--functional times nothing, and ignores --trace " in err, err)
    rc, _, err = run("--gpu", "gtx480", "--trace", file("t"), "--trace-window", "1000000:", *words)
    expect(rc == 0 and "is empty: the run ended at cycle" in err, err)
    for option, value in (("--trace-window", "5:3"), ("--trace-window", "x"), ("--trace-sm", "-1")):
        rc, _, err = run(option, value, *words)
        expect(rc == 2 and f"{option} takes A:B, A:, :B or A, not {value}" in err, err)


def test_checker_finds_faults():
    """Each of these damages must be noticed, or the checks above say little."""
    trace_of(KERNELS[-1], "t.kanata")
    lines = pathlib.Path(file("t.kanata")).read_text().splitlines(True)
    def first(word, after=0):
        return next(k for k in range(after, len(lines)) if lines[k].split("\t")[0] == word)
    r = first("R")
    damages = {
        "no header": lines[1:],
        "no retire": lines[:r] + lines[r + 1:],
        "two retires": lines[:r + 1] + lines[r:],
        "no instruction": [line for line in lines if not line.startswith("I\t0\t")],
        "no stage": [line for line in lines if line != lines[first("S")]],
        "no end": lines[:first("E")] + lines[first("E") + 1:],
        "cycles stand": [line.replace("C\t1", "C\t0") if line == "C\t1\n" else line for line in lines],
        "unknown": lines + ["Q\t1\n"],
        "cut line": lines[:-1] + [lines[-1][:-1]],
        "same id": [line if not line.startswith("R\t") or line.endswith("\t1\n") else line.rsplit("\t", 2)[0] + "\t7\t0\n"
                    for line in lines],
    }
    for what, broken in damages.items():
        try:
            trace_check.read_kanata(broken)
        except trace_check.Wrong:
            continue
        raise AssertionError(f"'{what}' was not noticed")
    trace_of(KERNELS[-1], "t.json")
    events = json.loads(pathlib.Path(file("t.json")).read_text())
    for ph in "BEbe":
        k = next(k for k, e in enumerate(events) if e["ph"] == ph)
        pathlib.Path(file("broken.json")).write_text(json.dumps(events[:k] + events[k + 1:]))
        try:
            trace_check.check(file("broken.json"))
        except trace_check.Wrong:
            continue
        raise AssertionError(f"a missing {ph} was not noticed")


if __name__ == "__main__":
    sys.exit(harness.main(globals()))

#!/usr/bin/env python3
"""reprise profile as users meet it: tables, annotated source, files, programs, kernels of PTX files, odd names, ends of all kinds.

Every check is a function named test_*. What is counted has a unit test (test_survey.c)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import harness
from harness import expect, expect_in

COLUMNS = 100
REPRISE = WORKLOADS = TMP = None  # set by main

KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 buffer, .param .u32 n)
{ .reg .b32 %r<8>; .reg .b64 %l<4>;
ld.param.u64 %l0, [buffer]; ld.param.u32 %r5, [n];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
mul.lo.u32 %r2, %r1, %r5; add.u32 %r3, %r2, %r0;
mul.wide.u32 %l1, %r0, 4; add.u64 %l1, %l1, %l0;
st.global.u32 [%l1], %r3; exit; }
"""
LAUNCH = ["--grid", "4", "--block", "64", "--arg", "buf:256", "--arg", "u32:3"]


def run(*words, **options):
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, timeout=120, **options)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def place(name):
    return os.path.join(TMP, name)


def profile(name, *words):
    """Status, text and JSON of a profile."""
    rc, out, err = run("profile", "--json", place(name), *words)
    expect(rc == 0, f"status {rc}: {out}{err}")
    tables = out[out.index("profile of"):]
    wide = [line for line in tables.splitlines() if len(line) > COLUMNS]
    expect(not wide, "wider than %d columns:\n%s" % (COLUMNS, "\n".join(wide)))
    return tables, json.loads(pathlib.Path(place(name)).read_text())


def add(counts):
    total = {}
    for c in counts:
        for k, v in c.items():
            total[k] = total.get(k, 0) + v
    return total


def check_sums(data):
    """Lines and instructions sum to their kernel, kernels to the whole."""
    names = [k["name"] for k in data["kinds"]]
    for kernel in data["kernels"]:
        for part in ("lines", "insts"):
            total = add(x["counts"] for x in kernel[part])
            wrong = [n for n in names if total.get(n, 0) != kernel["counts"][n]]
            expect(not wrong, f"{part} of {kernel['name']} do not sum: {wrong}")
    total = add(k["counts"] for k in data["kernels"])
    expect(all(total[n] == data["totals"][n] for n in names), "kernels do not sum")
    for c in [data["totals"], *(x["counts"] for k in data["kernels"] for x in k["insts"])]:
        c = {n: c.get(n, 0) for n in names}
        expect(c["old"] + c["one_lane"] <= c["insts"], c)
        expect(c["repeat.1k"] <= c["repeat.10k"] <= c["insts"], c)
        expect(c["divergent.scalar"] <= c["divergent"] <= c["insts"], c)
        expect(c["stores.silent"] <= c["stores"] and c["loads.again"] <= c["loads"], c)
        accesses = [sum(v for n, v in c.items() if n.startswith(p)) for p in ("access.", "width.")]
        expect(accesses[0] == accesses[1], c)
        for level in ("grid", "block", "warp"):
            expect(sum(c[f"{level}.{f}"] for f in ("uniform", "affine", "unstructured")) <= c["insts"], c)


def test_workload():
    text, data = profile("h.json", "hotspot", "--size", "tiny")
    check_sums(data)
    for part in ("do nothing new", "Most of it: ", "What would remove it: ", "repeated within 1,000", "same in all warps of the block",
                 "silent stores", "what mechanisms could reach", "kernel.cu:"):
        expect_in(part, text)
    run("run", "--functional", "hotspot", "--size", "tiny", "--json", place("r.json"))
    report = json.loads(pathlib.Path(place("r.json")).read_text())["totals"]
    expect(data["totals"]["insts"] == report["warp_insts"] and data["totals"]["threads"] == report["thread_insts"], "what was executed")
    again = profile("h2.json", "hotspot", "--size", "tiny")[1]
    expect({**again, "host": 0} == {**data, "host": 0}, "two profiles of one program differ")
    _, timed = profile("t.json", "--timed", "hotspot", "--size", "tiny")
    check_sums(timed)
    expect(timed["timed"] and timed["kernels"][0]["cycles"] > 0 and "cycles" not in data["kernels"][0], "cycles")
    for name in ("insts", "threads", "block.uniform", "grid.uniform", "scalar", "half", "divergent", "affine.operands", "stores", "width.4"):
        expect(timed["totals"][name] == data["totals"][name], f"{name} depends on time")


def test_lines():
    text, data = profile("l.json", "hotspot", "--size", "tiny", "--lines", "--top", "3")
    heats = [float(m) for m in re.findall(r"^ *([\d.]+)% +[\d.]+ +[\d.]+  \S+:\d+: ", text, re.M)]
    expect(len(heats) == 3 and heats == sorted(heats, reverse=True), f"hottest first: {heats}\n{text}")
    for part in ("depends on ", "caught by: ", "within 10,000"):
        expect_in(part, text)
    source = pathlib.Path(data["kernels"][0]["lines"][1]["file"])
    expect(source.name == "kernel.cu" and str(source) in data["sources"], "the source is in the profile")
    line = data["kernels"][0]["lines"][1]
    expect(data["sources"][str(source)][line["line"] - 1] == line["text"] == source.read_text().splitlines()[line["line"] - 1], line)
    expect(sum(i["text"] in text for i in data["kernels"][0]["insts"]) > 5, "machine code")


def test_several_workloads():
    rc, out, err = run("profile", "hotspot", "nw", "--size", "tiny", "--json", place("many.json"))
    expect(rc == 0, f"status {rc}: {out}{err}")
    for name in ("hotspot", "nw"):
        expect_in(f"profile of {name}\n", out)
        check_sums(json.loads(pathlib.Path(place(f"many.{name}.json")).read_text()))


def test_a_program():
    text, data = profile("p.json", "--", os.path.join(WORKLOADS, "hotspot"), "--size", "tiny")
    _, same = profile("q.json", "hotspot", "--size", "tiny")
    expect(data["totals"] == same["totals"], "a program, and the workload that it is")
    rc, out, err = run("profile", "--", "/bin/true")
    expect(rc == 1 and "launched no kernel" in err and "profile of" not in out, f"{rc} {out}{err}")
    rc, out, err = run("profile", "--", "sh", "-c", "exit 7")
    expect(rc == 7 and "profile of" not in out, f"{rc} {out}{err}")
    rc, _, err = run("profile", "--", "/no/such program")
    expect(rc == 127 and "/no/such program" in err, err)
    expect(not list(pathlib.Path(TMP).glob("reprise.*")), "files are left")


def test_odd_names():
    folder = pathlib.Path(place("a \"b' <c>&d\ne"))
    folder.mkdir()
    names = ["k 'x\" <y>.ptx", "new\nline.ptx", "\u00fc\u2713.ptx"]
    for name in names:
        (folder / name).write_text(KERNEL)
        text, data = profile("odd.json", folder / name, *LAUNCH)
        check_sums(data)
        expect(data["kernels"][0]["module"] == str(folder / name), data["kernels"][0]["module"])
        expect(data["kernels"][0]["lines"][0]["text"], "lines of PTX")
    bytes_name = os.fsencode(str(folder)) + b"/\xff\xfe.ptx"
    with open(bytes_name, "w") as f:
        f.write(KERNEL)
    done = subprocess.run([os.fsencode(REPRISE), b"profile", b"--json", os.fsencode(place("odd.json")), bytes_name,
                           *map(os.fsencode, LAUNCH)], capture_output=True, timeout=60)
    expect(done.returncode == 0, done.stderr)
    json.loads(pathlib.Path(place("odd.json")).read_text())
    rc, out, err = run("profile", folder / names[0], *LAUNCH, "--json", folder / "out \"file\".json")
    expect(rc == 0 and json.loads((folder / "out \"file\".json").read_text())["totals"]["insts"], err)


def test_reasons():
    path = place("why.ptx")
    pathlib.Path(path).write_text(KERNEL)
    _, data = profile("why.json", path, *LAUNCH)
    thread = next(i for i in data["kernels"][0]["insts"] if "TID.X" in i["text"] and "CTAID" not in i["text"])
    expect(thread["reason"] == "affine, base + stride x index: depends on threadIdx.x and parameters only", thread)
    multiply = next(i for i in data["kernels"][0]["insts"] if i["text"].startswith("IMAD"))
    expect("blockIdx.x" in multiply["reason"] and "threadIdx.x" in multiply["reason"], multiply)
    block = next(i for i in data["kernels"][0]["insts"] if "CTAID" in i["text"])
    expect(block["reason"] == "same in every thread of the block: depends on blockIdx.x and parameters only", block)


def test_ends_of_all_kinds():
    bad = place("fault.ptx")
    pathlib.Path(bad).write_text(KERNEL.replace("%l1, %l0;\nst", "%l1, 16;\nst"))
    rc, out, err = run("profile", bad, *LAUNCH)
    expect(rc == 1 and "illegal" in err.lower() and "profile of" in out, f"a fault: {rc} {out}{err}")
    p = subprocess.Popen([REPRISE, "profile", "--json", place("cut.json"), "heartwall", "--size", "large"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=TMP), start_new_session=True)
    time.sleep(4)
    expect(p.poll() is None, "it has ended before it could be stopped")
    os.killpg(p.pid, signal.SIGINT)
    out, err = (x.decode() for x in p.communicate(timeout=60))
    expect(p.returncode == 130, f"stopped: {p.returncode} {out}{err}")
    expect_in("ended by signal 2", out)
    expect("incomplete" in json.loads(pathlib.Path(place("cut.json")).read_text()), "the file says so")
    expect(not list(pathlib.Path(TMP).glob("reprise.*")), "files are left")


def test_misuse():
    for words, part in (([], "what should be profiled"), (["hotspot", "--mech", "wir"], "without mechanisms"),
                        (["--timed", "--functional", "hotspot"], "either"), (["hotspot", "--top", "0"], "--top"),
                        (["hotspot", "--json"], "value is needed"), (["hotspot", "--nonsense"], "unknown option"),
                        (["hotspat"], "hotspot"), (["hotspot", "--gpu", "nothing"], "nothing")):
        rc, out, err = run("profile", *words)
        expect(rc in (2, 127) and part in err and "profile of" not in out, f"{words}: {rc} {out}{err}")
    rc, out, err = run("profile", "hotspot", "--size", "tiny", "--json", "/nonexistent/p.json")
    expect(rc == 1 and "/nonexistent/p.json cannot be written" in err and not out, f"{rc} {out}{err}")
    rc, out, err = run("profile", "hotspot", "--size", "tiny", "--json", "/dev/full")
    expect(rc == 1 and "/dev/full" in err, f"{rc} {err}")
    rc, out, _ = run("help", "profile")
    expect(rc == 0 and max(map(len, out.splitlines())) <= COLUMNS and "docs/profiles.md" in out, out)


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "workloads"))

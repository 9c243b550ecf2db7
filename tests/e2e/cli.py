#!/usr/bin/env python3
"""The reprise command as users meet it: help, mistakes and what is said about them, runs, reports, lists.

Every check is a function named test_*; they print what went wrong, then a count. Python because it is processes and text.
"""
import array
import contextlib
import fcntl
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import termios
import threading

import harness
from harness import expect, expect_in

HERE = pathlib.Path(__file__).resolve().parent
SAXPY = str(HERE.parent / "golden" / "saxpy.ptx")
SAXPY_ARGS = ["--arg", "f32:2", "--arg", "iota:4", "--arg", "iota:4", "--arg", "u32:4"]
COLUMNS = 100
REPRISE = STATIC_RUNTIME = TMP = HAS_WORKLOADS = None  # set by main

ENDLESS = """.version 6.4
.target sm_75
.address_size 64
.visible .entry endless() {
L:  bra L;
}
"""
# Halves of a warp wait at different barriers, for the other warp, which has ended.
ALONE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry alone() {
    .reg .b32 %r<2>;
    .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 exit;
    setp.ge.u32 %p2, %r1, 16;
    @%p2 bra H;
    barrier.sync 1, 64;
    exit;
H:  barrier.sync 2, 64;
    exit;
}
"""
# A loop that takes a while, with a name that C++ would give it.
LONG = """.version 6.4
.target sm_75
.address_size 64
.visible .entry _Z8long_onej(.param .u32 n) {
    .reg .b32 %r<3>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
L:  sub.u32 %r1, %r1, 1;
    setp.gt.s32 %p1, %r1, 0;
    @%p1 bra L;
    ret;
}
"""
# Each lane runs a loop as often as its number says.
LOOP = """.version 6.4
.target sm_75
.address_size 64
.visible .entry loop(.param .u64 p) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
L:  .pragma "nounroll";
    ld.global.u32 %r2, [%rd3];
    add.u32 %r2, %r2, 3;
    st.global.u32 [%rd3], %r2;
    sub.u32 %r1, %r1, 1;
    setp.gt.s32 %p1, %r1, 0;
    @%p1 bra L;
    st.global.u32 [%rd3+128], %r2;
    ret;
}
"""
# One instruction or more of every counter that no workload is sure to move.
RARE = """.version 7.0
.target sm_80
.address_size 64
.visible .entry rare(.param .u64 p) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<6>;
    .reg .pred %p<2>;
    .local .align 4 .b8 room[256];
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    ld.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd2];
    and.b32 %r2, %r2, 60;
    mov.u32 %r3, room;
    add.u32 %r3, %r3, %r2;
    st.local.u32 [%r3], %r1;
    ld.local.u32 %r4, [%r3];
    add.f16x2 %r4, %r4, %r1;
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;
    mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r4, %r5}, {%r4, %r5}, {%r1}, {%r4, %r5};
    membar.gl;
    st.u32 [%rd1], %r5;
    ret;
}
"""


def run(*words, stdin=None, env=None):
    """Runs reprise; returns status, stdout, stderr."""
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, text=True, timeout=60, input=stdin, env=env)
    return done.returncode, done.stdout, done.stderr


def write(name, text):
    path = os.path.join(TMP, name)
    pathlib.Path(path).write_text(text)
    return path


def report(*words, timed=False):
    """The JSON report of a run that must succeed."""
    path = os.path.join(TMP, "report.json")
    rc, out, err = run("run", "--json", path, *([] if timed else ["--functional"]), *words)
    expect(rc == 0, f"status {rc}: {out}{err}")
    return json.loads(pathlib.Path(path).read_text())


def at_terminal(*words):
    """What a command writes to stderr when that is a terminal of 150 columns."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 150, 0, 0))
    p = subprocess.Popen([REPRISE, *words], stdout=subprocess.PIPE, stderr=its, env={k: v for k, v in os.environ.items() if k != "REPRISE_PROGRESS"})
    os.close(its)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while more := os.read(ours, 65536):
            said += more
    os.close(ours)
    out = p.communicate(timeout=60)[0].decode()
    expect(p.returncode == 0, f"{words}: {p.returncode}")
    return out, said.decode()


def test_progress_of_runs():
    # What is shown is decided by where it goes; a user's program knows it by its environment.
    expect_in("REPRISE_PROGRESS=bar:1:0\n", at_terminal("run", "--", "env")[0])
    env = {k: v for k, v in os.environ.items() if k != "REPRISE_PROGRESS"}
    expect_in("REPRISE_PROGRESS=lines:30:0\n", subprocess.run([REPRISE, "run", "--", "env"], capture_output=True, text=True, env=env).stdout)
    if not HAS_WORKLOADS:
        return
    # The time that is left follows from the warp instructions of the workload: the same twice makes half of it.
    words = [REPRISE, "run", "--gpu", "wir", "nw", "--size", "small"]
    insts = report("--gpu", "wir", "nw", "--size", "small")["totals"]["warp_insts"]
    shape = r"(\d+)%  0:0\d(, about 0:\d\d left)?  launch \d+: \d+ of \d+ [^\r\n]*"
    for how, shape in (("bar", r"\r\x1b\[K\[(=* *)\] " + shape), ("lines", "reprise: ()" + shape + "\n")):
        done = subprocess.run(words, capture_output=True, env={**env, "REPRISE_PROGRESS": f"{how}:0.001:{insts * 2}"}, timeout=60)
        said = done.stderr.decode()
        found = re.findall(shape, said)
        expect(done.returncode == 0 and found and found[-1][2], f"{how}: {said!r}")
        expect(re.sub(shape, "", said).replace("\r\x1b[K", "") == "", f"{how}: {said!r}")
        shares = [int(share) for _, share, _ in found]
        expect(shares == sorted(shares) and shares[-1] <= 50, f"{how}: {shares}")
        expect(all(not bar or (len(bar) == 24 and (int(share) - 0.5) * 0.24 - 1 < bar.count("=") <= (int(share) + 0.5) * 0.24) for bar, share, _ in found), found)
    done = subprocess.run(words, capture_output=True, text=True, env={**env, "REPRISE_PROGRESS": "none"}, timeout=60)
    expect(done.returncode == 0 and done.stderr == "", done.stderr)
    # Without a number, the launch alone is known; several workloads have one bar for all.
    done = subprocess.run(words, capture_output=True, text=True, env={**env, "REPRISE_PROGRESS": "lines:0.001"}, timeout=60)
    expect(done.returncode == 0 and re.search(r"reprise: \d+% of this launch  0:00", done.stderr), done.stderr)
    out, said = at_terminal("run", "--functional", "nw", "hotspot", "--size", "tiny")
    expect("/2  0:0" in said and said.endswith("\r\x1b[K") and out.count("tiny: ") == 2, f"{out}{said!r}")


def test_help():
    for words in (["--help"], ["help"], ["run", "--help"], ["env", "--help"], ["disasm", "--help"], ["list", "--help"],
                  ["compare", "--help"], ["repro", "--help"], ["-h"], ["run", "-h"], ["repro", "-h"], ["help", "disasm"],
                  ["--help", "list"]):
        rc, out, err = run(*words)
        expect(rc == 0 and not err, f"{words}: status {rc}, {err}")
        expect_in("usage: reprise", out)
        expect(words[-1] not in ("disasm", "list") or f"usage: reprise {words[-1]}" in out, f"{words}: {out}")
        expect(max(map(len, out.splitlines())) <= COLUMNS, f"{words}: help is wider than {COLUMNS} columns")
    rc, out, err = run()
    expect(rc == 2 and not out and "usage: reprise" in err, "no command: usage on stderr, status 2")
    expect(re.match(r"reprise \d+\.\d+\.\d+\n", run("--version")[1]), "--version")


def test_mistakes_get_suggestions():
    for words, said in (
        (["rnu"], "there is no command 'rnu'; did you mean 'run'?"),
        (["run", "--jsn", "x", "--", "true"], "unknown option --jsn; did you mean --json?"),
        (["run", "--gpu"], "a value is needed after --gpu"),
        (["run", "x.ptx", "--entry", "k", "--summary"], "this option comes before FILE.ptx: --summary"),
        (["run", "x.ptx", "--gpu", "wir"], "this option comes before FILE.ptx: --gpu"),
        (["run", "--max-insts", "many", "--", "true"], "--max-insts takes a number, 1 or more, not many"),
        (["run", "--expect-insts", "9", "--", "true"], "--expect-insts needs --max-insts, which says how many of them are timed"),
        (["run", "--whole-blocks", "--", "true"], "--whole-blocks needs --max-insts, which says how many instructions are timed"),
        (["run", "--whole-blocks", "--max-insts", "9", "--", "true"], "--whole-blocks needs --expect-insts, which says how many"),
        (["run", "--max-cycles", "0", "--", "true"], "--max-cycles takes a number, 1 or more, not 0"),
        (["run", "--kernels", "5:3", "--", "true"], "--kernels takes A:B, A:, :B or A, not 5:3"),
        (["run"], "what should be run?"),
        (["run", "--size", "huge", "hotspot"], "--size takes tiny, small, medium or large, not huge"),
        (["run", "hotspot", "--bits", "16"], "--bits takes 32 or 64, not 16"),
        (["run", "hotspot", "extra"], "arguments of a workload's program come after --, not extra"),
        (["run", "--size", "tiny", "--", "true"], "only workloads take --size"),
        (["run", "--input", "a", "hotspot"], "only programs take --input"),
        (["run", "--input", "a", SAXPY], "only programs take --input"),
        (["env", "--input", "a"], "only 'reprise run' takes --input"),
        (["list", "workload"], "there is no list of 'workload'; did you mean 'workloads'?"),
        (["list", "gpus", "more"], "unknown argument more"),
        (["list"], "what should be listed?"),
        (["env", "surplus"], "unknown argument surplus"),
        (["disasm"], "a PTX file is needed"),
        (["disasm", "--without", "nothing", SAXPY], "there is no pass called nothing"),
        (["disasm", "--regs", "3", SAXPY], "--regs takes 16 to 255, not 3"),
    ):
        rc, out, err = run(*words)
        expect(rc == 2 and not out, f"{words}: status {rc}, stdout {out!r}")
        expect_in("reprise: " + said, err)
        expect(re.fullmatch(r"reprise: .*\nsee 'reprise help( \w+)?'\n", err), f"{words}: more than a line and a hint: {err}")


def test_missing_files():
    rc, _, err = run("run", "--", "/nonexistent/program")
    expect(rc == 127 and "there is no program '/nonexistent/program'" in err, err)
    rc, _, err = run("run", "hotspto")
    expect(rc == 127 and "no program or workload 'hotspto'; did you mean the workload 'hotspot'?" in err, err)
    for command in ("run", "disasm"):
        rc, _, err = run(command, "/nonexistent/file.ptx")
        expect(rc == 1 and "/nonexistent/file.ptx: No such file" in err, err)
    rc, _, err = run("run", "--input", "/nonexistent/file", "--", "cat")
    expect(rc == 1 and err == "reprise: /nonexistent/file cannot be read: No such file or directory\n", err)
    rc, out, err = run("run", "--input", SAXPY, "--", "cat")
    expect(rc == 0 and out == pathlib.Path(SAXPY).read_text(), f"the program reads the file: {out}{err}")
    rc, _, err = run("run", "--json", "/nonexistent/report.json", SAXPY, *SAXPY_ARGS)
    expect(rc == 1 and "/nonexistent/report.json cannot be written: No such file" in err, err)


def test_machines_that_are_not_there():
    """Every command that takes a machine says what is wrong with it, runs nothing, and ends with status 2."""
    program, here = str(HERE.parent / "programs" / "prebuilt" / "sgemm"), "the option"
    commands = [["env", here], ["run", here, SAXPY, *SAXPY_ARGS], ["run", here, "--", program],
                ["compare", here, "--mech", "base", "--", program]]
    if HAS_WORKLOADS:
        commands += [["run", here, "nw"], ["run", here, "nw", "hotspot"], ["compare", "nw", "--mech", "base", here],
                     ["repro", "wir", "mix", "--workloads", "nw", here, "--out", os.path.join(TMP, "nowhere")]]
    wrong = (("--gpu", "gtx48", "no GPU is called 'gtx48'; did you mean 'gtx480'?"), ("--set", "sm.wraps=3", "did you mean 'sm.warps'?"),
             ("--mech", "wri", "there is no mechanism 'wri'; did you mean 'wir'?"), ("--mech", "wir+wir-r", "cannot be stacked"),
             ("--probe", "repaet", "there is no probe 'repaet'; known are oldest, repeat"))
    for command in commands:
        for option, value, said in wrong:
            if option == "--probe" and command[0] == "compare":
                option, value = "--mech", "base:" + value
            if option in ("--mech", "--probe") and command[0] == "repro":
                continue  # its models are the paper's
            at = command.index(here)
            rc, out, err = run(*command[:at], option, value, *command[at + 1:])
            expect(rc == 2 and not out and said in err, f"{command}, {option} {value}: status {rc}, {out}{err}")
            expect("usage:" not in err and "[1/" not in err, f"{command}, {option} {value}: {err}")
    expect(not os.path.exists(os.path.join(TMP, "nowhere")), "a folder for runs that were none")


def test_static_runtime_is_redirected():
    rc, out, err = run("run", "--functional", "--", STATIC_RUNTIME)
    expect(rc == 0 and out == "1 devices, errors 0, a launch of nothing 1\n", f"status {rc}: {out}{err}")
    script = write("script.sh", f"#!/bin/sh\n{STATIC_RUNTIME} && echo done\n")
    os.chmod(script, 0o755)
    rc, out, err = run("run", "--functional", "--", script)
    expect(rc == 0 and out == "1 devices, errors 0, a launch of nothing 1\ndone\n", f"status {rc}: {out}{err}")
    alone = subprocess.run([STATIC_RUNTIME], capture_output=True, text=True).stdout
    expect(alone == "-1 devices, errors 35, a launch of nothing 0\n", alone)


def test_static_runtime_without_names_is_refused():
    path = os.path.join(TMP, "stripped")
    subprocess.run(["strip", "-o", path, STATIC_RUNTIME], check=True)
    rc, _, err = run("run", "--", path)
    expect(rc == 1, f"status {rc}")
    expect_in("linked in statically", err)
    expect_in("nvcc -cudart shared", err)


def test_kernel_of_a_ptx_file():
    rc, out, err = run("run", SAXPY, "--entry", "saxpy", "--block", "4", *SAXPY_ARGS)
    expect(rc == 0 and not err, err)
    expect_in("00000000 00000003 00000006 00000009", out)  # denormals 0 to 3: 2x + y
    rc, _, err = run("run", SAXPY, "--entry", "saxp", *SAXPY_ARGS)
    expect(rc == 1 and "there is no such kernel" in err and "saxpy" in err, err)
    rc, _, err = run("run", SAXPY, *SAXPY_ARGS[:-2])
    expect(rc == 2 and "has more parameters than the 3 --arg given" in err, err)
    rc, _, err = run("run", SAXPY, *SAXPY_ARGS[:-1], "u32=4")
    expect(rc == 2 and "--arg u32=4 is not TYPE:VALUE" in err, err)
    rc, _, err = run("run", SAXPY, "--block", "4,4,4,4")
    expect(rc == 2 and "a size is X, X,Y or X,Y,Z, not 4,4,4,4" in err, err)


def test_digests_tell_memory_images_apart():
    words = [SAXPY, "--block", "4", *SAXPY_ARGS]
    same = [report("--digest", *words), report("--digest", *words, timed=True)]
    digests = {r["totals"]["digest"] for r in same} | {report("--digest", *words[:-1], "u32:3")["totals"]["digest"]}
    expect(same[0]["kernels"][0]["digest"] == same[1]["kernels"][0]["digest"], "timed and functional runs leave other memory")
    expect(len(digests) == 2, f"one result fewer must change the digest: {digests}")
    expect("digest" not in report(*words)["totals"], "a digest nobody asked for")


def test_faults_are_reported():
    """A GPU maps 2 MB at a time: beside a small buffer an access passes, farther away it does not."""
    rc, out, err = run("run", "--functional", SAXPY, "--block", "32", *SAXPY_ARGS[:-1], "u32:32000", "--grid", "1000")
    expect(rc == 0, f"status {rc}: {err}")
    rc, out, err = run("run", "--functional", SAXPY, "--block", "1024", *SAXPY_ARGS[:-1], "u32:1024000", "--grid", "1000")
    expect(rc == 1, f"status {rc}: {out}")
    for part in ("illegal address", "saxpy", "block (", "thread (", "saxpy.ptx:"):
        expect_in(part, err)


def test_endless_kernels_end():
    path = write("endless.ptx", ENDLESS)
    rc, _, err = run("run", "--functional", "--watchdog", "1000", path)
    expect(rc == 1, f"status {rc}")
    expect_in("launch timed out in kernel endless", err)
    expect_in("limit of executed instructions", err)


def test_kernels_that_wait_for_nobody_are_mentioned():
    """A kernel polls what nobody will write: that is said, in either mode, but not of one that is answered."""
    path = str(HERE.parent / "timing" / "waits.ptx")
    modes = (["--functional"], ["--gpu", "gtx480"])
    started = [subprocess.Popen([REPRISE, "run", *mode, path, "--entry", "alone", "--arg", "buf:4"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
               for mode in modes]
    for mode in modes:
        rc, _, err = run("run", *mode, path, "--entry", "flag", "--grid", "2", "--block", "32", "--arg", "buf:4", "--arg", "u32:1000")
        expect(rc == 0 and "nobody writes" not in err, f"{mode}: status {rc}: {err}")
    for mode, child in zip(modes, started):
        timer = threading.Timer(60, child.kill)  # else it would run for ever
        timer.start()
        said = child.stderr.readline()
        timer.cancel()
        child.kill()
        child.communicate()
        expect("kernel alone does nothing but read memory again and again, as if it waited for something that nobody writes" in said,
               f"{mode}: {said}")


def test_hangs_name_who_waits_for_whom():
    """In both modes; the same of a program, which gets CUDA's error."""
    path = str(HERE.parent / "timing" / "mixed.ptx")
    for mode in (["--functional"], ["--gpu", "gtx480"]):
        rc, _, err = run("run", *mode, path, "--entry", "stuck", "--block", "80", "--arg", "buf:4", "--arg", "u32:0", "--arg", "u32:0")
        expect(rc == 1, f"{mode}: status {rc}")
        for part in ("launch timed out in kernel stuck", "block (0,0,0), warp 2:",
                     "lanes 0xffffffff wait at barrier 1: 32 of 80 threads have arrived; not there: warps 1 to 2",
                     "lanes 0x0000ffff wait at barrier 2: 48 of 80 threads have arrived; not there: warp 0"):
            expect_in(part, err)
        expect(len(re.findall(r"\n      at \S*mixed\.ptx:\d+, machine code 0x[0-9a-f]{4}: BAR\.SYNC", err)) == 3, err)
    path = write("alone.ptx", ALONE)
    for mode in (["--functional"], ["--gpu", "gtx480"]):
        rc, _, err = run("run", *mode, path, "--block", "64")
        expect(rc == 1, f"{mode}: status {rc}")
        expect_in("lanes 0x0000ffff wait at barrier 1: 32 of 64 threads have arrived; not there: warp 0 (lanes 0xffff0000)", err)
        expect_in("lanes 0xffff0000 wait at barrier 2: 32 of 64 threads have arrived; not there: warp 0 (lanes 0x0000ffff)", err)
    if HAS_WORKLOADS:
        rc, _, err = run("run", "hotspot", "--size", "tiny", "--gpu", "gtx480", "--watchdog", "20000")
        expect(rc == 1 and "CUDA_ERROR_LAUNCH_TIMEOUT (702)" in err, err)
        expect(re.search(r"SM 0, block \(0,0,0\), warp \d+: waits for a result: [RP]\d+, from PTX:\d+, source \S+kernel.cu:\d+, machine code", err), err)


def test_bad_ptx_has_a_caret():
    path = write("bad.ptx", ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tmvo.u32 %r1, 1;\n\tret;\n}\n")
    for command in ("disasm", "run"):
        rc, _, err = run(command, path)
        expect(rc == 1, f"{command}: status {rc}")
        expect_in("bad.ptx:6:2: error: unknown instruction 'mvo'", err)
        lines = err.splitlines()
        caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
        expect(lines[caret - 1].index("mvo") == lines[caret].index("^"), f"the caret is elsewhere:\n{err}")


def test_disassembly():
    rc, out, err = run("disasm", SAXPY)
    expect(rc == 0 and not err, err)
    expect_in("FFMA", out)
    expect_in("EXIT", out)
    rc, passes, _ = run("disasm", "--passes", SAXPY)
    expect(rc == 0 and len(passes) > len(out) and passes.endswith(out), "--passes prints more, then the same")
    assert run("disasm", "--mech", "wir", "--gpu", "wir", SAXPY) == (0, out, "")  # it has no passes
    rc, _, err = run("disasm", "--mech", "wirr", SAXPY)
    assert rc == 2 and "did you mean 'wir'" in err, err
    rc, _, err = run("disasm", "--mech", "wir", "--set", "wir.nothing=1", SAXPY)
    assert rc == 2 and "wir.nothing" in err, err
    rc, _, err = run("disasm", SAXPY, "nothere")
    expect(rc == 1 and "has no such kernel" in err, err)


def test_environment():
    rc, out, _ = run("env", "--gpu", "gtx480", "--max-insts", "7", "--set", "latency.alu=8", "--json", "it's.json")
    expect(rc == 0, f"status {rc}")
    shown = subprocess.run(["sh", "-c", 'eval "$1"; echo "$REPRISE_GPU $REPRISE_MAX_INSTS $REPRISE_SET $REPRISE_JSON"', "sh", out],
                           capture_output=True, text=True, check=True).stdout
    expect(shown == f"gtx480 7 latency.alu=8 {os.getcwd()}/it's.json\n", shown)
    expect_in("export LD_LIBRARY_PATH='", out)


def test_reports():
    words = ["--gpu", "gtx480", "--set", "device.sms=3", SAXPY, "--block", "64", "--grid", "2", "--arg", "f32:2", "--arg", "iota:100",
             "--arg", "iota:100", "--arg", "u32:100"]
    for timed in (False, True):
        check_report(report(*words, timed=timed), report(*words, timed=timed), timed)


def check_report(first, second, timed):
    for key in ("schema", "gpu", "mech", "settings", "kernels", "totals", "host"):
        expect(key in first, f"the report has no {key}")
    kernel = first["kernels"][0]
    expect((kernel["name"], kernel["grid"], kernel["block"]) == ("saxpy", [2, 1, 1], [64, 1, 1]), str(kernel))
    expect(first["settings"]["device.sms"] == 3, "settings show --set")
    expect(kernel["counters"]["insts.fp32"] == 4, "each of four warps runs one FFMA")  # 100 of 128 threads
    # 28 threads of the last warp have exited after the comparison; what is left is not a whole warp any more.
    rest = kernel["warp_insts"] // 4 - 6
    expect(kernel["counters"]["insts.divergent"] == rest, f'{kernel["counters"]["insts.divergent"]} divergent, not {rest}')
    expect(not timed or kernel["cycles"] > 0, "a timed run has cycles")
    check_energy(first)
    for data in (first, second):
        expect(data.pop("host")["wall_s"] > 0, "host has wall_s")
    expect(first == second, "two runs give different reports")


def check_energy(data):
    """Parts sum to the whole to the last bit, kernels to the run but for rounding, in both accounts; what was not timed has none."""
    for account in ("energy", "gpuwattch"):
        for part in [*data["kernels"], data["totals"]]:
            expect((account in part) == (part["timed"] != "none"), "what is timed has energy, and nothing else")
            parts = dict(part.get(account, {"total": 0}))
            total = parts.pop("total")
            expect(sum(parts.values()) == total and (not parts or total > 0), f"{parts} are {total} together")
        for name, joules in data["totals"].get(account, {}).items():
            together = sum(k[account][name] for k in data["kernels"] if account in k)
            expect(abs(together - joules) <= 1e-12 * joules, f"{name}: kernels have {together}, the run {joules}")


def test_summary():
    """Of a kernel always, of programs when asked; a table that fits the terminal, and nothing without timing."""
    words = [SAXPY, "--block", "32", *SAXPY_ARGS]
    _, out, _ = run("run", "--gpu", "gtx480", *words)
    expect_in(" cycles, ", out)
    lines = out[out.index(" cycles, "):].splitlines()
    expect(len(lines) == 20 and all(len(line) < COLUMNS for line in lines), out)
    expect(" power 4" in lines[0] and "static" in lines[8], out)  # little more than what leaks
    expect("GPUWattch" in lines[10] and "constant" in lines[-2], out)
    _, out, _ = run("run", "--functional", *words)
    expect("energy" not in out, out)
    if not HAS_WORKLOADS:
        return
    for options, shown in ((["--summary"], True), ([], False), (["--summary", "--functional"], False)):
        rc, out, err = run("run", "--gpu", "gtx480", *options, "hotspot", "--size", "tiny")
        expect(rc == 0 and "energy" not in out and ("register_file" in err) == shown, f"{options}:\n{out}{err}")
        expect("--summary" not in options or ("timed: all of 2 launches, " if shown else "nothing was timed: 2 launches, ") in err, err)
    _, _, err = run("run", "--gpu", "gtx480", "--summary", "--max-cycles", "500", "hotspot", "--size", "tiny")
    expect(re.search(r"timed: \d+ of \d+ warp instructions \(\d+\.\d%\) in 2 launches; the rest ran functionally\n500 cycles", err), err)


def test_long_launches_show_how_far_they_are():
    """At a terminal, in one line that is gone in the end. How long is long depends on the machine."""
    path = write("long.ptx", LONG)
    for mode, rate, rounds in ((["--gpu", "gtx480"], r"\d+ thousand cycles", 12000), (["--functional"], r"\d+\.\d M warp instructions", 250000)):
        words = ["run", *mode, path, "--grid", "150", "--block", "256", "--arg"]
        lines = []
        while len(lines) < 2 and rounds < 1 << 26:
            _, said = at_terminal(*words, f"u32:{rounds}")
            rounds *= 2
            lines = re.findall(r"\r\x1b\[K(\[=* *\] (\d+)% of this launch  0:\d\d(?:, about \d+:\d\d left)?  launch 1: (\d+) of 150 blocks, " + rate + r" a second, l[^\r]*)", said)
        expect(len(lines) > 1 and said.endswith("\r\x1b[K") and "\n" not in said, said)
        expect(all(len(line) < 150 for line, _, _ in lines) and " left" in lines[-1][0], said)
        expect(all(int(share) == min(99, round(int(n) / 1.5)) for _, share, n in lines), said)
        expect(int(lines[-1][2]) > 0 and not run(*words, "u32:800")[2], "short ones show nothing")


def test_threads_change_nothing():
    """Of runs by several threads; nn's SMs always have accesses that wait for others, hotspot's next to none."""
    if not HAS_WORKLOADS:
        return
    for name in ("nn", "hotspot"):
        reports = []
        for threads in ("1", "2", "7"):
            path = os.path.join(TMP, f"threads.{threads}.json")
            rc, _, err = run("run", "--gpu", "h200", "-j", threads, "--digest", "--per-sm", "--json", path, name, "--size", "small")
            expect(rc == 0, f"{name} with {threads}: {rc} {err}")
            with open(path, encoding="utf-8") as f:
                reports.append({key: value for key, value in json.load(f).items() if key != "host"})
        expect(reports[0] == reports[1] == reports[2], f"{name}: threads differ")


def test_what_is_ignored_is_said_once():
    for words in ([SAXPY, "--block", "4", *SAXPY_ARGS], ["hotspot", "--size", "tiny"] if HAS_WORKLOADS else [SAXPY, *SAXPY_ARGS]):
        for options, said in ((["--mech", "wir"], "--mech wir"), (["--probe", "repeat"], "--probe repeat"),
                              (["--mech", "wir", "--probe", "repeat"], "--mech wir, --probe repeat"), (["--mech", "base"], None)):
            rc, _, err = run("run", "--functional", *options, *words)
            expect(rc == 0 and err == (f"reprise: --functional times nothing, and ignores {said}\n" if said else ""), f"{options}: {err}")


def test_sampling():
    """Programs, workloads and PTX files alike; results are the same whatever is timed."""
    words = ["--gpu", "gtx480", SAXPY, "--block", "64", "--arg", "f32:2", "--arg", "iota:64", "--arg", "iota:64", "--arg", "u32:64"]
    rc, whole, _ = run("run", *words)
    rc2, part, _ = run("run", "--max-cycles", "50", *words)
    same = part.index("\n", part.index(" warp instructions,"))
    expect(rc == rc2 == 0 and part[:same] == whole[:same], f"results differ:\n{whole}{part}")
    expect("\n50 cycles until timing ended\n" in part and "until" not in whole and " cycles, " in whole, part)
    if not HAS_WORKLOADS:
        return
    words = ["--gpu", "gtx480", "bfs", "--size", "tiny", "--check-result"]
    whole = report(*words, timed=True)
    kernels = whole["kernels"]
    expect(len(kernels) > 4 and all(k["timed"] == "all" for k in kernels), "bfs has several launches, all timed")
    cut = kernels[0]["cycles"] + kernels[1]["cycles"] // 2
    for option, value, timed in (("--kernels", "1:2", [1, 2]), ("--kernels", "2", [2]), ("--kernels", "3:", range(3, len(kernels))),
                                 ("--max-cycles", cut, [0, 1]), ("--max-insts", kernels[0]["warp_insts"] + 1, [0, 1])):
        whole_run = ["--expect-insts", 1] if option == "--max-insts" else []  # so that they are the first, not spread over all
        data = report(option, value, *whole_run, *words, timed=True)
        check_sampled(data, whole, list(timed), option)
        if option == "--max-cycles":
            expect(data["totals"]["cycles"] == cut, f'{data["totals"]["cycles"]} cycles, not {cut}')
            expect(data["kernels"][0] == kernels[0], "what comes before the cut is as in a whole run")
    data = report(*words)
    expect(all(part["timed"] == "none" and "cycles" not in part for part in [*data["kernels"], data["totals"]]), "functional")


def check_sampled(data, whole, timed, option):
    kernels, totals = data["kernels"], data["totals"]
    check_energy(data)
    expect([i for i, k in enumerate(kernels) if k["timed"] != "none"] == timed, f"{option}: {[k['timed'] for k in kernels]}")
    expect(kernels[timed[-1]]["timed"] == ("all" if option == "--kernels" else "part"), f"{option}: the last one timed")
    for kernel, full in zip(kernels, whole["kernels"], strict=True):
        expect(kernel["warp_insts"] == full["warp_insts"], f"{option}: instructions do not depend on timing")
        expect(("slot.issued" in kernel["counters"]) == (kernel["timed"] != "none"), "machine counters where something was timed")
    expect(totals["timed"] == "part", str(totals["timed"]))
    for key in ("cycles", "timed_warp_insts"):
        expect(totals[key] == sum(k.get(key, 0) for k in kernels), f"{option}: {key} are of what was timed")
    expect(totals["ipc"] == totals["timed_warp_insts"] / totals["cycles"], f"{option}: ipc")


def test_several_workloads():
    """In any number of processes: the same output in the same order, and the same reports."""
    if not HAS_WORKLOADS:
        return
    names = ["lbm", "hotspot", "bfs", "nw"]  # the first one takes longest
    seen = []
    for jobs in ("1", "3", "3"):
        path = os.path.join(TMP, f"several{len(seen)}.json")
        rc, out, err = run("run", "-j", jobs, "--gpu", "gtx480", "--per-sm", "--json", path, *names, "--size", "tiny", "--check-result")
        expect(rc == 0 and not err, err)
        expect([line.split()[0] for line in out.splitlines()] == names, f"not in order:\n{out}")
        files = [pathlib.Path(path.replace(".json", f".{name}.json")).read_text() for name in names]
        seen.append((out, [re.sub(r'"host": {[^}]*}', "", text) for text in files]))
        expect(all('"host"' in text for text in files), "reports have a host part")
    expect(seen[0] == seen[1] == seen[2], "output or reports depend on -j")
    rc, out, err = run("run", "--functional", "-j", "2", "hotspot", "bfs", "--size", "tiny", "--check-result", "--watchdog", "20000")
    expect(rc == 1 and "launch timed out in kernel hotspot" in err and out.startswith("bfs tiny: OK"), out + err)
    for words, said in ((["hotspot", "bf"], "there is no workload of that name; did you mean bfs"),
                        (["hotspot", "bfs", "--", "x"], "arguments after -- are for one workload"),
                        (["-j", "0", "hotspot"], "-j takes a number from 1 to 9999, not 0")):
        rc, out, err = run("run", *words)
        expect(rc == 2 and not out and said in err, err)


def test_divergence_is_counted():
    data = report(write("loop.ptx", LOOP), "--block", "32", "--arg", "buf:256")["totals"]
    once = report(write("loop.ptx", LOOP), "--block", "1", "--arg", "buf:256")["totals"]
    expect(once["counters"]["insts.divergent"] == once["warp_insts"], "a warp of one lane never has 32")
    # Lanes 0 and 1 leave after one turn, so that 30 of 31 turns of six instructions lack some.
    expect(data["counters"]["insts.divergent"] == 30 * 6, f'{data["counters"]["insts.divergent"]} divergent instructions')


def test_counters_sum_and_move():
    path = write("rare.ptx", RARE)
    moved = {}
    reports = [report(path, "--block", "32", "--arg", "buf:256")]
    if HAS_WORKLOADS:
        reports += [report(name, "--size", "tiny") for name in
                    ("hotspot", "bfs", "dct8x8", "convolutionTexture", "imghisto", "BlackScholes", "LIB", "lavaMD", "mri-q", "tpacf")]
    for data in reports:
        totals = data["totals"]
        mix = {n: v for n, v in totals["counters"].items() if n.startswith("insts.") and n != "insts.divergent"}
        expect(sum(mix.values()) == totals["warp_insts"], f"the mix does not sum to the instructions: {totals}")
        for kernel in data["kernels"]:
            for name, value in kernel["counters"].items():
                if name.startswith("insts."):
                    moved[name] = moved.get(name, 0) + value
    for name in ("insts.load.generic", "insts.store.generic", "insts.load.local", "insts.store.local", "insts.fp16", "insts.warp"):
        expect(moved[name] > 0, f"{name} was not counted")
    still = [n for n, v in moved.items() if v == 0 and n != "insts.fp64"]
    expect(not HAS_WORKLOADS or not still, f"counters that nothing moves: {still}")


def read_results(path):
    """The results in a file: name, type and values of each."""
    data, at = pathlib.Path(path).read_bytes(), len(b"reprise results 1\n")
    expect(data.startswith(b"reprise results 1\n"), data[:40])
    results = []
    while at < len(data):
        end = data.index(b"\n", at)
        kind, count, name = data[at:end].decode().split(" ", 2)
        values = array.array({"f32": "f", "i32": "i", "u32": "I", "u8": "B", "f64": "d"}[kind])
        size = values.itemsize * int(count)
        values.frombytes(data[end + 1:end + 1 + size])
        at = end + 1 + size
        results.append((name, kind, list(values)))
    return results


def test_results_of_kernels_and_programs():
    path = os.path.join(TMP, "kernel.results")
    words = [SAXPY, "--block", "4", "--arg", "f32:2", "--arg", "iota:4", "--arg", "iota:8", "--arg", "u32:4"]
    rc, _, err = run("run", "--results", path, "--result", "saxpy:2:u32", "--result", "saxpy:1:i32:3", *words)
    expect(rc == 0 and not err, err)
    ends = [("saxpy:2", "u32", [0, 3, 6, 9, 4, 5, 6, 7]), ("saxpy:1", "i32", [0, 1, 2])]
    expect(read_results(path) == ends + [(f"@0 {name}", kind, values) for name, kind, values in ends], read_results(path))
    for spec, said in (("saxpy:0:f32", "no such parameter that points to memory"), ("saxpy:9:f32", "no such parameter"),
                       ("saxpy:2:f64:5", "not that large"), ("saxp:2:f32", "no kernel of that name was launched")):
        rc, _, err = run("run", "--results", path, "--result", spec, *words)
        expect(rc == 0 and f"reprise: there is no result {spec}: " in err and said in err and not read_results(path), err)
    rc, _, err = run("run", "--results", "/nonexistent/results", "--result", "saxpy:2:f32", *words)
    expect(rc == 1 and "/nonexistent/results cannot be written: No such file" in err, err)
    for wrong, said in ((["--result", "saxpy:2:f32"], "both are needed"), (["--results", path], "both are needed"),
                        (["--result", "saxpy:2"], "--result takes KERNEL:PARAMETER:TYPE[:COUNT], not saxpy:2")):
        rc, _, err = run("run", *wrong, *words)
        expect(rc == 2 and said in err, err)
    program, kernel = str(HERE.parent / "programs" / "prebuilt" / "sgemm"), "_Z4gemmIfEvPKT_S2_PS0_iS0_S0_:2"
    rc, _, err = run("run", "--functional", "--results", path, "--result", kernel + ":f32", "--", program)
    results = read_results(path)
    launches = [r for r in results if r[0].startswith("@")]
    expect(rc == 0 and not err and results[0][:2] == (kernel, "f32") and len(results[0][2]) == 128 * 128, err)
    numbers = [int(r[0][1:-len(" " + kernel)]) for r in launches]
    expect(results[1:] == launches and numbers == sorted(set(numbers)) and launches[-1][2] == results[0][2], "each launch")
    expect(len(set(results[0][2])) > 1000, "the last launch's result")


def test_results_of_workloads():
    if not HAS_WORKLOADS:
        return
    path = os.path.join(TMP, "workload.results")
    for bits in "32", "64":
        rc, out, err = run("run", "nw", "--functional", "--size", "tiny", "--bits", bits, "--results", path)
        expect(rc == 0 and not err and "NOT CHECKED" in out, out + err)
        expect([(n, k, len(v)) for n, k, v in read_results(path)] == [("score", "i32", 25921)], "the scores")
    right = read_results(path)[0][2]
    rc, _, err = run("run", "--functional", "--results", path, "nw", "SobelFilter", "--size", "tiny")
    expect(rc == 0 and not err and read_results(os.path.join(TMP, "workload.nw.results"))[0][2] == right, "a file for each")
    rc, _, err = run("run", "--results", path, "--result", "k:0:f32", "nw", "--size", "tiny")
    expect(rc == 2 and "workloads declare their results" in err, err)
    # With a kernel that computes something else: wrong, unless that is accepted, and the results tell.
    ptx = pathlib.Path(REPRISE).parent.parent / "workloads" / "nw.64.ptx"
    broken = os.path.join(TMP, "broken.ptx")
    pathlib.Path(broken).write_text(ptx.read_text().replace("max.s32", "min.s32"))
    words = ["run", "--functional", "nw", "--size", "tiny", "--check-result", "--results", path, "--", "--ptx", broken]
    rc, out, err = run(*words)
    expect(rc == 1 and "FAILED: score[" in err and not out, out + err)
    rc, out, err = run(*words, "--accept")
    wrong = sum(a != b for a, b in zip(read_results(path)[0][2], right, strict=True))
    expect(rc == 0 and out == f"nw tiny: ACCEPTED (25921 values, {wrong} of them wrong)\n" and wrong > 1000, out + err)


def test_lists():
    for words, part in ((["gpus"], "gtx480"), (["params"], "sm.warps"), (["counters"], "slot.issued"), (["workloads"], "hotspot"),
                        (["papers"], "wir "), (["mechs"], "darsie-ignore-store  ")):
        rc, out, err = run("list", *words)
        expect(rc == 0 and not err, err)
        expect_in(part, out)
        wide = [line for line in out.splitlines() if len(line) > COLUMNS]
        expect(not wide, f"list {words}: wider than {COLUMNS} columns: {wide[:3]}")


def test_probes():
    rc, out, err = run("list", "probes")
    expect(rc == 0 and not err and out.startswith("oldest ") and "\nrepeat " in out, out + err)
    words = ["--gpu", "gtx480", SAXPY, "--grid", "8", "--block", "64", "--arg", "f32:2", "--arg", "iota:512", "--arg", "iota:512",
             "--arg", "u32:500"]
    rc, _, err = run("run", "--functional", "--probe", "repeat", *words)
    expect(rc == 0 and "and ignores --probe repeat\n" in err, err)
    reports = []
    for options in ([], ["--probe", "repeat"], ["--probe", "repeat", "--trace", os.path.join(TMP, "probed.kanata")]):
        path = os.path.join(TMP, "probed.json")
        rc, _, err = run("run", "--json", path, "--per-sm", *options, *words)
        expect(rc == 0 and not err, err)
        with open(path) as f:
            reports.append(json.load(f))
        reports[-1].pop("host")
    plain, probed, traced = reports
    expect(probed == traced, "a trace changes what the probe sees")
    for a, b in zip([plain["totals"], *plain["kernels"]], [probed["totals"], *probed["kernels"]]):
        expect(b["counters"]["repeat.insts"] == sum(b["sms"].pop("repeat.insts")) == b["warp_insts"], "not all instructions were seen")
        for part in (b["counters"], b["derived"], b["sms"]):
            for name in [n for n in part if n.startswith("repeat.")]:
                del part[name]
    expect(plain == probed, "the probe changes what others count")


def test_mix():
    if not HAS_WORKLOADS:
        return
    rc, out, err = run("list", "workloads", "--mix", "--size", "tiny")
    expect(rc == 0 and not err, err)
    lines = out.split("\n\n")[0].splitlines()
    expect(max(map(len, out.splitlines())) <= COLUMNS, f"wider than {COLUMNS} columns")
    rows = [line.split() for line in run("list", "workloads")[1].split("\n\n")[0].splitlines()[1:]]
    expect([line.split()[0] for line in lines[2:]] == [row[0] for row in rows if row[2] != "CPU"], "a row for every workload of a GPU")
    for line in lines[2:]:
        expect(abs(sum(map(int, line.split()[-8:])) - 100) <= 4, f"the mix does not sum to 100: {line}")  # eight roundings
    backprop = next(line for line in lines if line.startswith("backprop"))
    expect(backprop.split()[1:3] == ["16x16", "16x16"] and " 15.0 " in backprop, f"the papers' figures: {backprop}")


def test_workloads():
    if not HAS_WORKLOADS:
        return
    for bits, mode in (("64", ["--functional"]), ("32", ["--functional"]), ("32", ["--gpu", "gtx480"])):
        rc, out, err = run("run", *mode, "hotspot", "--size", "tiny", "--bits", bits, "--check-result")
        expect(rc == 0 and re.fullmatch(r"hotspot tiny: OK \(.*\)\n", out), out + err)
    rc, out, _ = run("run", "--functional", "--gpu", "gtx480", "--size", "tiny", "pathfinder1024")
    expect(rc == 0 and "NOT CHECKED" in out, out)
    rc, _, err = run("run", "nw", "--size", "tiny", "--check-result", "--", "--nonsense", "1")
    expect(rc == 2 and "--nonsense" in err, err)
    rc, _, err = run("run", "hotspot", "--size", "tiny", "--check-result", "--watchdog", "1000", "--functional")
    expect(rc == 1 and "launch timed out" in err, err)


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "static-runtime"))

#!/usr/bin/env python3
"""The tools that find mistakes: programs with one mistake each must be reported as expected, by the tool that is for it; the same
programs without the mistake, the test programs and the workloads must stay silent under every tool.

The programs are tests/sanitize/planted.cu and textures.c. Python because it is processes and text.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys

import harness
from harness import expect

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLANTED = ROOT / "tests/sanitize/planted.cu"
TOOLS = ["--memcheck", "--racecheck", "--initcheck", "--synccheck"]
REPRISE = MKFATBIN = TMP = None  # set by main
CLANG = "clang-19"
sys.path.insert(0, str(ROOT / "tests/programs"))
import run_tests as programs  # noqa: E402
import foreign  # noqa: E402  (from a folder that run_tests made known)

# What a mistake is reported as: the tool, then expressions that must all be found in its report; @mark stands for a line.
EXPECTED = {
    "over": ("--memcheck", r"Invalid __global__ write of size 4 bytes\n.* at over\+0x[0-9a-f]+ in .*@over\n.*by thread \(0,0,0\) in block \(4,0,0\)\n"
             r".*Address 0x[0-9a-f]+ is out of bounds\n.*and is 1 bytes after the nearest allocation at 0x[0-9a-f]+ of size 1024 bytes",
             r" 64 errors of this kind", r"Host Frame: .*planted", r"cudaErrorLaunchFailure \(error 719\).* to cudaDeviceSynchronize",
             r"ERROR SUMMARY: 65 errors"),
    "before": ("--memcheck", r"Invalid __global__ read of size 4 bytes\n.*@read_at", r"and is 64 bytes before the nearest allocation",
               r" 16 errors of this kind"),
    "between": ("--memcheck", r"and is 1 bytes after the nearest allocation at 0x[0-9a-f]+ of size 1024 bytes", r" 32 errors of this kind"),
    "far": ("--memcheck", r"is out of bounds"),
    "freed": ("--memcheck", r"and is inside an allocation at 0x[0-9a-f]+ of size 256 bytes that was freed"),
    "misaligned": ("--memcheck", r"Invalid __global__ write of size 4 bytes\n.*@misaligned", r"Address 0x[0-9a-f]+1 is misaligned"),
    "shared_over": ("--memcheck", r"Invalid __shared__ write of size 4 bytes\n.*@shared_over\n.*thread \(61,0,0\)",
                    r"Access to 0x100 is out of bounds\n.*1 bytes after the block's shared memory of size 256 bytes"),
    "local_over": ("--memcheck", r"Invalid __local__ write of size 4 bytes\n.*@local_over", r"thread's local memory of size 32 bytes"),
    "local_spilled": ("--memcheck", r"Invalid __local__ write of size 4 bytes\n.*@local_over", r"and is 1 bytes after"),
    "calls": ("--memcheck", r"at set\(int\*, int\)\+0x[0-9a-f]+ in .*@called\n.*by thread.*\n.*Device Frame: calls\+0x[0-9a-f]+ in .*@caller"),
    "heap_over": ("--memcheck", r"Invalid __global__ read of size 4 bytes\n.*@heap_over", r"and is 1 bytes after .* of size 64 bytes"),
    "heap_leak": ("--memcheck", r"Leaked 64 bytes at 0x[0-9a-f]+ on the device heap", r"LEAK SUMMARY: 64 bytes leaked in 1 allocations"),
    "heap_twice": ("--memcheck", r"Malloc/Free Error encountered : Device-side double free\n.*@heap_twice"),
    "heap_wrong": ("--memcheck", r"Malloc/Free Error encountered : Device-side invalid free\n.*@heap_wrong"),
    "heap_freed": ("--memcheck", r"@heap_freed", r"of size 64 bytes that was freed"),
    "leak": ("--memcheck", r"Leaked 400 bytes at 0x[0-9a-f]+\n.*at allocation time\n.*Host Frame", r"LEAK SUMMARY: 400 bytes leaked in 1 allocations",
             r"ERROR SUMMARY: 1 error\n"),
    "leak_reset": ("--memcheck", r"Leaked 400 bytes", r"LEAK SUMMARY: 2448 bytes leaked in 3 allocations"),
    "free_twice": ("--memcheck", r'Program hit cudaErrorInvalidValue \(error 1\) due to "invalid argument" on CUDA API call to cudaFree\.\n'
                   r".*inside an allocation of 400 bytes at 0x[0-9a-f]+ that was freed"),
    "free_inside": ("--memcheck", r"CUDA API call to cudaFree\.\n.*inside an allocation of 1024 bytes"),
    "copy_over": ("--memcheck", r"CUDA API call to cudaMemcpy\.\n.*1028 bytes are asked for, and address 0x[0-9a-f]+ is inside an allocation of 1024"),
    "reverse": ("--racecheck", r"Race reported between (Write|Read) access at reverse\+0x[0-9a-f]+ in .*(@reverse_write|@reverse_read)\n"
                r".*and (Read|Write) access at reverse\+0x[0-9a-f]+ in .*(@reverse_read|@reverse_write) \[128 hazards\]\n.*in __shared__ memory at 0x",
                r"RACECHECK SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)"),
    "twice": ("--racecheck", r"@twice_read", r"@twice_write", r"RACECHECK SUMMARY: 1 hazard"),
    "in_warp": ("--racecheck", r"Write access at .*@in_warp_write\n.*Read access at .*@in_warp_read \[32 hazards\]\n"),
    "in_step": ("--racecheck", r"@in_step \[\d+ hazards\]\n"),
    "halves": ("--racecheck", r"@halves_write\n.*@halves_read \[32 hazards\]\n"),
    "blocks_write": ("--racecheck", r"Write access at .*@blocks_write\n.*Write access at .*@blocks_write \[7 hazards\]\n",
                     r"in __global__ memory at 0x[0-9a-f]+: by thread \(0,0,0\) in block \(0,0,0\), then by thread \(0,0,0\) in block \(1,0,0\)"),
    "neighbours": ("--racecheck", r"Read access at .*@neighbours_read\n.*Write access at .*@neighbours_write \["),
    "same_place": ("--racecheck", r"Write access at .*@same_place\n.*Write access at .*@same_place \[31 hazards\]\n"),
    "histogram": ("--racecheck", r"Atomic access at histogram.*\n.*Read access at .*@histogram_read \["),
    "mixed": ("--racecheck", r"Write access at .*@mixed_write\n.*Atomic access at mixed"),
    "message": ("--racecheck", r"Write access at .*@message_write\n.*Read access at .*@message_read \["),
    "last_block": ("--racecheck", r"Write access at .*@last_write\n.*Read access at .*@last_read \["),
    "locked": ("--racecheck", r"@locked\n.*@locked \["),
    "named": ("--racecheck", r"@named_write\n.*@named_read \["),
    "grid_barrier": ("--racecheck", r"@grid_write\n.*@grid_write \["),
    "unset": ("--initcheck", r"Uninitialized __global__ memory read of size 4 bytes\n.*@copy\n.*by thread \(0,0,0\)", r"byte 0 of the allocation",
              r" 64 errors of this kind"),
    "unset_copied": ("--initcheck", r"by thread \(32,0,0\)", r" 32 errors of this kind"),
    "shared_unset": ("--initcheck", r"Uninitialized __shared__ memory read of size 4 bytes\n.*@shared_unset\n.*\n.*Address 0xfc", r"ERROR SUMMARY: 1 error\n"),
    "divergent": ("--synccheck", r"Barrier error detected. Divergent thread\(s\) in warp.\n.*@divergent\n.*by thread \(32,0,0\)", r"lanes 0xffffff00 do not"),
    "divergent_warps": ("--synccheck", r"Barrier error detected. Divergent thread\(s\) in block.\n", r"came to the barrier by another instruction"),
    "counted": ("--synccheck", r"Barrier error detected. Invalid arguments", r"Barrier 3 is for 32 threads here, and for 64 where others arrived"),
    "counted_most": ("--synccheck", r"Barrier 3 is for 96 threads, the block has 64", r"Threads wait for others that do not come"),
    "mask_self": ("--synccheck", r"Invalid arguments.\n.*@mask\n", r"mask 0x0000fffe does not name the thread itself, lane 0"),
}
TEXTURES = {
    "array_freed": ("--memcheck", r"Invalid texture read of size 4 bytes\n.*at sample", r"of size 512 bytes that was freed"),
    "no_texture": ("--memcheck", r"Invalid texture read\n", r"0x[0-9a-f]+ is no texture object"),
    "linear_freed": ("--memcheck", r"Invalid texture read of size 4 bytes", r"that was freed"),
    "surface_over": ("--memcheck", r"Invalid surface write of size 4 bytes", r"outside of the surface of 16 x 8 x 1 elements"),
    "surface_freed": ("--memcheck", r"Invalid surface write of size 4 bytes", r"that was freed"),
    "constant": ("--memcheck", r"Invalid __global__ write", r"is inside constant memory"),
    "driver": ("--memcheck", r"is inside memory of the driver"),
    "array_unset": ("--initcheck", r"Uninitialized __global__ memory read of size 4 bytes\n.*at sample", r" 16 errors of this kind"),
}
# What is right to report in programs whose purpose is something else: calls that fail and memory that stays, as they mean to; a
# breadth-first search that lets threads race for the same result, threads that store each what nobody reads.
MEANT = {
    "attrs": "--memcheck", "drv_library": "--memcheck", "drv_texref": "--memcheck", "drv_vector": "--memcheck",
    "dynshared": "--memcheck", "gridsync": "--memcheck", "hostmem": "--memcheck", "streams": "--memcheck",
    "cdp": "--memcheck", "cluster": "--memcheck", "graphcond": "--memcheck", "graphmem": "--memcheck", "l2window": "--memcheck", "mipmap": "--memcheck",
    "bfs": "--racecheck", "bigparam": "--racecheck", "instep": "--racecheck",
    "shuffles": "--synccheck", "warpsites": "--synccheck",
}
# Workloads that read what nobody has written, and do not use it: a plane that was not loaded, values beyond the tree.
MEANT_WORKLOADS = {"LPS": "--initcheck", "binomialOptions": "--initcheck"}


def run(*words):
    done = subprocess.run([REPRISE, "run", *[str(w) for w in words]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=300, check=False, env=foreign.environment())
    return done.returncode, done.stdout, done.stderr


@functools.cache
def planted():
    """The program of planted.cu, with line numbers and with names for the host's frames."""
    out = pathlib.Path(TMP) / "planted"
    ptx, fatbin, obj = (out.with_suffix(s) for s in (".ptx", ".fatbin", ".o"))
    programs.call([CLANG, *programs.CLANG_DEVICE, "-gline-tables-only", PLANTED, "-o", ptx])
    programs.call([MKFATBIN, "-o", fatbin, "--arch", "70", ptx])
    programs.call([CLANG, *programs.CLANG_CUDA, "--cuda-host-only", "-std=c++17", "-O2", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin,
                   "-c", PLANTED, "-o", obj])
    programs.call([CLANG, obj, programs.drop_in(REPRISE, "libcudart.so"), "-lstdc++", "-lm", "-rdynamic", "-o", out])
    return out


@functools.cache
def textures():
    out = pathlib.Path(TMP) / "textures"
    programs.call([CLANG, "-std=c17", "-O2", "-I", ROOT / "include", PLANTED.parent / "textures.c", programs.drop_in(REPRISE, "libcuda.so"),
                   "-o", out])
    return out


def lines():
    """Marks in the source and their lines."""
    found = {}
    for number, line in enumerate(PLANTED.read_text().splitlines(), 1):
        mark = re.search(r"// @(\w+)", line)
        if mark:
            found[mark.group(1)] = number
    return found


def names_of(program):
    """All it can do: planted.cu lists them."""
    return run("--functional", "--", program)[1].split()


def check_report(program, name, tool, patterns, marks):
    rc, _, err = run("--functional", tool, "--error-exitcode", 77, "--", program, name)
    expect(rc == 77, f"{name}: status {rc}\n{err}")
    for p in patterns:
        for mark, number in marks.items():
            p = re.sub(rf"@{mark}(?!\w)", rf"planted\\.cu:{number}", p)
        expect(re.search(p, err), f"{name}: no {p} in\n{err}")


def test_mistakes_are_reported():
    marks = lines()
    known = set(names_of(planted()))
    expect(known - {n for n in known if n.startswith("ok_")} == set(EXPECTED) | {"many"}, f"not the same programs: {known ^ set(EXPECTED)}")
    for name, (tool, *patterns) in EXPECTED.items():
        check_report(planted(), name, tool, patterns, marks)
    for name, (tool, *patterns) in TEXTURES.items():
        check_report(textures(), name, tool, patterns, {})


def check_silent(*words):
    rc, out, err = run(*words)
    expect(rc == 0 and "ERROR SUMMARY: 0 errors" in err, f"{words}: status {rc}\n{out}\n{err}")


def test_the_same_without_mistakes_is_silent():
    """All tools together, functionally and timed."""
    for mode in (["--functional"], ["--gpu", "gtx480"]):
        for name in (n for n in names_of(planted()) if n.startswith("ok_")):
            check_silent(*mode, *TOOLS, "--", planted(), name)
        for name in ("ok_sample", "ok_put"):
            check_silent(*mode, *TOOLS, "--", textures(), name)


def test_without_tools_hardware_decides():
    """Pages of 2 MB are mapped as a whole: what memcheck finds beside an allocation passes; far away it is a fault."""
    for name in ("over", "before", "between", "freed"):
        rc, out, err = run("--functional", "--", planted(), name)
        expect(rc == 0 and out == f"{name}: cudaSuccess\n" and not err, f"{name}: {out}{err}")
    rc, out, err = run("--functional", "--", planted(), "far")
    expect("far: cudaErrorIllegalAddress" in out and "illegal address in kernel read_at" in err, out + err)


def test_context_and_kernel():
    """A wrong access ends the context, as with compute-sanitizer, or the kernel's other accesses count."""
    rc, out, err = run("--functional", "--memcheck", "--", planted(), "over")
    expect(rc == 0 and out == "over: cudaErrorLaunchFailure\n", out)
    rc, out, err = run("--functional", "--memcheck", "--destroy-on-device-error", "kernel", "--", planted(), "over")
    expect(rc == 0 and out == "over: cudaSuccess\n" and "ERROR SUMMARY: 64 errors" in err, out + err)


def test_many_findings():
    """A finding comes once in a run, with later ones counted; and as many are printed as are wanted."""
    words = ["--functional", "--memcheck", "--destroy-on-device-error", "kernel"]
    _, _, err = run(*words, "--", planted(), "many")
    expect(err.count("Invalid __global__ write") == 1 and "ERROR SUMMARY: 640 errors" in err, err)
    _, _, err = run("--functional", "--memcheck", "--print-limit", 1, "--", planted(), "leak_reset")
    expect(err.count("Leaked ") == 1 and "1 findings have been printed" in err and "in 3 allocations" in err, err)
    _, _, err = run("--functional", "--memcheck", "--leak-check", "no", "--", planted(), "leak")
    expect("Leaked" not in err and "ERROR SUMMARY: 0 errors" in err, err)


def test_options():
    rc, _, err = run("--memcheck", "--mech", "wir", "--gpu", "wir", "--", planted(), "over")
    expect(rc == 2 and "memcheck and the other tools see instructions as they execute; mechanism 'wir' leaves some out" in err, err)
    _, _, err = run("--functional", "--memcheck", "--leak-check", "some", "--", planted(), "ok_over")
    expect("REPRISE_LEAK_CHECK=some is neither full nor no; ignored" in err, err)
    saxpy = ROOT / "tests/golden/saxpy.ptx"
    words = [saxpy, "--block", "8", "--arg", "f32:2", "--arg", "iota:4", "--arg", "iota:4", "--arg", "u32:8"]
    rc, _, err = run("--functional", "--memcheck", "--error-exitcode", 9, *words)
    expect(rc == 9 and "Invalid __global__ read of size 4 bytes" in err and "ERROR SUMMARY" in err, err)
    check_silent("--functional", *TOOLS, *words[:-1], "u32:4")


def test_lanes_in_step():
    """Before Volta the lanes of a warp ran together, and code for such targets may rely on it."""
    text = planted().with_suffix(".ptx").read_text()
    for target, errors in (("sm_70", 1), ("sm_60", 0)):
        path = pathlib.Path(TMP) / f"step_{target}.ptx"
        path.write_text(re.sub(r"\.target sm_70", f".target {target}", text))
        _, _, err = run("--functional", "--racecheck", path, "--entry", "in_step", "--block", "32", "--arg", "buf:256")
        expect((errors == 0) == ("ERROR SUMMARY: 0 errors" in err), f"{target}: {err}")


ASYNC = """.version 7.0
.target sm_80
.address_size 64
.visible .entry copies(.param .u64 p, .param .u32 n) {
    .shared .align 16 .b8 s[512];
    .reg .b32 %r<9>;
    .reg .b64 %d<4>;
    .reg .pred %q;
    ld.param.u64 %d1, [p];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d2, %d1, %d2;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r2, %r3, %r2;
    cp.async.ca.shared.global [%r2], [%d2], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+256], [%d2], 4;
    cp.async.commit_group;
    setp.eq.u32 %q, %r5, 0;
    @%q bra ONE;
    cp.async.wait_group 0;
ONE:
    cp.async.wait_group 1;
    bar.sync 0;
    ld.shared.u32 %r4, [%r2];
    ld.shared.u32 %r6, [%r2+256];
    add.u32 %r4, %r4, %r6;
    st.global.u32 [%d2+256], %r4;
    ret;
}
"""


def test_copies_must_be_awaited():
    path = pathlib.Path(TMP) / "async.ptx"
    path.write_text(ASYNC)
    words = ["--functional", "--racecheck", path, "--block", "64", "--arg", "buf:512", "--arg"]
    _, _, err = run(*words, "u32:0")
    expect("between Asynchronous copy at copies" in err and "ERROR SUMMARY: 1 error\n" in err, err)
    check_silent(*words, "u32:1")


def test_programs_are_silent():
    for name, words in programs.read_list(ROOT / "tests/programs/programs.list"):
        if words[0] not in ("nvcc", "driver") or name.startswith("err_") or name == "drv_vmm":  # they fault on purpose
            continue
        program = [ROOT / "tests/programs/prebuilt" / name] + ([ROOT / f"tests/programs/prebuilt/{name}.ptx"] if words[0] == "driver" else [])
        meant = MEANT.get(name)
        check_silent("--functional", *[t for t in TOOLS if t != meant], "--", *program)
        if meant:
            _, _, err = run("--functional", meant, "--", *program)
            expect("ERROR SUMMARY: 0 errors" not in err, f"{name} is silent with {meant}: no exception is needed")


def test_workloads_are_silent():
    built = pathlib.Path(REPRISE).parent.parent / "workloads"
    names = [p.name for p in sorted(built.iterdir()) if p.is_file() and os.access(p, os.X_OK)]
    expect(len(names) > 40, f"only {names}")
    for name in names:
        meant = MEANT_WORKLOADS.get(name)
        check_silent("--functional", *[t for t in TOOLS if t != meant], name, "--size", "tiny")
        if meant:
            _, _, err = run("--functional", meant, name, "--size", "tiny")
            expect("ERROR SUMMARY: 0 errors" not in err, f"{name} is silent with {meant}: no exception is needed")


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "mkfatbin"))

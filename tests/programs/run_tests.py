#!/usr/bin/env python3
"""Runs the CUDA programs on the simulated GPU and compares what they print with what a real GPU printed.

Programs built by nvcc come from prebuilt/; those for clang are built here first, without a CUDA toolkit. Stdout and the exit
status must equal expected/NAME.txt byte by byte. Python because it is short: the work is processes and string comparison.
"""

import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import pathlib
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import foreign  # noqa: E402  (from the folder above)

ROOT = HERE.parent.parent
TIMEOUT_S = 300
CLANG_CUDA = [
    "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-fdeclspec",
    "-Xclang", "-target-sdk-version=12.0",  # the launch protocol of CUDA 9.2 and later
]
CLANG_DEVICE = CLANG_CUDA + ["--cuda-device-only", "--cuda-gpu-arch=sm_70", "--cuda-feature=+ptx63", "-O3", "-S"]


class Failed(Exception):
    """A program that could not be built or did not do what it should."""


def read_list(path):
    """The rows of a list file: name and the words after it."""
    rows = []
    for line in path.read_text().splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            rows.append((words[0], words[1:]))
    return rows


def call(command, **options):
    """Runs a build command; its output is the reason if it fails."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(str(c) for c in command)}\n{done.stdout}")
    return done.stdout


def drop_in(reprise, name):
    """The drop-in library, found where `reprise env` points the loader."""
    for line in call([reprise, "env"]).splitlines():
        words = line.removeprefix("export ").partition("=")
        if words[0] in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
            for part in words[2].strip("'\"").replace(" ", ":").split(":"):
                path = pathlib.Path(part)
                found = sorted(f for f in path.glob(name + "*") if f.is_file()) if path.is_dir() else [path] if path.name.startswith(name) else []
                if found:
                    return found[-1]
    raise Failed(f"{name} is not where `{reprise} env` points")


def find_mkfatbin(options):
    for path in [options.mkfatbin, ROOT / "mkfatbin", ROOT / "build/mkfatbin", ROOT / "build/tools/mkfatbin"]:
        if path and pathlib.Path(path).exists():
            return path
    raise Failed("mkfatbin is not built; name it with --mkfatbin")


def build_clang(name, words, options):
    """Device code to PTX, PTX into a fat binary, and that into the host program."""
    out = options.build / name
    ptx, fatbin = out.with_suffix(".ptx"), out.with_suffix(".fatbin")
    call([options.clang, *CLANG_DEVICE, HERE / f"{name}.cu", "-o", ptx])
    call([find_mkfatbin(options), *words, "-o", fatbin, "--arch", "70", ptx])
    call([options.clang, *CLANG_CUDA, "--cuda-host-only", "-O2", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin,
          "-c", HERE / f"{name}.cu", "-o", out.with_suffix(".o")])
    call([options.clang, out.with_suffix(".o"), drop_in(options.reprise, "libcudart.so"), "-lstdc++", "-lm", "-o", out])
    return [out]


def build_cdriver(name, _words, options):
    out = options.build / name
    ptx = out.with_suffix(".ptx")
    call([options.clang, *CLANG_DEVICE, HERE / f"{name}.kernel.cu", "-o", ptx])
    call([options.clang, "-std=c17", "-O2", "-I", ROOT / "include", HERE / f"{name}.c", drop_in(options.reprise, "libcuda.so"),
          "-o", out])
    return [out, ptx]


def prebuilt(name, _words, _options):
    return [HERE / "prebuilt" / name]


def prebuilt_driver(name, _words, _options):
    return [HERE / "prebuilt" / name, HERE / "prebuilt" / f"{name}.ptx"]


KINDS = {"nvcc": prebuilt, "driver": prebuilt_driver, "clang": build_clang, "cdriver": build_cdriver}


def run_one(name, words, options):
    """Seconds taken; raises Failed with what went wrong."""
    start = time.monotonic()
    program = KINDS[words[0]](name, words[1:], options)
    command = [options.reprise, "run", *options.run.split(), "--", *program]
    try:
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, env=foreign.environment())
    except subprocess.TimeoutExpired as late:
        raise Failed(f"still running after {TIMEOUT_S} s") from late
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # a signal, as shells say it
    got = f"{done.stdout}exit {status}\n"
    expected = HERE / "expected" / f"{name}.txt"
    if not expected.exists():
        raise Failed(f"no recorded output; it printed\n{got}{done.stderr[-2000:]}")
    want = expected.read_text()
    if got != want:
        diff = difflib.unified_diff(want.splitlines(), got.splitlines(), "real GPU", "simulated", lineterm="", n=0)
        raise Failed("\n".join(list(diff)[:20]) + f"\n{done.stderr[-1500:]}".rstrip())
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs to run, as names or patterns (all by default)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--reprise", type=pathlib.Path, default=ROOT / "reprise", help="the reprise command")
    parser.add_argument("--mkfatbin", type=pathlib.Path, help="the tool that packs PTX into a fat binary")
    parser.add_argument("--clang", default="clang-19", help="the clang that builds programs here")
    parser.add_argument("--run", default="--functional", help="options of `reprise run`, in one word (default: --functional)")
    parser.add_argument("--without", action="append", default=[], help="a program not to run")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/programs", help="where they are built")
    options = parser.parse_args()
    options.reprise = options.reprise.resolve()
    options.build.mkdir(parents=True, exist_ok=True)

    rows = read_list(HERE / "programs.list")
    if options.names:
        rows = [r for r in rows if any(fnmatch.fnmatch(r[0], pattern) for pattern in options.names)]
    rows = [r for r in rows if r[0] not in options.without]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        jobs = {name: pool.submit(run_one, name, words, options) for name, words in rows}
        for name, job in jobs.items():
            try:
                print(f"ok    {name} ({job.result():.1f} s)", flush=True)
            except (Failed, OSError) as problem:
                failed += 1
                print(f"FAIL  {name}: {problem}", flush=True)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The simulated CPU against qemu-aarch64, bit for bit, and its printer against objdump.

Random instructions of every operation of the table, random sequences of them, and whole C programs run on both; registers,
flags, modes and memory, or output and exit status, must be the same. qemu is a program of its own here and nothing of it is
in Reprise. Without qemu or the cross compiler the test is skipped. Python because it is processes and bytes.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
STATE_BYTES = 800  # of one test, see gen.c
GCC = "aarch64-linux-gnu-gcc"
OBJDUMP = "aarch64-linux-gnu-objdump"
QEMU = "qemu-aarch64"
SKIPPED = 77
FLAGS = ["-O3"]
MORE_FLAGS = [["-O0"], ["-O2"], ["-Os"], ["-O3", "-ffast-math"], ["-O3", "-march=armv8-a+crc", "-fPIE", "-static-pie"]]
# Arguments and input of programs that take some; @ becomes a file's name.
ARGUMENTS = {"files": ["@"]}
INPUT = {"files": b"first line\nsecond line\nwithout an end"}
# Fast mathematics changes what these test: the value of NaN, the modes.
NOT_FAST = {"floats", "modes"}


def qemu(cpu=True):
    # The architecture's first version, which is what the table has.
    return [QEMU, "-cpu", "cortex-a53"] if cpu else [QEMU]


def call(command, **options):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **options)


def must(command, **options):
    done = call(command, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(c) for c in command)}: {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


def disassemble(words, folder):
    """The words as objdump prints them, without aliases."""
    path = folder / "words.bin"
    path.write_bytes(b"".join(struct.pack("<I", w) for w in words))
    text = must([OBJDUMP, "-D", "-b", "binary", "-m", "aarch64", "-M", "no-aliases", path]).decode()
    return [re.sub(r"\s+", " ", re.sub(r"\s*(//|;|<).*", "", m)).strip() for m in re.findall(r"^ *[0-9a-f]+:\t[0-9a-f]{8} \t(.*)$", text, re.M)]


def test_printer(args, folder, seed):
    """Ours beside objdump's; DC and IC have names here where objdump has numbers."""
    path = folder / f"words{seed}"
    must([args.gen, "words", seed, args.count, path])
    lines = [line.split(" ", 1) for line in path.read_text().splitlines()]
    words = []
    for k, (word, text) in enumerate(lines):  # our branches are printed as at address 0, objdump's as where they are
        words.append(int(word, 16))
    theirs = disassemble(words, folder)
    bad = []
    for k, ((word, text), other) in enumerate(zip(lines, theirs)):
        if text.startswith(("dc ", "ic ")) and other.startswith("sys "):
            continue
        ours = relocate(text, other, 4 * k)
        if ours != other:
            bad.append(f"{word}: {text} | {other}")
    return len(lines), bad


def relocate(text, other, pc):
    """Our text with its address, printed as at 0, moved to pc, if theirs has an address there."""
    ours, theirs = re.search(r"(?<![#\w])0x([0-9a-f]+)$", text), re.search(r"(?<![#\w])0x([0-9a-f]+)$", other)
    if not ours or not theirs:
        return text
    at = int(ours[1], 16)
    moved = at + (pc & ~0xFFF if text.startswith("adrp") else pc)
    return text[: ours.start()] + f"0x{moved & (1 << 64) - 1:x}"


def compare_random(args, folder, kind, seed, count):
    """Builds a random program and runs it twice. Returns how many tests it had and the instructions of those that differ."""
    name = folder / f"{kind}{seed}"
    source = name.with_suffix(".s")
    must([args.gen, kind, seed, count, source])
    must([GCC, "-nostdlib", "-static", "-o", name, source])
    ours, theirs = must([args.reprise, "cpu", "run", "--functional", "--", name]), must(qemu() + [name])
    tests = re.split(r"^ bl restore$", source.read_text(), flags=re.M)[1:]
    if ours == theirs:
        for path in (name, source):
            path.unlink()
        return len(tests), []
    bad = []
    for k, test in enumerate(tests):
        if ours[k * STATE_BYTES : (k + 1) * STATE_BYTES] != theirs[k * STATE_BYTES : (k + 1) * STATE_BYTES]:
            words = [int(w, 16) for w in re.findall(r"\.inst 0x([0-9a-f]+)", test)]
            bad.append(f"{name} test {k}: " + "; ".join(disassemble(words, folder)))
    return len(tests), bad or [f"{name}: memory differs, or the length of the output"]


def compare_program(args, folder, source, flags):
    """One C program on both, here also timed. What it prints and its exit status must be the same."""
    name = folder / (source.stem + "".join(flags).replace("-", "_").replace("=", "_").replace("+", "_"))
    static = [] if "-static-pie" in flags else ["-static"]
    must([GCC, *flags, *static, "-w", "-o", name, source, "-lm"])
    results = []
    ours = [args.reprise, "cpu", "run"]
    for run in (qemu(cpu=False) + [name], [*ours, "--functional", "--", name], [*ours, "--", name]):
        file = folder / f"{name.name}.file"
        arguments = [str(file) if a == "@" else a for a in ARGUMENTS.get(source.stem, [])]
        done = call([*run, *arguments], input=INPUT.get(source.stem, b""))
        status = done.returncode + 256 if done.returncode < 0 else done.returncode
        if status > 128 + 64:  # qemu dies by the signal itself
            status = 128 - done.returncode
        results.append((done.stdout, status, file.read_bytes() if file.exists() else b""))
        file.unlink(missing_ok=True)
    theirs = results[0]
    for mode, result in zip(("functional", "timed"), results[1:]):
        if result == theirs:
            continue
        for a, b in zip(result[0].splitlines(), theirs[0].splitlines()):
            if a != b:
                return [f"{name.name}, {mode}: ours {a!r}, qemu's {b!r}"]
        return [f"{name.name}, {mode}: status {result[1]}, qemu's {theirs[1]}; bytes {len(result[0])}, {len(theirs[0])}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--gen", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--full", action="store_true", help="many more random instructions, programs with other flags")
    parser.add_argument("--seed", type=int, default=1, help="the first seed of random instructions")
    parser.add_argument("-j", type=int, default=2)
    args = parser.parse_args()
    for tool in (GCC, OBJDUMP, QEMU):
        if not shutil.which(tool):
            print(f"skipped: there is no {tool}")
            return SKIPPED
    folder = args.build
    folder.mkdir(parents=True, exist_ok=True)
    args.count = 100 if args.full else 10
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for seed in range(args.seed, args.seed + (30 if args.full else 2)):
            jobs.append(("single", pool.submit(compare_random, args, folder, "single", seed, 60 if args.full else 12)))
            jobs.append(("sequence", pool.submit(compare_random, args, folder, "sequence", seed, 20000 if args.full else 2000)))
        jobs.append(("printer", pool.submit(test_printer, args, folder, args.seed)))
        for source in sorted((HERE / "programs").glob("*.c")):
            for flags in [FLAGS] + (MORE_FLAGS if args.full else []):
                if not ("-ffast-math" in flags and source.stem in NOT_FAST):
                    jobs.append(("program", pool.submit(lambda *a: (1, compare_program(*a)), args, folder, source, flags)))
        passed, failed = 0, 0
        for kind, job in jobs:
            n, bad = job.result()
            passed += n - len(bad)
            failed += len(bad)
            for line in bad[:20]:
                print(f"{kind}: {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

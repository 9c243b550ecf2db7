#!/usr/bin/env python3
"""Compiles every C file of a build with clang, for its warnings only: gcc, which made the build, does not give all of them.

    tests/check_clang.py build [--clang clang-19]
"""

import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

# Options of gcc that clang does not know or need; those with -D and -W that meson found for gcc are kept out, too.
KEPT = ("-I", "-D", "-std=")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-warning-option", "-Wno-pass-failed"]


def commands(build):
    """(folder, file, options) of each C file, once for each set of options."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        rows = json.load(f)
    seen = set()
    for row in rows:
        if not row["file"].endswith(".c"):
            continue
        words = shlex.split(row["command"])
        target = [w for w in words if w.startswith("-m")]
        options = [w for w in words if w.startswith(KEPT)] + target
        for flag in ("-isystem", "-include"):
            options += [x for i, w in enumerate(words[:-1]) if w == flag for x in (w, words[i + 1])]
        file = os.path.normpath(os.path.join(row["directory"], row["file"]))
        key = (file, tuple(w for w in options if not w.startswith("-Isrc/") and not w.startswith("-Itests/")))
        if key not in seen:
            seen.add(key)
            yield row["directory"], row["file"], options


def compile_one(clang, job):
    folder, file, options = job
    p = subprocess.run([clang, "-fsyntax-only", *WARNINGS, *options, file], cwd=folder, capture_output=True, text=True)
    return p.returncode, p.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--clang", default="clang-19")
    args = parser.parse_args()
    bad = n = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, text in pool.map(lambda job: compile_one(args.clang, job), commands(args.build)):
            n += 1
            if status:
                bad += 1
                sys.stderr.write(text)
    print(f"{n} files compiled with {args.clang}, {bad} failed")
    sys.exit(bad != 0 or not n)


if __name__ == "__main__":
    main()

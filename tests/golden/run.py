#!/usr/bin/env python3
"""Compares disassembled machine code with what is stored beside each PTX file.

Every tests/golden/NAME.ptx is compiled by `reprise disasm`; the output must equal NAME.sass. Options of the command
may stand in the first line of the PTX file: // disasm: --gpu fermi

usage: run.py [--update] [--reprise PATH] [NAME...]
"""
import argparse
import difflib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def options(ptx):
    first = ptx.read_text(errors="replace").split("\n", 1)[0]
    mark = "// disasm:"
    return first[len(mark):].split() if first.startswith(mark) else []


def disassemble(reprise, ptx):
    cmd = [reprise, "disasm", *options(ptx), ptx.name]
    run = subprocess.run(cmd, cwd=ptx.parent, capture_output=True, text=True, timeout=60)
    if run.returncode:
        return None, run.stderr
    return run.stdout, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--update", action="store_true", help="store the output instead of comparing")
    parser.add_argument("--reprise", default=str(HERE.parent.parent / "reprise"), help="the command to run")
    parser.add_argument("names", nargs="*", help="tests to run, all by default")
    args = parser.parse_args()
    reprise = str(pathlib.Path(args.reprise).resolve())
    files = sorted(HERE.glob("*.ptx"))
    if args.names:
        files = [f for f in files if f.stem in args.names]
    if not files:
        print("no golden tests found", file=sys.stderr)
        return 1
    failed = 0
    for ptx in files:
        sass = ptx.with_suffix(".sass")
        got, error = disassemble(reprise, ptx)
        if got is None:
            print(f"FAIL {ptx.stem}: {error.strip()}")
            failed += 1
        elif args.update:
            sass.write_text(got)
            print(f"updated {sass.name}")
        elif not sass.exists():
            print(f"FAIL {ptx.stem}: {sass.name} is missing; make update-golden writes it")
            failed += 1
        elif got != sass.read_text():
            diff = difflib.unified_diff(sass.read_text().splitlines(), got.splitlines(), sass.name, "now", lineterm="")
            print(f"FAIL {ptx.stem}\n" + "\n".join(list(diff)[:60]))
            failed += 1
        else:
            print(f"ok   {ptx.stem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Functional speed: simulated warp instructions per second of the programs in bench.list, on one thread."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def rows():
    for line in (HERE / "bench.list").read_text().splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], words[1:]


def run(reprise, name, args, report):
    """Seconds spent inside launches, and warp instructions, of the fastest of three runs."""
    best = None
    for _ in range(3):
        subprocess.run([reprise, "run", "--functional", "--json", report, "--", str(HERE / "prebuilt" / name), *args],
                       stdout=subprocess.DEVNULL, check=True)
        data = json.loads(pathlib.Path(report).read_text())
        seconds = data["host"]["wall_s"]
        if best is None or seconds < best[0]:
            best = (seconds, data["totals"]["warp_insts"])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reprise", default="./reprise")
    parser.add_argument("--json", help="also write the table here")
    args = parser.parse_args()
    reprise = os.path.abspath(args.reprise)
    table = []
    print(f"{'program':<16}{'warp insts':>14}{'seconds':>10}{'M insts/s':>12}")
    with tempfile.TemporaryDirectory() as tmp:
        for name, words in rows():
            seconds, insts = run(reprise, name, words, os.path.join(tmp, "report.json"))
            rate = insts / seconds / 1e6
            table.append({"program": name, "warp_insts": insts, "seconds": seconds, "rate": rate})
            print(f"{name:<16}{insts:>14,}{seconds:>10.2f}{rate:>12.1f}", flush=True)
    mean = math.exp(sum(math.log(r["rate"]) for r in table) / len(table))
    print(f"{'geometric mean':<16}{'':>14}{'':>10}{mean:>12.1f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"rows": table, "geomean": mean}, indent=1))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The register allocator against the vendor's assembler, whose figures data/ptxas-registers.csv holds.

Of the kernels of the workloads none may take more than a quarter more registers than ptxas gives it, and all together no more than a
tenth. ptxas itself gives up to twice as many for one generation as for another: the greater of its figures counts.

usage: registers.py --reprise PATH --workloads FOLDER [--list]"""
import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOST, MEAN = 1.25, 1.10
SKIPPED = 77  # as meson takes it


def theirs():
    """Kernels of each workload with the greatest figure."""
    found = collections.defaultdict(dict)
    with open(ROOT / "data/ptxas-registers.csv", newline="") as f:
        for row in csv.DictReader(f):
            found[row["workload"]][row["kernel"]] = max(int(n) for name, n in row.items() if name.startswith("sm_"))
    return found


def ours(reprise, ptx):
    text = subprocess.run([reprise, "disasm", ptx], check=True, capture_output=True, text=True).stdout
    return {name: int(n) for name, n in re.findall(r"^; (\w+): (\d+) registers", text, re.M)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--workloads", required=True, type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print every kernel")
    args = parser.parse_args()
    ratios, failed = [], []
    for workload, kernels in theirs().items():
        ptx = args.workloads / f"{workload}.64.ptx"
        if not ptx.exists():
            print(f"{ptx} was not built")
            sys.exit(SKIPPED)
        mine = ours(args.reprise, ptx)
        for kernel, limit in kernels.items():
            if kernel not in mine:
                failed.append(f"{workload}: {kernel} is not compiled")
                continue
            ratios.append(mine[kernel] / limit)
            line = f"{workload}: {kernel} takes {mine[kernel]} registers, ptxas {limit}"
            if args.list:
                print(f"{ratios[-1]:.2f} {line}")
            if ratios[-1] > MOST:
                failed.append(line)
    mean = sum(ratios) / len(ratios)
    print(f"{len(ratios)} kernels take {mean:.2f} of ptxas's registers, {max(ratios):.2f} at most")
    if mean > MEAN:
        failed.append(f"{mean:.2f} of ptxas's registers on average, more than {MEAN}")
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

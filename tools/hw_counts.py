#!/usr/bin/env python3
"""Executed warp instructions of the workloads beside those a real GPU executed.

data/h200-counters.csv holds what the hardware counters of an H200 say of the first launches of each workload, whose driver compiled the
same PTX. Here the workloads run functionally, and the same launches are added up. A ratio above 1 is work that our compiler did not
save; one below 1 is work that the real machine code has and ours has not.

    tools/hw_counts.py [--size small] [--kernels] [--check] [WORKLOAD...]

--check fails when the workloads are more than 12% off on average, or one executes more than 1.2 times as many."""
import argparse
import collections
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEAN_DISTANCE, MOST = 0.12, 1.2


def hardware(size):
    """Warp instructions by workload, then by launch."""
    counts = collections.defaultdict(dict)
    with open(ROOT / "data/h200-counters.csv", newline="") as f:
        for row in csv.DictReader(f):
            if row["size"] == size:
                counts[row["workload"]][int(row["launch"])] = (row["kernel"], int(row["warp_insts"]))
    return counts


def simulated(reprise, workload, size):
    """Name and warp instructions of each launch."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.json"
        subprocess.run([reprise, "run", "--functional", "--json", out, workload, "--size", size], check=True,
                       stdout=subprocess.DEVNULL)
        return [(k["name"], k["warp_insts"]) for k in json.loads(out.read_text())["kernels"]]


def ratios(reprise, names, size):
    """Rows (workload, kernel, ours, theirs); kernel is empty for the whole workload."""
    counts = hardware(size)
    unknown = [n for n in names if n not in counts]
    if unknown:
        sys.exit(f"no counters of {', '.join(unknown)} at size {size}")
    for workload in names or sorted(counts):
        ours = simulated(reprise, workload, size)
        kernels = collections.defaultdict(lambda: [0, 0])
        for launch, (kernel, theirs) in counts[workload].items():
            if launch >= len(ours) or ours[launch][0] != kernel:
                sys.exit(f"{workload}: launch {launch} is not {kernel}")
            for key in ("", kernel):
                kernels[key][0] += ours[launch][1]
                kernels[key][1] += theirs
        for kernel, (mine, theirs) in kernels.items():
            if kernel or len(kernels) != 2:
                yield workload, kernel, mine, theirs
        if len(kernels) == 2:
            yield workload, "", *kernels[""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--size", default="small", choices=["small", "medium"])
    parser.add_argument("--reprise", default=str(ROOT / "build/src/reprise"))
    parser.add_argument("--check", action="store_true", help="fail when we are too far off")
    parser.add_argument("--kernels", action="store_true", help="also each kernel")
    args = parser.parse_args()
    rows = list(ratios(args.reprise, args.workloads, args.size))
    whole = sorted((mine / theirs, workload) for workload, kernel, mine, theirs in rows if not kernel)
    for ratio, workload in whole:
        print(f"{ratio:6.3f}  {workload}")
        if args.kernels:
            for other, kernel, mine, theirs in rows:
                if other == workload and kernel:
                    print(f"        {mine / theirs:6.3f}  {kernel}  {mine} of {theirs}")
    off = sum(abs(ratio - 1) for ratio, _ in whole) / len(whole)
    mean = math.exp(sum(math.log(ratio) for ratio, _ in whole) / len(whole))
    print(f"{len(whole)} workloads: geometric mean {mean:.3f}, mean distance from 1 {off:.3f}")
    sys.exit(args.check and (off > MEAN_DISTANCE or whole[-1][0] > MOST))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Speed of the simulator on one thread: simulated warp instructions per second.

Functional: the programs of tests/programs/bench.list. Timed: every workload at one size on one GPU. The time is what launches
take; each program runs several times and the fastest run counts."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def programs():
    """Rows of bench.list as command lines."""
    here = ROOT / "tests/programs"
    for line in (here / "bench.list").read_text().splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], ["--functional", "--", str(here / "prebuilt" / words[0]), *words[1:]]


def workloads(gpu, size):
    """Every workload of workloads.def as command lines."""
    for line in (ROOT / "workloads/workloads.def").read_text().splitlines():
        if line.startswith("WORKLOAD("):
            name = line[len("WORKLOAD("):].split(",")[0]
            yield name, ["--gpu", gpu, name, "--size", size]


def measure(reprise, command, report, runs):
    """The fastest run's report."""
    best = None
    for _ in range(runs):
        subprocess.run([reprise, "run", "--json", report, *command], stdout=subprocess.DEVNULL, check=True)
        data = json.loads(pathlib.Path(report).read_text())
        if best is None or data["host"]["wall_s"] < best["host"]["wall_s"]:
            best = data
    return best


def table(title, rows, reprise, runs):
    print(f"{title:<22}{'warp insts':>14}{'cycles':>12}{'seconds':>10}{'M insts/s':>12}")
    rates = []
    with tempfile.TemporaryDirectory() as tmp:
        for name, command in rows:
            data = measure(reprise, command, os.path.join(tmp, "report.json"), runs)
            insts, seconds = data["totals"]["warp_insts"], data["host"]["wall_s"]
            rates.append(insts / seconds / 1e6)
            cycles = data["totals"].get("cycles", "")
            cycles = f"{cycles:,}" if cycles != "" else "-"
            print(f"{name:<22}{insts:>14,}{cycles:>12}{seconds:>10.2f}{rates[-1]:>12.2f}", flush=True)
    mean = math.exp(sum(math.log(r) for r in rates) / len(rates))
    print(f"{'geometric mean':<22}{'':>14}{'':>12}{'':>10}{mean:>12.2f}   slowest {min(rates):.2f}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="*", choices=["functional", "timed", []], help="which table (both)")
    parser.add_argument("--reprise", default=ROOT / "reprise", type=pathlib.Path)
    parser.add_argument("--gpu", default="gtx480", help="of the timed table")
    parser.add_argument("--size", default="small", help="of the timed table")
    parser.add_argument("--runs", type=int, default=2, help="of which the fastest counts")
    options = parser.parse_args()
    reprise = str(options.reprise.resolve())
    if not options.mode or "functional" in options.mode:
        table("functional", programs(), reprise, options.runs)
    if not options.mode or "timed" in options.mode:
        table(f"timed, {options.gpu}", workloads(options.gpu, options.size), reprise, options.runs)


if __name__ == "__main__":
    sys.exit(main())

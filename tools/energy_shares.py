#!/usr/bin/env python3
"""Where the energy of the workloads goes: shares of each part, as a table in Markdown.

Runs every workload, or the ones named, on one GPU at one size, one after another."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Columns: title, and the parts of the report's energy{} that it sums.
COLUMNS = [
    ("front end", ["front_end"]),
    ("registers", ["register_file"]),
    ("collectors", ["collectors"]),
    ("execution", ["sp", "sfu", "dp"]),
    ("SM memory", ["lsu", "shared", "l1", "const_tex"]),
    ("L2, network", ["l2", "interconnect"]),
    ("DRAM", ["dram_controller", "dram"]),
    ("clock", ["clock"]),
    ("static", ["static"]),
]
# The shares that papers quote: title, parts, parts that do not count in the whole.
QUOTED = [
    ("register file, of all", ["register_file"], []),
    ("register file, of dynamic energy", ["register_file"], ["static"]),
    ("register file and collectors, of dynamic energy", ["register_file", "collectors"], ["static"]),
    ("execution units, of all", ["sp", "sfu", "dp"], []),
    ("execution units, of the chip alone", ["sp", "sfu", "dp"], ["dram", "dram_controller"]),
    ("execution units, of dynamic energy", ["sp", "sfu", "dp"], ["static"]),
]


def workloads():
    for line in (ROOT / "workloads/workloads.def").read_text().splitlines():
        if line.startswith("WORKLOAD("):
            yield line[len("WORKLOAD("):].split(",")[0]


def run(reprise, gpu, size, name, path):
    """The report of a workload: totals and settings."""
    subprocess.run([reprise, "run", "--gpu", gpu, "--json", path, name, "--size", size], stdout=subprocess.DEVNULL, check=True)
    data = json.loads(pathlib.Path(path).read_text())
    return data["totals"], data["settings"]


def share(energy, parts, without):
    whole = sum(v for k, v in energy.items() if k != "total" and k not in without)
    return 100 * sum(energy[p] for p in parts) / whole


def mean(values):
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="workloads (all)")
    parser.add_argument("--reprise", default=ROOT / "reprise", type=pathlib.Path)
    parser.add_argument("--gpu", default="gtx480")
    parser.add_argument("--size", default="small")
    options = parser.parse_args()
    reprise = str(options.reprise.resolve())
    print("| workload | IPC | power, W | " + " | ".join(title for title, _ in COLUMNS) + " |")
    print("| --- |" + " ---: |" * (len(COLUMNS) + 2))
    found = []
    with tempfile.TemporaryDirectory() as tmp:
        for name in options.names or workloads():
            totals, settings = run(reprise, options.gpu, options.size, name, f"{tmp}/report.json")
            energy = totals["energy"]
            watts = energy["total"] / (totals["cycles"] / (settings["clock.sm"] * 1e6))
            found.append((totals["ipc"], watts, energy))
            print(f"| {name} | {totals['ipc']:.1f} | {watts:.0f} | "
                  + " | ".join(f"{share(energy, parts, []):.1f}" for _, parts in COLUMNS) + " |", flush=True)
    energies = [e for _, _, e in found]
    print(f"| **mean** | {mean([f[0] for f in found]):.1f} | {mean([f[1] for f in found]):.0f} | "
          + " | ".join(f"{mean([share(e, parts, []) for e in energies]):.1f}" for _, parts in COLUMNS) + " |")
    print("\n| share | mean | lowest | highest |\n| --- | ---: | ---: | ---: |")
    for title, parts, without in QUOTED:
        values = [share(e, parts, without) for e in energies]
        print(f"| {title} | {mean(values):.1f}% | {min(values):.1f}% | {max(values):.1f}% |")


if __name__ == "__main__":
    sys.exit(main())

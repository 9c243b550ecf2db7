#!/usr/bin/env python3
"""Registers that the vendor's assembler gives to the kernels of the workloads: makes data/ptxas-registers.csv.

    tools/ptxas_registers.py BUILD/workloads > data/ptxas-registers.csv

ptxas (from CUDA 13) compiles each NAME.64.ptx for the oldest generation it knows, sm_75, and for sm_90. Only this needs ptxas: the test
that compares our allocation with the figures reads the file."""
import pathlib
import re
import subprocess
import sys

TARGETS = ["sm_75", "sm_90"]


def registers(ptx, target):
    """Registers by kernel."""
    said = subprocess.run(["ptxas", "-v", f"-arch={target}", "-o", "/dev/null", ptx], check=True, capture_output=True, text=True)
    found, kernel = {}, None
    for line in said.stderr.splitlines():
        if name := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = name[1]
        if used := re.search(r"Used (\d+) registers", line):
            found[kernel] = int(used[1])
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("workload,kernel," + ",".join(TARGETS))
    for ptx in sorted(pathlib.Path(sys.argv[1]).glob("*.64.ptx")):
        columns = [registers(ptx, t) for t in TARGETS]
        for kernel in sorted(columns[0]):
            print(",".join([ptx.name.removesuffix(".64.ptx"), kernel] + [str(c[kernel]) for c in columns]))


if __name__ == "__main__":
    main()

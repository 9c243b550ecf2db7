#!/usr/bin/env python3
"""What a run takes of the host follows what it executes: memory from what is in use at once, not from the size of the launch or of the GPU."""
import json
import os
import pathlib
import subprocess
import sys

from harness import expect, main

KERNEL = pathlib.Path(__file__).resolve().parent.parent / "timing/scale.ptx"


def peak(gpu, blocks, rounds):
    """Megabytes that a launch needs, and the warp instructions it has."""
    report = os.path.join(TMP, "report.json")
    plain = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}  # which writes to all that is allocated
    subprocess.run([REPRISE, "run", "-j", "1", "--gpu", gpu, "--json", report, str(KERNEL), "--grid", str(blocks), "--block", "32",
                    "--arg", "iota:1024", "--arg", f"u32:{rounds}"], stdout=subprocess.DEVNULL, env=plain, check=True)
    data = json.loads(pathlib.Path(report).read_text())
    return data["host"]["peak_rss_mb"], data["totals"]["warp_insts"]


def test_blocks_that_have_not_begun_need_no_memory():
    few, _ = peak("gtx480", 1000, 1)
    many, insts = peak("gtx480", 100000, 1)
    expect(insts > 1000000, f"{insts} instructions are too few to tell")
    expect(many < few + 4, f"{few} MB for a thousand blocks, {many} MB for a hundred thousand")


def test_parts_of_the_gpu_that_are_not_used_need_no_memory():
    megabytes, _ = peak("h200", 1, 1)
    expect(megabytes < 50, f"{megabytes} MB for one block")


if __name__ == "__main__":
    sys.exit(main(globals()))

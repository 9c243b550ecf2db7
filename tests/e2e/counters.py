#!/usr/bin/env python3
"""Counters as a whole: each is moved by a run here, or by the unit test that is named; shares of SMs sum to the machine's; derived
values are what their formulas say."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

UNIT = pathlib.Path(__file__).resolve().parent.parent / "unit"
# A machine on which miss registers are short, and one on which ways and queues are, behind a slow interconnect.
SHORT = ("device.sms=4 rf.collectors=1 icache.size=1K icache.ways=1 icache.mshrs=1 icache.merges=1 icache.queue=2 constcache.size=1K "
         "constcache.ways=1 constcache.merges=1 constcache.queue=2 texcache.mshrs=1 texcache.merges=1 texcache.queue=2 l1.interval=4 "
         "l1.stores=1 l1.merges=1 l2.size=48K l2.ways=1").split()
NARROW = ("device.sms=4 texcache.size=1K texcache.ways=1 texcache.mshrs=64 texcache.queue=2 constcache.size=1K constcache.ways=1 "
          "constcache.mshrs=64 constcache.queue=2 icnt.in_queue=1 icnt.out_queue=1 clock.icnt=50 l2.size=48K l2.ways=1").split()
RUNS = [(["--gpu", "gtx480", *(word for s in few for word in ("--set", s))], name)
        for few in (SHORT, NARROW) for name in ("spmv", "convolutionTexture", "LIB", "tpacf", "imghisto", "dct8x8")]
RUNS += [(["--gpu", "gtx480"], name) for name in ("hotspot", "lbm", "leukocyte", "reduction", "dct8x8", "hybridsort", "spmv", "LIB", "tpacf")]
RUNS += [(["--gpu", gpu], name) for gpu, name in (("gtx1080ti", "spmv"), ("gtx1080ti", "dct8x8"), ("h200", "dct8x8"))]
RUNS += [(["--gpu", "gtx480", "--set", "device.sms=4", "--set", "texcache.size=1K", "--set", "texcache.ways=1"], "convolutionTexture")]
# Mechanisms, with registers to spare and without.
FEW = "device.sms=2 sm.registers=4096 block.registers=4096 sm.register_unit=32 sm.warp_unit=1".split()
RUNS += [(["--gpu", "wir", "--bits", "32", "--mech", "wir", *(word for s in settings for word in ("--set", s))], name)
         for settings, name in (([], "hotspot"), ([], "backprop"), ([], "heartwall"), (["wir.hash_bits=8"], "hotspot"), (FEW, "hotspot"),
                                ([*FEW, "wir.rb_entries=1", "wir.vsb_entries=0"], "hotspot"))]
RUNS += [(["--gpu", "wir", "--bits", "32", "--mech", mech], "hotspot") for mech in ("affine", "affine+wir", "toy")]
RUNS += [(["--gpu", "darsie", "--bits", "32", "--mech", "darsie", *(word for s in settings for word in ("--set", s))], name)
         for settings, name in (([], "hotspot"), ([], "backprop"), ([], "LIB"), ([], "cutcp"), ([], "bfs"), ([], "matrixMul"), ([], "srad_v2"), ([], "particlefilter"),
                                (["darsie.entries=1"], "CP"))]
RUNS += [(["--gpu", "darsie", "--mech", mech], name) for mech, name in (("uv", "LIB"), ("dac-ideal", "LIB"), ("dac-ideal", "hotspot"))]
RUNS += [(["--gpu", "dac", "--mech", "dac", *(word for s in settings for word in ("--set", s))], name)
         for settings, name in (([], "hotspot"), ([], "lud"), ([], "sgemm"), ([], "stencil"), ([], "reduction"), (["dac.atq=2", "dac.pwaq=8"], "spmv"))]
RUNS += [(["--gpu", "dac", "--mech", mech], name) for mech, name in (("cae", "streamcluster"), ("perfect-memory", "hotspot"))]
RUNS += [(["--gpu", "dac", "--mech", "cae", "--bits", "32"], "pathfinder")]
RUNS += [(["--gpu", "dac", "--mech", "mta", "--set", "mta.period=16", "--set", "mta.kb=1"], name) for name in ("sgemm", "scalarProd", "hotspot")]
RUNS += [(["--gpu", "gtx480", "--probe", "repeat+redundant+oldest"], name) for name in ("hotspot", "matrixMul")]
RUNS += [(["--gpu", "wir", "--bits", "32", "--mech", "wir", "--probe", "oldest"], "hotspot")]
RUNS += [(["--gpu", "gtx480", "--probe", "oldest", "--set", "rf.collectors=1"], "hotspot")]
RUNS += [(["--gpu", "gscalar", "--bits", "32", "--mech", mech, *(word for s in settings for word in ("--set", s))], name)
         for mech, settings, name in (("gscalar", ["gscalar.pairs=true"], "lbm"), ("gscalar", ["gscalar.skip_dead=true"], "backprop"),
                                      ("alu-scalar", [], "hotspot"), ("darsie+gscalar", [], "b+tree"))]
RUNS += [(["--gpu", "cmrc", "--bits", "32", "--mech", "cmrc", "--set", "rf.mapping=" + mapping], name)
         for mapping, name in (("wid", "backprop"), ("wshift", "backprop"), ("wid", "bfs"), ("wid", "hotspot"))]
RUNS += [(["--gpu", "lnl", "--bits", "32", "--mech", mech, *(word for s in settings for word in ("--set", s))], name)
         for mech, settings, name in (("lnl", [], "hotspot-approx"), ("lnl", ["lnl.threshold=0.5"], "convTexture-approx"),
                                      ("lnl", ["lnl.levels=32", "lnl.timeout=20"], "Sobel-approx"), ("warp-approx", [], "bilateral-approx"),
                                      ("lnl-nofusion", ["lnl.threshold=0", "lnl.profile=true"], "bilateral-approx"))]
# What no workload executes, in one kernel: doubles, halves, addresses that name their space.
RARE = """.version 7.0
.target sm_80
.address_size 64
.visible .entry rare(.param .u64 p) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<6>;
    .reg .f64 %d<6>;
    ld.param.u64 %rd1, [p];
    ld.u32 %r1, [%rd1];
    add.f16x2 %r2, %r1, %r1;
    cvt.rn.f64.u32 %d1, %r1;
    add.f64 %d2, %d1, %d1;
    mul.f64 %d3, %d2, %d1;
    fma.rn.f64 %d4, %d3, %d1, %d2;
    div.rn.f64 %d5, %d4, %d1;
    st.u32 [%rd1+8], %r2;
    st.f64 [%rd1], %d5;
    ret;
}
"""
# Moved by tests of the unit alone: what only mechanisms ask for, and what needs accesses that an SM does not make.
ELSEWHERE = {
    "oldest.fence": ("test_oldest.c", r'counted\(&r, "fence"\)'),
    "l1.prefetches": ("test_mem.c", r"n\.prefetches"),
    "l1.prefetch_misses": ("test_mem.c", r"n\.prefetch_misses"),
    "l1.prefetch_useful": ("test_mem.c", r"n\.prefetch_useful"),
    "l1.prefetch_unused": ("test_mem.c", r"n\.prefetch_unused"),
    "texcache.stall_port": ("test_mem.c", r"n\.stall_port"),
    "constcache.stall_port": ("test_mem.c", r"n\.stall_port"),
    "icache.stall_port": ("test_mem.c", r"n\.stall_port"),
    "icache.stall_ways": ("test_mem.c", r"n\.stall_ways"),
    "shared.remote": ("test_cluster.c", r'"shared\.remote"'),
    "shared.remote.bytes": ("test_cluster.c", r'"shared\.remote\.bytes"'),
    "insts.tensor": ("test_tensor.c", r'"insts\.tensor"'),
    "unit.tensor": ("test_tensor.c", r'"unit\.tensor"'),
    "lanes.mma": ("test_tensor.c", r'"lanes\.mma"'),
    "lanes.idle.tensor": ("test_tensor.c", r'"lanes\.idle\.tensor"'),
    **{f"tensor.macs.{t}": ("test_tensor.c", rf'"tensor\.macs\.{t}"') for t in ("f16", "tf32", "f64", "s8", "s4", "b1")},
    "lnl.starts.unknown": ("test_lnl.c", r'"lnl\.starts\.unknown"'),
    "lnl.pairs.splits": ("test_lnl.c", r'"lnl\.pairs\.splits"'),
    "cmrc.refused": ("test_cmrc.c", r'"cmrc\.refused"'),
    "check.wrong": ("test_hazards.c", r'"check\.wrong"'),
    "icache.stall_queue": ("test_mem.c", r"n\.stall_queue"),
}


def report(reprise, tmp, words):
    path = os.path.join(tmp, "report.json")
    done = subprocess.run([reprise, "run", "--json", path, "--per-sm", *words], capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return json.loads(pathlib.Path(path).read_text())


def check_part(part, where):
    """What must hold of the totals and of every launch."""
    counters, derived, wrong = part["counters"], part["derived"], []
    for name, values in part["sms"].items():
        if sum(values) != counters[name]:
            wrong.append(f"{where}: {name} of the SMs sum to {sum(values)}, not {counters[name]}")
    slots = [v for n, v in counters.items() if n.startswith("slot.")]
    if derived["issue.utilisation"] != counters["slot.issued"] / sum(slots):
        wrong.append(f"{where}: issue.utilisation is {derived['issue.utilisation']}")
    if derived["l2.hit_rate"] > 1 or not 0 < derived["occupancy"] <= 1 or not 0 < derived["simd.efficiency"] <= 1:
        wrong.append(f"{where}: {derived}")
    if "l1.hit_rate" in derived and derived["l1.hit_rate"] != counters["l1.read_hits"] / counters["l1.reads"]:
        wrong.append(f"{where}: l1.hit_rate is {derived['l1.hit_rate']}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reprise", required=True)
    reprise = os.path.abspath(parser.parse_args().reprise)
    moved, wrong = {}, []
    with tempfile.TemporaryDirectory() as tmp:
        rare = pathlib.Path(tmp) / "rare.ptx"
        rare.write_text(RARE)
        reports = [(name, report(reprise, tmp, [*options, name, "--size", "tiny"])) for options, name in RUNS]
        reports.append(("rare.ptx", report(reprise, tmp, ["--gpu", "gtx480", str(rare), "--block", "20", "--arg", "iota:64"])))
    for name, data in reports:
        for i, part in enumerate([data["totals"], *data["kernels"]]):
            wrong += check_part(part, f"{name}, {f'launch {i - 1}' if i else 'totals'}")
        for counter, value in data["totals"]["counters"].items():
            moved[counter] = moved.get(counter, 0) + value
    for counter, value in moved.items():
        if counter in ELSEWHERE:
            file, field = ELSEWHERE[counter]
            if value or not re.search(field + r"(?!\w)", (UNIT / file).read_text()):
                wrong.append(f"{counter} is said to be moved by {file}: " + ("it is here" if value else f"no {field} there"))
        elif not value:
            wrong.append(f"no test moves {counter}")
    wrong += [f"{counter} does not exist" for counter in ELSEWHERE if counter not in moved]
    print("\n".join(wrong[:20]))
    print(f"{len(moved)} counters, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

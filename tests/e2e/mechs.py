#!/usr/bin/env python3
"""Mechanisms on the workloads: whatever a mechanism does, each launch leaves the memory that the base machine leaves, results are
right, no value it supplied differs from the one computed, and its counters add up.

Without --full every workload runs with `wir` and with one of the other models, in turn, in 32 bits; with it, every workload with
every model in both widths."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# What must hold of every launch and of the totals: n are their counters, base those of the base machine. A rule may hold only for
# models that have a thing, or in launches with registers to spare (CONDITIONS).
EXECUTED = "n['unit.sp'] + n['unit.sfu'] + n['unit.dp'] + n['unit.mem'] + n['unit.tex']"
RENAMED = "n['sm.insts.warp'] - n['unit.ctrl']"
REFUSED_AFTER_WAIT = "(n['wir.pending_hits'] - n['wir.queue.full'] - n['wir.reused.pending'])"
LANES = "sum(v for name, v in {}.items() if name.startswith('lanes.') and '.idle' not in name)"
RULES = [  # left, relation, right, when
    ("n['wir.lookups'] + n['wir.bypassed']", "==", RENAMED, ""),
    ("n['wir.lookups']", "==", "n['wir.hits'] + n['wir.pending_hits'] + n['wir.misses']", ""),
    ("n['wir.reused']", "==", "n['wir.hits'] + n['wir.reused.pending']", ""),
    ("n['wir.reused.pending'] + n['wir.queue.full']", "<=", "n['wir.pending_hits']", ""),
    ("n['wir.retries']", ">=", "n['wir.reused.pending']", ""),
    ("n['wir.reused.loads']", "<=", "n['wir.reused']", ""),
    ("n['wir.bypassed.divergent'] + n['wir.bypassed.pinned'] + n['wir.bypassed.loads']", "<=", "n['wir.bypassed']", ""),
    (EXECUTED, "==", RENAMED + " - n['wir.reused'] + n['wir.movs']", ""),
    ("n['wir.vsb.lookups']", "==", "n['wir.vsb.hits'] + n['wir.vsb.misses']", ""),
    ("n['wir.vsb.hits']", "==", "n['wir.vsb.shared'] + n['wir.vsb.collisions']", ""),
    ("n['wir.vsb.hits']", "==", "n['wir.verify.reads'] + n['wir.verify.cached']", ""),
    ("n['wir.hash.ops']", "==", "n['wir.vsb.lookups']", ""),
    ("n['wir.vsb.ops']", "==", "n['wir.vsb.lookups'] + n['wir.vsb.misses'] + n['wir.vsb.collisions']", ""),
    ("n['wir.vc.ops']", ">=", "n['wir.vsb.hits'] + n['wir.verify.reads']", "cache"),
    ("n['rf.writes']", "==", "n['wir.writes'] + n['wir.movs']", ""),
    ("n['wir.movs']", "<=", "n['wir.writes']", ""),
    ("n['wir.writes.inplace']", "<=", "n['wir.writes']", ""),
    ("n['wir.starved']", "<=", "n['wir.writes']", ""),
    ("n['wir.rb.ops']", "==", f"n['wir.lookups'] + n['wir.retries'] + 2 * (n['wir.misses'] + {REFUSED_AFTER_WAIT})", "pending, plenty"),
    ("n['wir.rb.ops']", "==", "n['wir.lookups'] + n['wir.misses']", "not pending, plenty"),
    ("n['wir.low.cycles']", "<=", "n['sm.cycles']", ""),
    ("n['wir.regs.cycles']", "<=", "1024 * n['sm.cycles']", ""),
    ("n['wir.evictions']", "==", "0", "plenty"),
    ("n['wir.pending_hits'] + n['wir.retries']", "==", "0", "not pending"),
    ("n['wir.reused.loads']", "==", "0", "not loads"),
    ("n['wir.verify.cached'] + n['wir.vc.ops']", "==", "0", "not cache"),
    ("n['wir.vsb.lookups'] + n['wir.vsb.ops']", "==", "0", "not shares"),
    # The program is the base machine's: the same instructions, the same results. With atomics it may try again, or not.
    (RENAMED, "==", "base['sm.insts.warp'] - base['unit.ctrl']", "not atomics, not skips"),
    ("n['wir.reused'] + n['wir.vsb.shared'] + n['wir.writes']", "==", "base['rf.writes']", "not atomics"),
    ("n['rf.reads'] - n['wir.verify.reads'] - n['wir.movs']", "<=", "base['rf.reads']", "not atomics"),
    ("n['affine.reads'] + n['affine.reads.vector']", "==", "n['rf.reads']", ""),
    ("n['affine.writes'] + n['affine.writes.vector']", "==", "n['rf.writes']", ""),
    ("n['affine.reads'] + 8 * n['affine.reads.vector']", "==", "n['rf.read.arrays']", ""),
    ("n['affine.writes.uniform']", "<=", "n['affine.writes']", ""),
    ("n['affine.writes.divergent']", "<=", "n['affine.writes.vector']", ""),
    ("n['affine.expansions']", "<=", "n['affine.writes.divergent']", "affine alone"),
    ("n['affine.expansions']", "==", "0", "not affine alone"),  # WIR copies the lanes
    ("n['affine.insts.uniform']", "<=", "n['affine.insts']", ""),
    ("n['affine.compares'] + n['affine.writes.divergent']", "==", "n['rf.writes']", "affine alone"),
    (LANES.format("n") + " + 31 * n['affine.insts']", "==", LANES.format("base"), "affine alone"),
    ("n['sm.cycles']", "==", "base['sm.cycles']", "affine alone"),
    # What DARSIE passes over is what the base machine executes besides; copies are nobody's.
    ("n['sm.insts.warp'] + n['darsie.skipped'] + n['darsie.dropped']", "==", "base['sm.insts.warp']", "not atomics"),
    ("n['darsie.skipped'] + n['darsie.dropped']", "==",
     "n['darsie.removed.uniform'] + n['darsie.removed.affine'] + n['darsie.removed.unstructured']", ""),
    ("n['darsie.skipped'] + n['darsie.dropped']", "<=", "31 * n['darsie.led']", ""),
    ("n['fetch.insts'] + n['darsie.skipped']", ">=", "n['sm.insts.warp'] + n['darsie.skipped']", ""),
    (EXECUTED, "==", RENAMED + " + n['darsie.copies'] + n['darsie.merges']", ""),
    ("n['darsie.removed.loads']", "<=", "n['darsie.skipped'] + n['darsie.dropped']", ""),
    (EXECUTED, "==", RENAMED + " - n['uv.hits']", ""),
    ("n['uv.hits'] + n['uv.writes']", "<=", "n['uv.lookups']", ""),
    ("n['sm.insts.warp'] + n['dac_ideal.removed'] + n['dac_ideal.dropped']", "==", "base['sm.insts.warp']", "not atomics"),
    ("n['dac_ideal.wrong']", "<=", "n['dac_ideal.removed'] + n['dac_ideal.dropped']", ""),
]
CONDITIONS = {
    "affine alone": lambda model, n: model == "affine",
    "pending": lambda model, n: model not in ("wir-r", "wir-rl", "wir-novsb"),
    "loads": lambda model, n: model not in ("wir-r", "wir-rpv", "wir-novsb"),
    "cache": lambda model, n: model not in ("wir-r", "wir-rl", "wir-rlp", "wir-novsb"),
    "shares": lambda model, n: model != "wir-novsb",
    "atomics": lambda model, n: n["insts.atomic"],
    "skips": lambda model, n: model.startswith("darsie") or model == "dac-ideal",
    "plenty": lambda model, n: not n["wir.low.cycles"],
}


# A machine in which registers are soon used again, values soon have equal hashes, and the verify cache forgets nothing by itself.
TIGHT = ("device.sms=2 sm.registers=4096 block.registers=4096 sm.register_unit=32 sm.warp_unit=1 wir.vc_entries=64 wir.hash_bits=4").split()
TIGHT_WORKLOADS = ("hotspot", "backprop", "lud")


def holds(when, model, n):
    for word in filter(None, when.split(", ")):
        negated = word.startswith("not ")
        if bool(CONDITIONS[word.removeprefix("not ")](model, n)) == negated:
            return False
    return True


COMPILED = [(left, relation, right, when, compile(f"{left} {relation} {right}", "rule", "eval"),
             set(re.findall(r"\bn\['([^']+)'\]", left + right))) for left, relation, right, when in RULES]


def broken_rules(model, n, base, used):
    """Rules that do not hold, with the values of both sides, of those whose counters the model has; notes those that were looked at."""
    part, wrong = model.split("+")[-1], []
    for left, relation, right, when, code, counters in COMPILED:
        if not counters <= n.keys() or not holds(when, part, n):
            continue
        used.add((left, when))
        if not eval(code, {"n": n, "base": base}):
            sides = [eval(side, {"n": n, "base": base}) for side in (left, right)]
            wrong.append(f"{left} {relation} {right}: {sides[0]}, {sides[1]}")
    return wrong


class Runner:
    def __init__(self, reprise, tmp):
        self.reprise, self.tmp, self.used, self.runs = reprise, tmp, set(), 0

    def report(self, workload, bits, model, settings):
        path = os.path.join(self.tmp, f"{workload}.{bits}.{model}.{len(settings)}.json")
        self.runs += 1
        done = subprocess.run([self.reprise, "run", workload, "--size", "tiny", "--bits", bits, "--gpu", "wir", "--mech", model,
                               *(word for s in settings for word in ("--set", s)), "--check", "--digest", "--check-result", "--json", path],
                              capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-1500:])
        data = json.loads(pathlib.Path(path).read_text())
        os.unlink(path)
        if done.stderr:
            raise RuntimeError(done.stderr[-1500:])
        return data

    def compare(self, workload, bits, models, settings=()):
        """All that is wrong with these models on a workload."""
        wrong = []
        try:
            base = self.report(workload, bits, "base", settings)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            return [f"{workload}, {bits} bits, base: {problem}"]
        for model in models:
            where = f"{workload}, {bits} bits, {model}"
            try:
                data = self.report(workload, bits, model, settings)
            except (RuntimeError, subprocess.TimeoutExpired) as problem:
                wrong.append(f"{where}: {problem}")
                continue
            if [k["digest"] for k in data["kernels"]] != [k["digest"] for k in base["kernels"]]:
                wrong.append(f"{where}: memory differs from the base machine's")
            parts = [("totals", data["totals"], base["totals"])]
            parts += [(f"launch {i}", *both) for i, both in enumerate(zip(data["kernels"], base["kernels"]))]
            for name, part, of_base in parts:
                if part["counters"]["check.wrong"]:
                    wrong.append(f"{where}, {name}: {part['counters']['check.wrong']} wrong values")
                wrong += [f"{where}, {name}: {rule}" for rule in broken_rules(model, part["counters"], of_base["counters"], self.used)]
        return wrong


def words_of(reprise, *command):
    """The first words of a list's lines, up to an empty one."""
    text = subprocess.run([reprise, *command], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in text.partition("\n\n")[0].splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--full", action="store_true", help="every workload, every model, both widths")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="workloads at a time")
    parser.add_argument("workloads", nargs="*", help="these only")
    options = parser.parse_args()
    reprise = os.path.abspath(options.reprise)
    begin = time.monotonic()
    models = [m for m in words_of(reprise, "list", "mechs") if m not in ("base", "wir-rlpv")]  # wir-rlpv is wir by another name
    models += ["affine+wir"] if "affine" in models else []
    others = [m for m in models if m != "wir"]
    names = words_of(reprise, "list", "workloads")[1:]
    wrong = []
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        runner, jobs = Runner(reprise, tmp), []
        for i, name in enumerate(names):
            if options.workloads and name not in options.workloads:
                continue
            chosen = models if options.full else ["wir", others[i % len(others)]]
            jobs += [pool.submit(runner.compare, name, bits, chosen) for bits in (("32", "64") if options.full else ("32",))]
            if name in TIGHT_WORKLOADS:
                jobs.append(pool.submit(runner.compare, name, "32", ["wir"], TIGHT))
        for job in jobs:
            wrong += job.result()
    if not options.workloads:
        wrong += [f"no run looked at the rule of {left} ({when})" for left, _, _, when in RULES if (left, when) not in runner.used]
    print("\n".join(wrong[:40]))
    print(f"{runner.runs} runs of {len(jobs)} workloads with {len(models)} models in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    print(f"{runner.runs - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

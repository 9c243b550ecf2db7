#!/usr/bin/env python3
"""Mechanisms on the workloads: whatever a mechanism does, each launch leaves the memory that the base machine leaves, results are
right, no value it supplied differs from the one computed, and its counters add up. The same holds of memory and results when only
the beginning is timed.

Of a mechanism that only approximates, memory and results are not compared.

Without --full every workload runs with `wir` and with one of the other models, in turn, in 32 bits, and three with every model on
other schedulers; with it, every workload with every model in both widths."""
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

# A machine in which registers are soon used again, values soon have equal hashes, and the verify cache forgets nothing by itself;
# copies of registers take another way.
TIGHT = ("device.sms=2 sm.registers=4096 block.registers=4096 sm.register_unit=32 sm.warp_unit=1 wir.vc_entries=64 wir.hash_bits=4 "
         "wir.bank_copies=true").split()
# Without these, a rule of their mechanisms would not be looked at.
ALSO = {"reduction": "dac"}
TIGHT_WORKLOADS = ("hotspot", "backprop", "lud")
# Schedulers with few warps in their active set: who waits for another warp must not keep it out. And such as take turns.
SCHEDULERS = {"nn": ["issue.policy=two_level", "issue.active=2"], "scan": ["issue.policy=two_level"], "backprop": ["issue.policy=lrr"]}
STACKS = ("affine+wir", "wir+gscalar", "darsie+gscalar", "uv+gscalar", "wir+cmrc", "darsie+cmrc", "uv+cmrc")


class Rules:
    """What mechanisms say must hold of their counters (reprise list rules; struct counter_rule in src/stats/counter.h)."""
    NAME = re.compile(r"sum\((?P<prefix>[a-z0-9_.]+)(?P<sum_base>@base)?\)|(?P<name>\$?[a-z][a-z0-9_.]*)(?P<base>@base)?")

    def __init__(self, reprise):
        text = subprocess.run([reprise, "list", "rules"], capture_output=True, text=True, check=True).stdout
        self.rows = [tuple(line.split("\t")) for line in text.splitlines()]
        self.used = set()

    def mechanism_of(self, model):
        """The mechanism with rules that a name is of: NAME itself, or NAME-VARIANT."""
        names = [row[0] for row in self.rows if model == row[0] or model.startswith(row[0] + "-")]
        return max(names, key=len, default=model)

    @classmethod
    def value(cls, formula, run, base, settings):
        """The value of a formula; names are counters of the run, its parameters, or counters of the base machine's run."""
        def look_up(match):
            counters = base if match["base"] or match["sum_base"] else run
            if match["prefix"]:
                return str(sum(v for name, v in counters.items() if name.startswith(match["prefix"])))
            name = match["name"]
            return str(int(settings[name[1:]]) if name.startswith("$") else counters[name])
        return eval(cls.NAME.sub(look_up, formula))

    def broken(self, model, run, base, settings):
        """Rules of a model's mechanisms that do not hold, with the values of both sides."""
        wrong, stack = [], [self.mechanism_of(name) for name in model.split("+")]
        settings = {**settings, "alone": len(stack) == 1}
        prefixes = {name.partition(".")[0] for name in run}  # models may have names of their own, their counters have not
        stack += [row[0] for row in self.rows if row[0] in prefixes]
        for row in self.rows:
            mechanism, left, relation, right, when = row
            if mechanism not in stack or any(bool(self.value(w.strip().lstrip("!"), run, base, settings)) == ("!" in w)
                                             for w in filter(None, when.split(","))):
                continue
            self.used.add(row)
            sides = [self.value(side, run, base, settings) for side in (left, right)]
            if not {"==": sides[0] == sides[1], "<=": sides[0] <= sides[1], ">=": sides[0] >= sides[1]}[relation]:
                wrong.append(f"{left} {relation} {right}: {sides[0]}, {sides[1]}")
        return wrong

    def never_used(self):
        return [f"no run looked at the rule {' '.join(row)}" for row in self.rows if row not in self.used]


class Runner:
    def __init__(self, reprise, tmp):
        self.reprise, self.tmp, self.rules, self.runs = reprise, tmp, Rules(reprise), 0

    def report(self, workload, bits, model, settings, *more):
        path = os.path.join(self.tmp, f"{workload}.{bits}.{model}.{len(settings)}.{len(more)}.json")
        self.runs += 1
        done = subprocess.run([self.reprise, "run", workload, "--size", "tiny", "--bits", bits, "--gpu", "wir", "--mech", model,
                               *(word for s in settings for word in ("--set", s)), "--check", "--digest", "--check-result", *more, "--json", path],
                              capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-1500:])
        data = json.loads(pathlib.Path(path).read_text())
        os.unlink(path)
        if done.stderr and not data.get("approximate"):
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
            if not data.get("approximate") and [k["digest"] for k in data["kernels"]] != [k["digest"] for k in base["kernels"]]:
                wrong.append(f"{where}: memory differs from the base machine's")
            wrong += self.compare_cut(where, base, workload, bits, model, settings) if not data.get("approximate") else []
            parts = [("totals", data["totals"], base["totals"])]
            parts += [(f"launch {i}", *both) for i, both in enumerate(zip(data["kernels"], base["kernels"]))]
            for name, part, of_base in parts:
                if part["counters"]["check.wrong"]:
                    wrong.append(f"{where}, {name}: {part['counters']['check.wrong']} wrong values")
                broken = self.rules.broken(model, part["counters"], of_base["counters"], data["settings"])
                wrong += [f"{where}, {name}: {rule}" for rule in broken]
        return wrong


    def compare_cut(self, where, base, workload, bits, model, settings):
        """The same, when timing ends somewhere in the middle and the rest runs untimed."""
        cycles = base["totals"]["cycles"] * 2 // 5 + 1
        try:
            data = self.report(workload, bits, model, settings, "--max-cycles", str(cycles))
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            return [f"{where}, {cycles} cycles of it: {problem}"]
        if [k["digest"] for k in data["kernels"]] == [k["digest"] for k in base["kernels"]]:
            return []
        return [f"{where}: with the first {cycles} cycles timed, memory differs from the base machine's"]


def words_of(reprise, *command):
    """The first words of a list's lines, up to an empty one; of workloads, those of a GPU."""
    text = subprocess.run([reprise, *command], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.partition("\n\n")[0].splitlines()]
    return [row[0] for row in rows if "CPU" not in row[2:3]]


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
    models += [stack for stack in STACKS if all(m in models for m in stack.split("+"))]
    others = [m for m in models if m != "wir"]
    names = words_of(reprise, "list", "workloads")[1:]
    wrong = []
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        runner, jobs = Runner(reprise, tmp), []
        for i, name in enumerate(names):
            if options.workloads and name not in options.workloads:
                continue
            chosen = models if options.full else sorted({"wir", others[i % len(others)], ALSO.get(name, "wir")})
            jobs += [pool.submit(runner.compare, name, bits, chosen) for bits in (("32", "64") if options.full else ("32",))]
            if name in TIGHT_WORKLOADS:
                jobs.append(pool.submit(runner.compare, name, "32", ["wir"], TIGHT))
            if name in SCHEDULERS:
                jobs.append(pool.submit(runner.compare, name, "32", models, SCHEDULERS[name]))
        for job in jobs:
            wrong += job.result()
    if not options.workloads:
        wrong += runner.rules.never_used()
    print("\n".join(wrong[:40]))
    print(f"{runner.runs} runs of {len(jobs)} workloads with {len(models)} models in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    print(f"{max(0, runner.runs - len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

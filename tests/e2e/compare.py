#!/usr/bin/env python3
"""reprise compare as users meet it: the table, the files, failures, interruption.

Every check is a function named test_*. Python because it is processes and text.
"""
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import expect, expect_in

COLUMNS = 100
REPRISE = TMP = None  # set by main
PREBUILT = pathlib.Path(__file__).resolve().parent.parent / "programs" / "prebuilt" / "sgemm"
OTHER = "base:latency.alu=40"  # a machine that is slower, but computes the same
TINY = ["--gpu", "wir", "--size", "tiny", "--bits", "32"]


def run(*words, env=None):
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, text=True, timeout=120, env=env)
    return done.returncode, done.stdout, done.stderr


def compare(name, *words):
    """Status, table, JSON text and CSV text of a comparison."""
    files = [os.path.join(TMP, name + suffix) for suffix in (".json", ".csv")]
    rc, out, err = run("compare", "--json", files[0], "--csv", files[1], *words)
    return rc, out, err, *(pathlib.Path(f).read_text() for f in files)


def test_table_and_files():
    rc, out, err, text, table = compare("two", "hotspot", "bfs", "--mech", OTHER, *TINY)
    expect(rc == 0, f"status {rc}: {out}{err}")
    lines = out.splitlines()
    expect(len(lines) == 6, f"a header, four runs and a mean:\n{out}")
    expect(max(map(len, lines)) <= COLUMNS, f"wider than {COLUMNS} columns:\n{out}")
    expect(lines[0].split()[:4] == ["workload", "mech", "cycles", "speedup"], lines[0])
    expect([line.split()[0] for line in lines[1:]] == ["hotspot", OTHER, "bfs", OTHER, "geometric"], out)
    expect(err.splitlines() == [f"[{i + 1}/4] {w} {m}" for i, (w, m) in enumerate(
        (w, m) for w in ("hotspot", "bfs") for m in ("base", OTHER))], err)
    rows = list(csv.DictReader(table.splitlines()))
    data = json.loads(text)
    expect(data["workloads"] == ["hotspot", "bfs"] and data["models"] == ["base", OTHER], "labels")
    speedup = 1
    for row, r in zip(rows, data["runs"], strict=True):
        expect((row["workload"], row["model"], row["status"]) == (r["workload"], r["model"], "ok"), row)
        expect(float(row["cycles"]) == r["totals"]["cycles"] == r["metrics"]["cycles"], row)
        base = next(b for b in data["runs"] if b["workload"] == r["workload"] and b["model"] == "base")
        expect(base["totals"]["digest"] == r["totals"]["digest"] == row["digest"], "digests")
        expect(abs(float(row["speedup"]) * r["totals"]["cycles"] / base["totals"]["cycles"] - 1) < 1e-9, row)
        speedup *= float(row["speedup"])
    expect(0 < speedup < 1, "the slower machine is not slower")
    expect(abs(data["geometric_means"][OTHER]["speedup"] - speedup**0.5) < 1e-9, "geometric mean")


def test_a_mechanism():
    rc, out, err, text, _ = compare("wir", "hotspot", "--mech", "base,wir,wir:wir.rb_entries=32", "--check", *TINY)
    expect(rc == 0, f"status {rc}: {out}{err}")
    data = json.loads(text)
    expect(data["models"] == ["base", "wir", "wir:wir.rb_entries=32"], "base comes first, and once")
    base, wir, less = data["runs"]
    expect((base["mech"], wir["mech"]) == ("base", "wir") and less["settings"]["wir.rb_entries"] == 32, "what ran")
    expect(0 < less["metrics"]["eliminated"] < wir["metrics"]["eliminated"] < 100, "fewer entries, less reuse")
    units = [sum(r["totals"]["counters"]["unit." + u] for u in ("sp", "sfu", "dp", "mem", "tex", "ctrl")) for r in (base, wir)]
    expect(abs(wir["metrics"]["eliminated"] - 100 * (1 - units[1] / units[0])) < 1e-9, "instructions not executed")
    energy = [r["totals"]["energy"]["register_file"] for r in (base, wir)]
    expect(abs(wir["metrics"]["rf_energy_saved"] - 100 * (1 - energy[1] / energy[0])) < 1e-9, "energy of the register file")


def test_best_stacks():
    rc, out, err, text, table = compare("best", "hotspot:seed=7:size=tiny", "--best", "--parts", "--mech", "base:latency.alu=40", *TINY)
    expect(rc == 0, f"status {rc}: {out}{err}")
    expect(max(map(len, out.splitlines())) <= COLUMNS, f"wider than {COLUMNS} columns:\n{out}")
    data = json.loads(text)
    expect({"wir", "darsie", "dac", "gscalar", "cmrc", "wir+gscalar", "base:latency.alu=40"} < set(data["models"]), data["models"])
    shown = out[:out.index("\n\n")].split()
    expect(all(m in shown for m in data["models"]), f"names are cut: {[m for m in data['models'] if m not in shown]}\n{out}")
    runs = {r["model"]: r for r in data["runs"]}
    base = runs["base"]["totals"]
    costs = {m: (r["totals"]["cycles"], r["totals"]["energy"]["total"]) for m, r in runs.items()}
    for key, cost in (("time", lambda c, e: c), ("energy", lambda c, e: e), ("energy_delay", lambda c, e: c * e)):
        order = [p["model"] for p in data["ranking"]["base"][key]]
        expect(sorted(order) == sorted(data["models"]), f"{key}: who is ranked")
        values = [cost(*costs[m]) for m in order]
        expect(values == sorted(values), f"{key}: {order}")
    expect_in("by energy x delay", out)
    row = next(r for r in csv.DictReader(table.splitlines()) if r["model"] == "wir")
    expect(abs(float(row["energy_registers"]) - 100 * sum(runs["wir"]["totals"]["energy"][p] for p in ("register_file", "collectors"))
               / base["energy"]["total"]) < 1e-9, row)
    shares = sum(float(row[c]) for c in row if c.startswith("energy_") and not c.endswith("saved"))
    mechanism = 100 * runs["wir"]["totals"]["energy"].get("mechanism", 0) / base["energy"]["total"]
    whole = 100 * runs["wir"]["totals"]["energy"]["total"] / base["energy"]["total"]
    expect(abs(shares + mechanism - whole) < 1e-6, f"parts sum to the whole: {shares} + {mechanism}, {whole}")


def test_every_model_on_several_gpus():
    rc, out, err, text, _ = compare("gpus", "hotspot", "--mech", "wir,gscalar", "--gpu", "gtx480,wir", "--size", "tiny")
    expect(rc == 0, f"status {rc}: {out}{err}")
    data = json.loads(text)
    expect(data["models"] == [m + ":gpu=" + g for g in ("gtx480", "wir") for m in ("base", "wir", "gscalar")], data["models"])
    runs = {r["model"]: r for r in data["runs"]}
    for g in ("gtx480", "wir"):
        base, wir = runs["base:gpu=" + g], runs["wir:gpu=" + g]
        expect(abs(wir["metrics"]["speedup"] - base["totals"]["cycles"] / wir["totals"]["cycles"]) < 1e-9, "each GPU's own base")
    rc, _, err = run("compare", "hotspot", "--gpu", "gtx480,nothing", "--mech", "wir", "--size", "tiny")
    expect(rc == 2 and "nothing" in err, err)


def test_several_sizes_and_gpus():
    rc, out, err, text, _ = compare("many", "nw", "nw:seed=3:bits=64", "--mech", f"{OTHER},base:gpu=gtx480,base:gpu=gtx480:latency.alu=40", *TINY)
    expect(rc == 0, f"status {rc}: {out}{err}")
    expect(max(map(len, out.splitlines())) <= COLUMNS, f"wider than {COLUMNS} columns:\n{out}")
    data = json.loads(text)
    models = ["base", OTHER, "base:gpu=gtx480", "base:gpu=gtx480:latency.alu=40"]
    expect(data["workloads"] == ["nw", "nw:seed=3:bits=64"] and data["models"] == models, "labels")
    expect(sorted(data["geometric_means"]) == sorted([models[1], models[3]]), "means of what is compared")
    runs = {(r["workload"], r["model"]): r for r in data["runs"]}
    for w in data["workloads"]:
        cycles = [runs[w, m]["totals"]["cycles"] for m in models]
        expect(cycles[0] != cycles[2] and runs[w, models[2]]["gpu"] != runs[w, "base"]["gpu"], "two GPUs")
        for base, other in ((0, 1), (2, 3)):
            expect(abs(runs[w, models[other]]["metrics"]["speedup"] - cycles[base] / cycles[other]) < 1e-9, "each GPU's own base")
    digests = {runs[w, "base"]["totals"]["digest"] for w in data["workloads"]}
    expect(len(digests) == 2, "another seed, another input")


def test_what_is_the_same_runs_once():
    words = ["nw", "nw:size=tiny", "--mech", "base:latency.alu=9", "--set", "latency.alu=9", *TINY]
    rc, out, err, text, _ = compare("same", *words)
    expect(rc == 0 and err.splitlines() == ["[1/1] nw base"], f"status {rc}: {err}")
    expect({r["totals"]["cycles"] for r in json.loads(text)["runs"]} == {json.loads(text)["runs"][0]["totals"]["cycles"]}, text)
    expect(len(json.loads(text)["runs"]) == 4, "every row has the run")


def test_number_of_jobs_changes_nothing():
    one, two = (compare("j", "hotspot", "bfs", "nw", "--mech", OTHER, *TINY, j, "--fresh") for j in ("-j1", "-j2"))
    one, two = ([*c[:3], re.sub(r'"(host|started|wall_s)": [^,\n]*', "", c[3]), c[4]] for c in (one, two))
    expect(one == two, "outputs with -j1 and -j2 differ")


def test_run_times_the_parts_that_compare_times():
    """Of a workload that is timed in part, whatever it is compared with."""
    words = ["bfs", "--gpu", "dac", "--size", "tiny", "--max-insts", "20000"]
    for mechs, options in (("wir", []), ("dac", ["--whole-blocks"])):
        text = compare("parts", *words, "--mech", mechs)[3]
        cycles = {r["model"]: r["totals"]["cycles"] for r in json.loads(text)["runs"]}
        for mech in ("base", mechs):
            rc, out, err = run("run", *words, "--mech", mech, *(options if mech == "base" else []), "--json", f"{TMP}/parts.json")
            expect(rc == 0, err)
            got = json.loads(pathlib.Path(TMP, "parts.json").read_text())["totals"]
            expect(got["timed"] == "part" and got["cycles"] == cycles[mech], f"{mech}: {got['cycles']} cycles, not {cycles[mech]}")


def test_a_program():
    rc, out, err, text, _ = compare("program", "--mech", OTHER, "--gpu", "gtx480", "-j", 2, "--", PREBUILT)
    expect(rc == 0, f"status {rc}: {out}{err}")
    runs = json.loads(text)["runs"]
    expect([r["workload"] for r in runs] == ["sgemm"] * 2 and runs[0]["totals"]["launches"] > 0, runs)
    expect(out.splitlines()[1].startswith("sgemm "), out)


def test_several_programs():
    sgemm = PREBUILT
    odd = pathlib.Path(TMP, "a 'b' <c>\n\"d\"")
    shutil.copy(sgemm, odd)
    programs = ["--program", f"{sgemm} 64", "--program", f"{shlex.quote(str(odd))} '64' \"a b\""]
    rc, out, err, text, _ = compare("programs", "nw", "--mech", OTHER, *TINY, *programs, "--", sgemm)
    expect(rc == 0, f"status {rc}: {out}{err}")
    data = json.loads(text)
    expect(data["workloads"] == ["nw", "sgemm 64", "a 'b' <c> \"d\" 64 a b", "sgemm"], data["workloads"])
    cycles = {(r["workload"], r["model"]): r["metrics"]["cycles"] for r in data["runs"]}
    expect(len(cycles) == 8 and cycles["sgemm 64", OTHER] > cycles["sgemm 64", "base"], cycles)
    expect(cycles["sgemm 64", "base"] == cycles[data["workloads"][2], "base"] != cycles["sgemm", "base"], f"programs got other arguments: {cycles}")
    rc, out, err = run("query", "--json", "-", "SELECT arguments FROM run WHERE NOT workload AND mech = 'base' AND settings = '[]'")
    expect(sorted(json.loads(r["arguments"]) for r in json.loads(out)) == sorted([[str(sgemm)], [str(sgemm), "64"], [str(odd), "64", "a b"]]), out)


def test_programs_that_read():
    """What a program reads decides its run, so that another text is another run."""
    program, text = pathlib.Path(TMP, "reads.sh"), pathlib.Path(TMP, "what it reads.txt")
    program.write_text(f"#!/bin/sh\nread n && exec '{PREBUILT}' $n\n")
    program.chmod(0o755)
    text.write_text("64\n")
    words = ["--mech", "base", "--gpu", "gtx480", "--program"]
    _, _, _, first, _ = compare("reads", *words, f"{program} < '{text}'", "--program", f"{PREBUILT} 64")
    runs = json.loads(first)["runs"]
    expect([r["workload"] for r in runs] == [f"reads.sh < {text}", "sgemm 64"], first)
    expect(runs[0]["totals"]["cycles"] == runs[1]["totals"]["cycles"] > 0, "it reads its file")
    command = json.loads(run("query", "--json", "-", "SELECT command FROM run WHERE benchmark LIKE 'reads%'")[1])[0]["command"]
    again = subprocess.run(command.replace("reprise", shlex.quote(REPRISE), 1), shell=True, capture_output=True, text=True)
    expect(again.returncode == 0 and "sgemm OK" in again.stdout, f"{command}: {again}")
    text.write_text("128\n")
    rc, out, err = run("compare", *words[:-1], "--input", text, "--", program)
    expect(rc == 0 and "[1/1] reads.sh base" in err, f"another text, another run: {out}{err}")
    rc, out, err = run("compare", *words, program)
    expect(rc == 1 and "ended with status 1" in out, f"without one there is nothing to read: {out}")
    program.write_text(f"#!/bin/sh\n'{PREBUILT}' 0\nexit 0\n")
    rc, out, err = run("compare", *words, program)
    expect("reads.sh launched no kernel: there is nothing to compare.\nIts standard input was empty" in out, out)
    program.write_text("#!/bin/sh\necho done\n")
    rc, out, err = run("compare", *words, program)
    expect(rc == 1 and "ended well, but used no GPU: there is nothing to measure\n    done\n" in out, out)


def test_failures_are_named_and_the_others_go_on():
    few = "base:block.x=64"  # enough for nw's blocks, not for those of bfs
    rc, out, err, text, _ = compare("fail", "bfs", "nw", "--mech", few, *TINY)
    expect(rc == 1, f"status {rc}: {out}")
    states = [(r["workload"], r["model"], r["status"]) for r in json.loads(text)["runs"]]
    expect(states == [("bfs", "base", "ok"), ("bfs", few, "failed"), ("nw", "base", "ok"), ("nw", few, "ok")], states)
    expect_in(f"bfs, {few}: FAILED\n    ended with status", out)
    expect_in(f"bfs {few}: failed", err)


def test_mistakes_get_suggestions():
    for words, said, status in (
        (["hotspto", "--mech", "base"], "there is no workload or suite 'hotspto'; did you mean 'hotspot'?", 2),
        (["wir43", "--mech", "base"], "there is no workload or suite 'wir43'; did you mean 'wir34'?", 2),
        (["hotspot", "--mec", "base"], "unknown option --mec; did you mean --mech?", 2),
        (["hotspot", "--siz", "tiny"], "unknown option --siz; did you mean --size?", 2),
        (["hotspot", "--size", "huge"], "--size takes tiny, small, medium or large, not huge", 2),
        (["hotspot", "-j", "0"], "-j takes a number of runs, 1 or more, not 0", 2),
        (["hotspot", "--mech"], "a value is needed after --mech", 2),
        (["hotspot"], "which mechanisms?", 2),
        (["--mech", "base"], "which workloads?", 2),
        (["nw", "--mech", "base", "--"], "which program? It stands after --", 2),
        (["nw", "--mech", "base", "--", "./nw"], "there is something of that name already: ./nw", 2),
        (["--program", "./a 1", "--program", "b/a  1", "--mech", "base"], "there is something of that name already: b/a  1", 2),
        (["--program", "./a < nowhere.txt", "--mech", "base"], "nowhere.txt, the input of 'a < nowhere.txt', cannot be read: No such file", 2),
        (["nw", "--input", "a", "--mech", "base"], "--input is for a program after --", 2),
        (["--program", "./a 'b", "--mech", "base"], "--program takes 'PROGRAM ARGUMENT... [< FILE]', not ./a 'b", 2),
        (["--program", "./a", "--result", "k:0:f32", "--program", "./b", "--mech", "lnl"], "which are the results of b", 2),
        (["nw", "--mech", "base", "--result", "k:0:f32"], "workloads declare their results", 2),
        (["hotspot", "--mech", "sm.warps=3"], "a model is MECH, MECH:PATH=VALUE or MECH:PROBE, not 'sm.warps=3'", 2),
        (["hotspot:size=huge", "--mech", "base"], "a benchmark is NAME[:size=S][:bits=B]", 2),
        (["hotspot", "--mech", "wri"], "there is no mechanism 'wri'", 2),
        (["hotspot", "--mech", "wir+wir-r"], "cannot be stacked", 2),
        (["hotspot", "--mech", "base:sm.wraps=3"], "did you mean 'sm.warps'?", 2),
        (["hotspot", "--mech", "base:repaet"], "there is no probe 'repaet'; known are ", 2),
    ):
        rc, out, err = run("compare", *words)
        expect(rc == status and not out, f"{words}: status {rc}, stdout {out!r}")
        expect_in(said, err)
    rc, out, err = run("compare", "nw", "--mech", "base", *TINY, "--csv", "/nonexistent/x.csv")
    expect(rc == 1 and "/nonexistent/x.csv cannot be written: No such file" in err, err)
    rc, out, _ = run("compare", "--help")
    expect(rc == 0 and max(map(len, out.splitlines())) <= COLUMNS, "help")


def test_suites():
    rc, out, _ = run("list", "suites")
    expect(rc == 0 and max(map(len, out.splitlines())) <= COLUMNS, out)
    for line in out.splitlines():
        name, count = line.split()[:2]
        digits = "".join(c for c in name if c.isdigit())
        expect(not digits or digits == count, f"a suite's name says {digits}, it has {count}")


def test_what_was_finished_is_not_done_again():
    first = compare("kept", "hotspot", "nw", "--mech", "wir", *TINY)
    again = compare("kept", "nw", "hotspot", "--mech", "wir", *TINY)
    expect(first[0] == again[0] == 0 and len(first[2].splitlines()) == 4 and again[2] == "", f"ran again: {again[2]}")
    by_name = [{(r["workload"], r["model"]): r for r in json.loads(c[3])["runs"]} for c in (first, again)]
    expect(by_name[0] == by_name[1], "what is found is what was run")
    rc, out, err, text, _ = compare("kept", "nw", "--mech", "wir,wir:wir.rb_entries=32", *TINY)
    expect(rc == 0 and err.splitlines() == ["[1/1] nw wir:wir.rb_entries=32"], f"only what is new: {err}")
    expect(len(compare("kept", "nw", "--mech", "wir", *TINY, "--fresh")[2].splitlines()) == 2, "--fresh runs all")
    store = os.environ["REPRISE_STORE"]
    os.environ["REPRISE_STORE"] = f"{TMP}/elsewhere"
    expect(len(compare("kept", "nw", "--mech", "base", *TINY)[2].splitlines()) == 1, "another store")
    expect(compare("kept", "nw", "--mech", "base", *TINY, "--store", store)[2] == "", "--store comes before the variable")


def test_without_a_store_runs_are_made_all_the_same():
    env = dict(os.environ, REPRISE_STORE="/proc/nowhere", TMPDIR=f"{TMP}/tmp")
    os.makedirs(f"{TMP}/tmp", exist_ok=True)
    rc, out, err = run("compare", "nw", "--mech", "base", *TINY, env=env)
    expect(rc == 0 and "no store can be had at /proc/nowhere: runs are not kept" in err, f"status {rc}: {err}")
    expect(not os.listdir(f"{TMP}/tmp"), "temporary files are left")
    rc, out, err = run("compare", "nw", "--mech", "base", *TINY, "--store", "/proc/nowhere")
    expect(rc == 1 and not out and "/proc/nowhere" in err, f"what was asked for cannot be had: {rc}, {err}")


def test_interruption_keeps_what_was_finished():
    files = [os.path.join(TMP, "stopped" + suffix) for suffix in (".json", ".csv")]
    parts = pathlib.Path(os.environ["REPRISE_STORE"], "parts")
    p = subprocess.Popen([REPRISE, "compare", "nw", "streamcluster", "--mech", "base", "--gpu", "wir", "--size", "large", "-j1",
                          "--json", files[0], "--csv", files[1]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child = []
    while not child and p.poll() is None:  # until the run has begun
        time.sleep(0.05)
        child = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=20)
    expect(p.returncode == 130, f"status {p.returncode}")
    expect_in("stopped: this is what was finished", out)
    expect(child and not any(pathlib.Path(f"/proc/{c}").exists() for c in child), f"children are still there: {child}")
    expect(parts.is_dir() and not list(parts.iterdir()), "parts of runs are left")
    expect([r["status"] for r in json.loads(pathlib.Path(files[0]).read_text())["runs"]] == ["missing"] * 2, "JSON")
    expect(len(pathlib.Path(files[1]).read_text().splitlines()) == 3, "CSV")


if __name__ == "__main__":
    sys.exit(harness.main(globals()))

#!/usr/bin/env python3
"""reprise sweep and query as users meet them: files, resuming, kills at random moments, two at once, odd names, failures.

Every check is a function named test_*. Python because it is processes and text. --kills N: how often a sweep is killed.
"""
import contextlib
import csv
import io
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import harness
from harness import expect, expect_in

REPRISE = TMP = None  # set by main
KILLS = 12
MANIFEST = ("host", "started", "wall_s", "peak_rss_mb", "id", "machine")  # differ from run to run
PREBUILT = pathlib.Path(__file__).resolve().parent.parent / "programs" / "prebuilt" / "sgemm"
PARTS = f"SELECT key, {', '.join(f'(SELECT count(*) FROM {t} WHERE run = id)' for t in ('value', 'kernel', 'kernel_value'))} FROM run"
SMALL = """
workloads: [nw, hotspot]
sizes: [tiny]
bits: [32]
gpus: [wir]
mechanisms: [wir]
parameters:
  latency.alu: [18, 11]
"""


def run(*words, **more):
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, text=True, timeout=300, **more)
    return done.returncode, done.stdout, done.stderr


def file(text, name="sweep.yaml"):
    path = pathlib.Path(TMP, name)
    path.write_text(text)
    return path


def ask(sql, store=None):
    """Rows of a question to a store."""
    with contextlib.closing(sqlite3.connect(f"{store or os.environ['REPRISE_STORE']}/runs.db", timeout=60)) as db:
        return db.execute(sql).fetchall()


def rows(store=None):
    """All that a store knows of its runs, but for what differs from run to run."""
    names = [r[1] for r in ask("PRAGMA table_info(run)", store) if r[1] not in MANIFEST]
    return (ask(f"SELECT {', '.join(names)} FROM run ORDER BY key", store),
            ask("SELECT key, part, name, unit, value FROM tidy ORDER BY key, part, name", store),
            ask("SELECT key, number, part, name, unit, value FROM tidy_kernels ORDER BY key, number, part, name", store),
            ask("SELECT key, number, name, grid, block, cycles, insts, energy, kernel.digest FROM kernel JOIN run ON run = id ORDER BY key, number", store),
            ask("SELECT a.key, b.key, verdict FROM comparison JOIN run a ON a.id = run JOIN run b ON b.id = base ORDER BY 1, 2", store))


def expect_whole(store, values):
    """Nothing is there in halves: every run has as many values as it should."""
    expect(ask("PRAGMA integrity_check", store) == [("ok",)], "the database is damaged")
    for key, *n in ask(PARTS, store):
        expect(n == values[key], f"{key} has {n} values, launches and values of launches, not {values[key]}")
    expect(ask("SELECT count(*) FROM value WHERE run NOT IN (SELECT id FROM run)", store) == [(0,)], "values without a run")


def test_a_sweep():
    path = file(SMALL)
    rc, out, err = run("sweep", path, "--dry-run")
    expect(rc == 0 and "sweep: 2 benchmarks on 4 machines, 8 runs, of which 0 are finished." in out, f"{rc}: {out}{err}")
    expect_in("How long the other 8 will take nobody can tell", out)
    rc, out, err = run("sweep", path)
    expect(rc == 0 and len(err.splitlines()) == 8 and out.endswith("sweep: 8 of 8 runs finished.\n"), f"{rc}: {out}{err}")
    expect(len(ask("SELECT * FROM run")) == 8 and ask("SELECT DISTINCT verdict FROM comparison") == [("ok",)], "rows")
    expect(ask("SELECT count(*) FROM comparison") == [(4,)], "each machine is compared with the base of its settings")
    rc, out, err = run("sweep", path)
    expect(rc == 0 and err == "" and out == "sweep: 8 of 8 runs finished.\n", f"{rc}: {out}{err}")
    file(SMALL.replace("11]", "11, 7]"))
    rc, out, err = run("sweep", path, "--dry-run")
    expect(rc == 0 and "12 runs, of which 8 are finished.\nThe other 4 will take about " in out, out)
    rc, out, err = run("sweep", "status", path)
    expect(rc == 0 and out == "sweep: 8 of 12 runs finished.\n", out)
    rc, out, err = run("sweep", path, "-j1")
    expect(rc == 0 and len(err.splitlines()) == 4, f"only what is new: {err}")
    rc, out, err = run("compare", "nw", "--mech", "wir:latency.alu=7", "--set", "latency.alu=7", "--gpu", "wir", "--bits", "32", "--size", "tiny")
    expect(rc == 0 and err == "", f"compare finds what a sweep has done: {err}")


def test_dimensions():
    rc, out, err = run("sweep", file("""
name: all of it
workloads: [nw, 'hotspot:size=small']
sizes: [tiny, small]
seeds: [1, 2, 3]
gpus: [wir, gtx480]
mechanisms:
  - base
  - wir
  - {mech: wir, parameters: {wir.rb_entries: [16, 32]}}
parameters: {latency.alu: [9, 18], sm.warps: 48}
"""), "--dry-run")
    # nw: 2 sizes, 3 seeds; hotspot: 3 seeds. 2 GPUs, 2 latencies, base, wir and two sizes of wir.
    expect(rc == 0 and "all of it: 9 benchmarks on 16 machines, 144 runs, of which 0 are finished." in out, f"{out}{err}")
    rc, out, err = run("sweep", file("workloads: [nw]\nsizes: [tiny, small]\ngpus: [wir, gtx480]"), "--dry-run", "--size", "tiny", "--gpu", "gtx480")
    expect(rc == 0 and "1 benchmark on 1 machine, 1 run, of" in out, f"options come before the file: {out}{err}")


def test_mistakes_say_where():
    for text, said in (
        ("workloads: [nw]\nmechanism: [wir]\n", "sweep.yaml:2:1: error: there is no 'mechanism' here; did you mean 'mechanisms'?"),
        ("workloads: [nw]\nhow: [wir]\n", "sweep.yaml:2:1: error: there is no 'how' here; known are name, workloads, programs, "),
        ("workloads: [hotspto]\n", "there is no workload or suite 'hotspto'; did you mean 'hotspot'?"),
        ("workloads: [nw]\nmechanisms: [wri]\n", "there is no mechanism 'wri'"),
        ("workloads: [nw]\nparameters: {sm.wraps: 3}\n", "did you mean 'sm.warps'?"),
        ("workloads: [nw]\nparameters: 7\n", "sweep.yaml:2:13: error: parameters are paths with their values"),
        ("workloads: [nw\n", "sweep.yaml:2:1: error: not valid YAML"),
        ("mechanisms: [wir]\n", "nothing is to run"),
        ("", "the file is empty"),
        ("workloads: [[nw]]\n", "sweep.yaml:1:13: error: a workload is one value here"),
        ("workloads: [nw]\nsizes: [huge]\n", "this is no benchmark"),
        ("programs: [[a, b], [a, b]]\n", "there is a program 'a b' already"),
        ("programs: ls\n", "programs is a list of command lines"),
        ("programs: [[]]\n", "sweep.yaml:1:12: error: a program is a list of words, or one text"),
        ("programs: [{name: x}]\n", "which program? command: says that"),
        ("programs: [\"a 'b\"]\n", "there is no program, a quote is not closed"),
        ("programs: [a b, [a, b]]\n", "there is a program 'a b' already"),
        ("workloads: [nw]\nslurm: {per_task: many}\n", "per_task is a whole number"),
    ):
        rc, out, err = run("sweep", file(text))
        expect(rc == 2 and not out, f"{text!r}: status {rc}, stdout {out!r}")
        expect_in(said, err)
    for words, said in (
        (["--launcher", "cloud", "x"], "--launcher takes local or slurm, not cloud"),
        ([], "which file?"),
        (["a", "b"], "one file at a time, not also b"),
        (["x", "--dryrun"], "unknown option --dryrun; did you mean --dry-run?"),
        (["x", "--no-wait"], "--no-wait is for --launcher slurm"),
    ):
        rc, out, err = run("sweep", *words)
        expect(rc == 2 and said in err, f"{words}: {rc}, {err}")
    rc, _, err = run("sweep", f"{TMP}/nowhere.yaml")
    expect(rc == 2 and "nowhere.yaml" in err, err)
    for command in ("sweep", "query"):
        rc, out, _ = run(command, "--help")
        expect(rc == 0 and max(map(len, out.splitlines())) <= 100, out)


def test_failures_come_with_what_repeats_them():
    path = file("workloads: [bfs, nw]\nsizes: tiny\nbits: 32\ngpus: [wir]\nparameters: {block.x: [1024, 64]}\n")  # bfs has blocks of 256
    for attempt in (1, 2):
        rc, out, err = run("sweep", path)
        expect(rc == 1 and "sweep: 3 of 4 runs finished, 1 failed." in out, f"{rc}: {out}{err}")
        expect(len(err.splitlines()) == (4 if attempt == 1 else 1), f"only what failed is tried again: {err}")
        expect_in("bfs:size=tiny:bits=32 base:block.x=64: FAILED\n    ended with status", out)
        command = next(line for line in out.splitlines() if "to repeat it: " in line).split(": ", 1)[1]
        expect(ask("SELECT attempts, command FROM failure") == [(attempt, command)], "the store knows")
    words = shlex.split(command)
    expect(words[0] == "reprise", command)
    done = subprocess.run([REPRISE, *words[1:]], capture_output=True, text=True, timeout=60)
    expect(done.returncode not in (0, 2), f"{command}: status {done.returncode}, {done.stderr}")
    rc, out, _ = run("query", "--failures", "--json", "-")
    expect([r["command"] for r in json.loads(out)] == [command], out)


def test_odd_names_of_programs():
    folder = pathlib.Path(TMP, "a 'b' <c>\n\"d\" $e \u00e9")
    folder.mkdir()
    program = folder / "s'ge<m>m & \"x\"\n%s %d"
    shutil.copy(PREBUILT, program)
    store = str(folder / "store %a \u00e9\n'")
    text = json.dumps({"gpus": ["gtx480"], "programs": [[str(program), "64\nline"], {"name": "<second>\n'x'", "command": shlex.quote(str(program))}]})
    rc, out, err = run("sweep", file(text, "odd 'name' <y>.yaml"), "--store", store)
    expect(rc == 0 and out.endswith("odd 'name' <y>: 2 of 2 runs finished.\n"), f"{rc}: {out}{err}")
    expect(len(err.splitlines()) == 2, f"one line for each: {err}")
    found = ask("SELECT benchmark, arguments, command FROM run ORDER BY id", store)
    expect(sorted(json.loads(f[1]) for f in found) == sorted([[str(program), "64\nline"], [str(program)]]), found)
    expect({f[0] for f in found} == {"s'ge<m>m & \"x\" %s %d 64 line", "<second> 'x'"}, found)
    for benchmark, _, command in found:
        inner = command.replace("reprise run", f"{shlex.quote(REPRISE)} run --functional", 1)
        expect(subprocess.run(["sh", "-c", inner], capture_output=True, timeout=60).returncode == 0, f"{command} does not repeat it")
    rc, out, err = run("query", "--store", store)
    expect(rc == 0 and len(out.splitlines()) == 5 and out.startswith("all: gpu gtx480, mech base\n\n"), out)
    rc, out, _ = run("query", "--store", store, "--csv", "-", "--benchmark", "<second> 'x'")
    expect(rc == 0 and [r["benchmark"] for r in csv.DictReader(io.StringIO(out))] == ["<second> 'x'"], out)
    rc, out, err = run("compare", "--mech", "base", "--gpu", "gtx480", "--store", store, "--", program)
    expect(rc == 0 and err == "", f"compare finds it by what it is, not by its name: {rc}, {err}")


def test_programs_that_read():
    program = file("#!/bin/sh\nread n && exec '%s' $n\n" % PREBUILT, "reads.sh")
    program.chmod(0o755)
    numbers = [file("128\n", "a <b>.txt"), file("64\n", "c.txt")]
    path = file(f"gpus: gtx480\nprograms:\n  - {{command: ['{program}'], input: '{numbers[0]}'}}\n  - {program} < {numbers[1]}\n")
    rc, out, err = run("sweep", path)
    expect(rc == 0 and "2 of 2 runs finished." in out, f"{out}{err}")
    names = [r[0] for r in ask("SELECT benchmark FROM runs WHERE cycles > 0 ORDER BY cycles DESC")]
    expect(names == [f"reads.sh < {n}" for n in numbers], names)
    rc, out, err = run("sweep", file(f"programs: [{{command: '{program} < a', input: b}}]"))
    expect(rc == 2 and "the command says already what the program reads" in err, err)


def test_kills_at_random_moments():
    path = file(SMALL)
    whole, store = f"{TMP}/whole", f"{TMP}/killed"
    rc, out, err = run("sweep", path, "--store", whole)
    expect(rc == 0, f"{rc}: {out}{err}")
    values = {key: n for key, *n in ask(PARTS, whole)}
    moments = random.Random(7)
    finished = 0
    for i in range(KILLS):
        # In turn: go on where it was, do all again, begin anew.
        if i % 6 == 5:
            shutil.rmtree(store, ignore_errors=True)
            finished = 0
        fresh = ["--fresh"] if i % 3 == 1 else []
        p = subprocess.Popen([REPRISE, "sweep", path, "--store", store, *fresh], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.02, 1.5))
        p.send_signal(moments.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        p.wait(timeout=30)
        if os.path.exists(f"{store}/runs.db") and ask("SELECT name FROM sqlite_master WHERE name = 'run'", store):
            expect_whole(store, values)
            now = len(ask("SELECT id FROM run", store))
            expect(now >= finished, f"kill {i}: {finished} runs were finished, {now} are left")
            finished = now
    rc, out, err = run("sweep", path, "--store", store)
    expect(rc == 0 and out.endswith("8 of 8 runs finished.\n"), f"{rc}: {out}{err}")
    expect(len(err.splitlines()) == 8 - finished, f"{finished} were finished, and ran: {err}")
    expect(rows(store) == rows(whole), "a killed sweep gives the rows of one that was not")
    expect(os.listdir(f"{store}/parts") == [] and os.listdir(f"{store}/spool") == [], "something is left")


def test_two_at_once_share_the_work():
    path = file(SMALL)
    whole, store = f"{TMP}/one", f"{TMP}/two"
    rc, out, err = run("sweep", path, "--store", whole)
    expect(rc == 0, f"{rc}: {out}{err}")
    both = [subprocess.Popen([REPRISE, "sweep", path, "--store", store, "-j1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    outs = [p.communicate(timeout=120) for p in both]
    expect(all(p.returncode == 0 for p in both), outs)
    expect(all(o[0].endswith("8 of 8 runs finished.\n") for o in outs), outs)
    expect(rows(store) == rows(whole), "two give the rows of one")
    expect(ask("SELECT max(id) FROM run", store) == [(8,)], "a run was done twice")


def test_a_full_disk():
    path = file(SMALL.replace("11]", "11, 7, 6, 5]").replace("nw, ", ""))
    store = f"{TMP}/full"
    expect(run("sweep", file("workloads: [nw]\nsizes: tiny\nbits: 32\ngpus: wir", "first.yaml"), "--store", store)[0] == 0, "the first run")
    limit = os.path.getsize(f"{store}/runs.db") + 20000

    def full():  # files end where the disk does
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    rc, out, err = run("sweep", path, "--store", store, preexec_fn=full)
    expect(rc == 1 and "this run will not be kept" in err, f"{rc}: {out}{err}")
    n = len(ask("SELECT id FROM run", store))
    expect(0 < n < 11 and ask("PRAGMA integrity_check", store) == [("ok",)], f"{n} runs")
    expect(f": {n - 1} of 10 runs finished" in out or f": {n} of 10 runs finished" in out, out)
    rc, out, err = run("sweep", path, "--store", store)
    expect(rc == 0 and out.endswith("10 of 10 runs finished.\n"), f"with room again it goes on: {rc}: {out}{err}")


def test_stores_that_cannot_be_used():
    path = file(SMALL)
    rc, out, err = run("query", "--store", f"{TMP}/nowhere")
    expect(rc == 1 and "there is no store at" in err, err)
    expect(run("sweep", path, "--dry-run", "--store", f"{TMP}/newer")[0] == 0, "a new one")
    with contextlib.closing(sqlite3.connect(f"{TMP}/newer/runs.db")) as db:
        db.execute("PRAGMA user_version = 12")
    for words in (["sweep", path], ["query"], ["compare", "nw", "--mech", "base", "--size", "tiny"]):
        rc, out, err = run(*words, "--store", f"{TMP}/newer")
        expect(rc == 1 and "has format 12, and this version of Reprise knows up to" in err and "--store" in err, f"{words}: {rc}, {err}")


def test_questions():
    expect(run("compare", "nw", "hotspot", "--mech", "wir", "--gpu", "wir", "--bits", "32", "--size", "tiny")[0] == 0, "runs")
    rc, out, _ = run("query", "--mech", "wir", "--mech", "base", "--benchmark", "nw", "--counter", "insts.int", "--counter", "energy.dram", "--csv", "-")
    table = list(csv.DictReader(io.StringIO(out)))
    expect(rc == 0 and [r["mech"] for r in table] == ["base", "wir"] and all(int(r["insts.int"]) > 0 < float(r["energy.dram"]) for r in table), out)
    rc, out, _ = run("query", "--benchmark", "nw", "--mech", "base", "--tidy", "--json", f"{TMP}/tidy.json")
    tidy = json.loads(pathlib.Path(TMP, "tidy.json").read_text())
    expect(rc == 0 and not out and {(t["part"], t["name"]): t["unit"] for t in tidy}["energy", "dram"] == "J", "tidy")
    expect(all(t["unit"] for t in tidy), f"without a unit: {[t for t in tidy if not t['unit']]}")
    rc, out, _ = run("query", "SELECT benchmark, count(*) AS n FROM runs GROUP BY 1 ORDER BY 1")
    expect(rc == 0 and out == "benchmark  n\nhotspot    2\nnw         2\n", repr(out))
    rc, out, _ = run("query", f"SELECT 'ab' AS short, '{'é' * 120}' AS long, 7 AS n, '{'y' * 150}' AS last")
    expect(rc == 0 and out.splitlines()[1:] == ["ab     " + "é" * 90 + "  7  " + "y" * 150, "       " + "é" * 30], repr(out))
    rc, out, _ = run("query")
    expect(rc == 0 and out.startswith("all: size tiny, bits 32, gpu wir\n\nbenchmark  mech ") and "seed" not in out and len(out.splitlines()) == 7, out)
    rc, out, _ = run("query", "--benchmark", "nw", "--mech", "wir")
    expect(rc == 0 and out.startswith("benchmark  size") and len(out.splitlines()) == 2, f"one run is shown as it is: {out}")
    rc, out, _ = run("query", "--benchmark", "nw")
    expect(rc == 0 and out.startswith("all: benchmark nw, size tiny, bits 32, gpu wir\n\nmech ") and len(out.splitlines()) == 5, out)
    rc, out, _ = run("query", "--benchmark", "nothing")
    expect(rc == 0 and out == "nothing was found\n", out)
    launches = {b: n for b, n in ask("SELECT benchmark, count(*) FROM kernels WHERE mech = 'wir' GROUP BY 1")}
    rc, out, _ = run("query", "--kernels", "--mech", "wir", "--counter", "insts.int", "--counter", "wir.reused", "--json", "-")
    table = json.loads(out)
    expect(rc == 0 and {b: sum(r["benchmark"] == b for r in table) for b in launches} == launches and launches["nw"] > 2, f"{launches}: {out}")
    for name in ("insts.int", "wir.reused", "cycles", "insts"):
        total = "warp_insts" if name == "insts" else name
        for b, value in ask(f"SELECT benchmark, value FROM tidy WHERE mech = 'wir' AND name = '{total}'"):
            expect(sum(r[name] for r in table if r["benchmark"] == b) == value > 0, f"{name} of the launches of {b} is not {value}")
    rc, out, _ = run("query", "--kernels", "--tidy", "--benchmark", "nw", "--mech", "base", "--csv", "-")
    tidy = list(csv.DictReader(io.StringIO(out)))
    expect(rc == 0 and all(t["unit"] and t["kernel"] for t in tidy) and len({t["number"] for t in tidy}) == launches["nw"], "tidy launches")
    rc, out, _ = run("query", "--sql", f"{TMP}/out.sql")
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(pathlib.Path(TMP, "out.sql").read_text())
        expect(db.execute("SELECT count(*), sum(cycles) FROM result").fetchone() == ask("SELECT count(*), sum(cycles) FROM runs")[0], "SQL")
    for words, said in (
        (["DELETE FROM run"], "that is not one question"),
        (["SELECT 1; SELECT 2"], "that is not one question"),
        (["SELECT a FROM nowhere"], "no such table"),
        (["--counter", "insts.itn"], "no run has a counter 'insts.itn'; did you mean 'insts.int'?"),
    ):
        rc, out, err = run("query", *words)
        expect(rc == 1 and not out and said in err, f"{words}: {rc}, {out}{err}")
    for words, said in ((["--mehc", "wir"], "did you mean --mech?"), (["--mech"], "a value is needed after --mech"), (["SELECT 1", "--mech", "x"], "chooses rows by itself")):
        rc, out, err = run("query", *words)
        expect(rc == 2 and said in err, f"{words}: {rc}, {err}")
    rc, _, err = run("query", "--csv", "/dev/full")
    expect(rc == 1 and "No space left" in err, err)


def test_long_settings_are_whole():
    settings = ("latency.alu=11", "latency.sfu=23", "rf.collectors=12", "wir.rb_entries=512", "latency.shared=25")
    model = ":".join(("wir",) + settings)
    rc, out, err = run("compare", "nw", "hotspot", "--mech", model, "--gpu", "wir", "--size", "tiny")
    expect(rc == 0, f"{rc}: {err}")
    rc, out, _ = run("query")
    lines = out.splitlines()
    expect(rc == 0 and "~" not in out and max(map(len, lines)) <= 100 and out.startswith("all: size tiny, bits 64, gpu wir\n"), out)
    at = lines[2].index("settings")
    joined = "".join(line[at:at + 46].split("  ")[0] for line in lines[3:])
    expect(joined.count(json.dumps(list(settings), separators=(",", ":"))) == 2, f"settings are not whole: {out}")


def test_a_hundred_thousand_rows():
    store = f"{TMP}/large"
    rc, out, err = run("compare", "nw", "--mech", "wir", "--gpu", "wir", "--bits", "32", "--size", "tiny", "--store", store)
    expect(rc == 0, err)
    with contextlib.closing(sqlite3.connect(f"{store}/runs.db")) as db:
        names = [r[1] for r in db.execute("PRAGMA table_info(run)") if r[1] not in ("id", "key", "benchmark")]
        db.execute(f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO run(key, benchmark, {', '.join(names)})
            SELECT printf('%016x', i * 7919), 'b' || (i % 500), {', '.join(names)} FROM n, run WHERE id = 1""")
        db.execute("INSERT INTO value SELECT run.id, counter, value FROM run JOIN value ON value.run = 1 WHERE run.id > 2 AND counter <= 40")
        db.commit()
    for words, lines in ((["--benchmark", "b77", "--counter", "insts.int"], 203), (["SELECT count(*) FROM run"], 2)):
        began = time.monotonic()
        rc, out, err = run("query", *words, "--store", store)
        seconds = time.monotonic() - began
        expect(rc == 0 and len(out.splitlines()) == lines and seconds < 3, f"{words}: {rc}, {len(out.splitlines())} lines in {seconds:.1f} s")
    began = time.monotonic()
    rc, out, err = run("compare", "nw", "--mech", "wir", "--gpu", "wir", "--bits", "32", "--size", "tiny", "--store", store)
    expect(rc == 0 and err == "" and time.monotonic() - began < 5, f"found in {time.monotonic() - began:.1f} s: {err}")
    began = time.monotonic()
    rc, out, err = run("query", "--csv", f"{TMP}/all.csv", "--store", store)
    expect(rc == 0 and time.monotonic() - began < 20, f"everything in {time.monotonic() - began:.1f} s")
    expect(len(pathlib.Path(TMP, "all.csv").read_text().splitlines()) == 100003, "lines")


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    sys.exit(harness.main(globals()))

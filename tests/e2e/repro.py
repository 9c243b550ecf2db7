#!/usr/bin/env python3
"""reprise repro as users meet it: a figure on two workloads, what is kept, mistakes.

Every check is a function named test_*. Python because it is processes and text.
"""
import contextlib
import csv
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

import harness
from harness import expect, expect_in

COLUMNS = 100
REPRISE = TMP = None  # set by main
TWO = ["--workloads", "hotspot,nw", "--size", "tiny"]


def run(*words):
    done = subprocess.run([REPRISE, "repro", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def table(*parts):
    return list(csv.DictReader(pathlib.Path(TMP, *parts).read_text().splitlines()))


def test_a_figure():
    rc, out, err = run("wir", "mix", *TWO, "--out", f"{TMP}/one")
    expect(rc == 0 and err.splitlines() == ["[1/2] hotspot Base", "[2/2] nw Base"], f"status {rc}: {err}")
    expect(max(map(len, out.splitlines())) <= COLUMNS, f"wider than {COLUMNS} columns:\n{out}")
    rows = table("one", "wir-mix.csv")
    expect([(r["benchmark"], r["workload"]) for r in rows] == [("HS", "hotspot"), ("NW", "nw"), ("mean", "")], rows)
    values = [float(r["fp"]) for r in rows]
    expect(5 < values[0] < 50 and values[1] == 0 and abs(values[2] - values[0] / 2) < 1e-9, values)
    claims = {r["claim"]: r for r in table("one", "wir-claims.csv")}
    expect(len(claims) == 34, f"{len(claims)} claims")
    hs = claims["wir.workload.fp_share.HS"]
    expect(hs["paper"] == "17.6" and float(hs["ours"]) == values[0], hs)
    expect(abs(float(hs["differs by %"]) - 100 * (values[0] / 17.6 - 1)) < 1e-9, hs)
    expect(claims["wir.workload.fp_share.NW"]["verdict"] == "not compared", "0 is 0, but of another size")
    expect(out.startswith("2 of the paper's benchmarks, tiny, on wir."), out)
    expect("0 agree within a third, 0 hold as bounds, 0 differ by more, 32 not measured,\n2 not compared." in out, out)
    expect(claims["wir.workload.fp_share.SF"]["verdict"] == "not measured", "a workload that did not run")
    expect_in("wir.workload.fp_share.HS", out)


def test_figures_as_json():
    rc, out, err = run("wir", "20", "12", *TWO, "--out", f"{TMP}/json")
    expect(rc == 0, f"status {rc}: {err}")
    paper = json.loads(pathlib.Path(TMP, "json", "wir.json").read_text())
    expect(paper["paper"] == "wir" and paper["ran"] == "2 of the paper's benchmarks, tiny, on wir.\n", paper["ran"])
    expect([b["name"] for b in paper["benchmarks"]] == ["HS", "NW"], paper["benchmarks"])
    figures = {f["id"]: f for f in paper["figures"]}
    expect(list(figures) == ["20", "12"], list(figures))
    expect([c["kind"] for c in figures["20"]["charts"]] == ["line"] and figures["20"]["charts"][0]["columns"][0] == "16", figures["20"]["charts"])
    rows = table("json", "wir-12.csv")
    for column in figures["12"]["columns"]:
        expect(column["values"] + [column["average"]] == [float(r[column["name"]]) for r in rows], column)
    claims = {r["claim"]: r for r in table("json", "wir-claims.csv")}
    for claim in figures["12"]["claims"]:
        row = claims[claim["id"]]
        expect((claim["ours"], claim["verdict"]) == (float(row["ours"]), row["verdict"]), claim)
    expect({"id": "wir.profile.window", "reason": "the definition of Figure 2, not a result"} in paper["unable"], paper["unable"])


def test_a_mechanism():
    rc, out, err = run("wir", "12", "20", "--workloads", "hotspot,nw", "--size", "tiny", "--out", f"{TMP}/reuse")
    expect(rc == 0 and len(err.splitlines()) == 2 * 6, f"Base, RLPV and four sizes, RLPV once: {err}")
    rows = {r["benchmark"]: {k: float(v) for k, v in r.items() if k not in ("benchmark", "workload")} for r in table("reuse", "wir-12.csv")}
    for name in ("HS", "NW"):
        r = rows[name]
        expect(abs(r["backend"] - (100 - r["reused"] + r["MOVs"])) < 2, f"{name}: what is not reused is executed, and copies: {r}")
    claims = {r["claim"]: r for r in table("reuse", "wir-claims.csv")}
    expect(float(claims["wir.rlpv.reuse_rate"]["ours"]) == rows["mean"]["reused"] > 0, "the claim is the figure's mean")
    hits = [float(table("reuse", "wir-20.csv")[-1][n]) for n in ("16", "32", "64", "128", "256")]
    expect(hits == sorted(hits) and hits[0] < hits[-1], f"more entries, more hits: {hits}")


def test_sizes_follow_from_parameters():
    rc, out, err = run("wir", "tables", *TWO, "--out", f"{TMP}/tables")
    expect(rc == 0, err)
    claims = {r["claim"]: r for r in table("tables", "wir-claims.csv")}
    expect(float(claims["wir.storage.reference_kb"]["ours"]) == 230, "RF, caches and shared memory")
    expect(float(claims["wir.rb.entry_bits"]["ours"]) == 59, "bits of an entry")
    rc, _, err = run("wir", "tables", *TWO, "--set", "sm.registers=65536", "--out", f"{TMP}/tables")
    expect(rc == 0, err)
    claims = {r["claim"]: r for r in table("tables", "wir-claims.csv")}
    expect(float(claims["wir.rb.entry_bits"]["ours"]) == 63, "a register's number has one bit more, in four fields")


def finished():
    """The keys of the runs that the store has."""
    path = f"{os.environ['REPRISE_STORE']}/runs.db"
    if not os.path.exists(path):
        return []
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:
        try:
            return sorted(row[0] for row in db.execute("SELECT key FROM run"))
        except sqlite3.OperationalError:  # it is just being made
            return []


def test_what_was_run_is_kept():
    words = ["wir", "mix", *TWO, "--out", f"{TMP}/kept"]
    first = run(*words)
    keys = finished()
    expect(len(keys) == 2, keys)
    again = run(*words)
    expect(again[0] == 0 and again[1] == first[1] and again[2] == "", "the second time nothing runs, and the output is the same")
    with contextlib.closing(sqlite3.connect(f"{os.environ['REPRISE_STORE']}/runs.db")) as db:
        db.execute("DELETE FROM run WHERE key = ?", keys[:1])
        db.commit()
    expect(len(run(*words)[2].splitlines()) == 1, "one is missing, one runs")
    expect(finished() == keys, "the same names for the same runs")
    for other in (["--set", "latency.alu=12"], ["--bits", "64"], ["--gpu", "gtx480"]):
        expect(len(run(*words, *other)[2].splitlines()) == 2, f"{other}: other runs")
    expect(len(finished()) == 8, "all are kept")
    expect(len(run(*words, "--fresh")[2].splitlines()) == 2 and len(finished()) == 8, "--fresh runs them again")


def test_interruption_loses_nothing_that_was_finished():
    def words(third):
        return ["wir", "mix", "--workloads", f"hotspot,bfs,{third}", "--size", "tiny", "-j", "1", "--out", f"{TMP}/stopped"]
    for sent, status in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        subprocess.run(["rm", "-rf", os.environ["REPRISE_STORE"]], check=True)
        p = subprocess.Popen([REPRISE, "repro", *words("streamcluster:size=large")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while len(finished()) < 2 and time.monotonic() < until:  # the third takes long
            time.sleep(0.05)
        p.send_signal(sent)
        out, _ = p.communicate(timeout=20)
        expect(p.returncode == status and len(finished()) == 2, f"status {p.returncode}, finished {finished()}: {out}")
        expect(sent == signal.SIGKILL or out == f"stopped; what was finished is kept in {os.environ['REPRISE_STORE']}/runs.db\n", out)
        rc, out, err = run(*words("nw"))
        expect(rc == 0 and err.splitlines() == ["[1/1] nw Base"], f"only what is missing runs: {err}")
        expect(not os.listdir(f"{os.environ['REPRISE_STORE']}/parts"), "what was being written is gone")


def test_jobs_change_nothing():
    outs = [run("wir", "mix", *TWO, "-j", j, "--fresh", "--out", f"{TMP}/j")[:2] for j in (1, 2)]
    expect(outs[0] == outs[1], "output depends on -j")


def test_mistakes_get_suggestions():
    for words, said in (
        (["wri"], "there is no paper 'wri'; did you mean 'wir'?"),
        (["wir", "mxi"], "there is no figure 'mxi'; did you mean 'mix'?"),
        ([], "which paper?"),
        (["wir", "--workloads", "hotspto"], "did you mean 'hotspot'?"),
        (["wir", "--outt", "x"], "unknown option --outt; did you mean --out?"),
        (["wir", "--out"], "a value is needed after --out"),
    ):
        rc, out, err = run(*words)
        expect(rc == 2 and not out, f"{words}: status {rc}, stdout {out!r}")
        expect_in(said, err)
    for words in (["--help"], ["wir", "--list"]):
        rc, out, _ = run(*words)
        expect(rc == 0 and max(map(len, out.splitlines())) <= COLUMNS, f"{words}: {out}")
    rc, _, err = run("wir", "mix", *TWO, "--out", "/proc/nowhere")
    expect(rc == 1 and "/proc/nowhere" in err, err)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))

#!/usr/bin/env python3
"""Reprise installed, as the user of a system finds it: command, workloads, data, manual pages, completion, pkg-config, header, Python.

Every check is a function named test_*. Python because it is processes and text.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest.mock

import harness
from harness import expect, installation

REPRISE = TMP = None  # set by main
ROOT = pathlib.Path(__file__).resolve().parents[2]


def reprise(*words, status=0):
    done = subprocess.run([installation(REPRISE, TMP) / "bin/reprise", *map(str, words)], capture_output=True, text=True, timeout=120, cwd=TMP)
    expect(done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def commands():
    return re.findall(r"^  ([a-z]+) +\S.*$", reprise("help").split("\n'reprise help")[0], re.M)


def test_the_command_needs_nothing_but_the_installation():
    out = reprise("run", "hotspot", "--size", "tiny", "--check-result", "--functional")
    expect("ok" in out.lower(), out)
    expect("nw" in reprise("compare", "nw", "--mech", "wir", "--gpu", "wir", "--size", "tiny"), "a comparison")
    claims = installation(REPRISE, TMP) / "share/reprise/data/claims.csv"
    text = claims.read_text()
    claims.write_text('"no end')  # that the file of the installation is read shows when it is spoiled
    done = subprocess.run([installation(REPRISE, TMP) / "bin/reprise", "repro", "wir", "mix", "--workloads", "nw", "--size", "tiny", "--out", f"{TMP}/out"],
                          capture_output=True, text=True, timeout=120)
    claims.write_text(text)
    expect(done.returncode == 1 and "claims.csv" in done.stderr, f"{done.returncode}: {done.stdout}{done.stderr}")
    expect(reprise("repro", "wir", "mix", "--workloads", "nw", "--size", "tiny", "--out", f"{TMP}/out"), "a figure")
    for name in ("libcuda.so", "libcuda.so.1", "libcudart.so", "libcudart.so.12", "libreprise.so", "libreprise_static.so"):
        expect((installation(REPRISE, TMP) / "lib/reprise" / name).exists(), f"{name} is missing")


def words_of(text):
    """The words of a help text or of a manual page, but for headings."""
    return [w for w in re.sub(r"^examples?:|^usage:|DESCRIPTION|EXAMPLES", "", text, flags=re.M).split()]


def test_manual_pages():
    pages = installation(REPRISE, TMP) / "share/man/man1"
    expect({p.name for p in pages.iterdir()} == {"reprise.1", "reprise-cpu-memo.1", *(f"reprise-{c}.1" for c in commands())}, list(pages.iterdir()))
    for page in pages.iterdir():
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env={**os.environ, "MANWIDTH": "500"})
            expect(done.returncode == 0 and not done.stderr, f"{page.name}: {done.stderr}")
            if page.name != "reprise.1":
                shown = re.sub(r"[\u2010\u2212]", "-", done.stdout)
                said = reprise(*page.stem.split("-")[1:], "--help")
                expect(words_of(said) == words_of(shown.split("SYNOPSIS", 1)[1].split("SEE ALSO")[0]), f"{page.name} is not what --help says")


def complete(*words):
    script = installation(REPRISE, TMP) / "share/bash-completion/completions/reprise"
    lines = f'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reprise; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", lines, script, "reprise", *words], capture_output=True, text=True, timeout=60, cwd=TMP,
                          env={**os.environ, "PATH": f"{installation(REPRISE, TMP) / 'bin'}:{os.environ['PATH']}"})
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout.split()


def complete_zsh(*words):
    """What zsh is told to choose from."""
    lines = 'compset() { }; compadd() { shift; print -l -- "$@" }; _files() { }; file=$1; shift; words=("$@"); CURRENT=$#; source $file'
    done = subprocess.run(["zsh", "-f", "-c", lines, "zsh", installation(REPRISE, TMP) / "share/zsh/site-functions/_reprise", "reprise", *words], capture_output=True,
                          text=True, timeout=60, cwd=TMP, env={**os.environ, "PATH": f"{installation(REPRISE, TMP) / 'bin'}:{os.environ['PATH']}"})
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout.split()


def test_completion():
    expect(set(commands()) <= set(complete("")), complete(""))
    expect(complete("comp") == ["compare"], complete("comp"))
    expect(complete("compare", "hots") == ["hotspot", "hotspot-approx"], complete("compare", "hots"))
    expect("wir" in complete("run", "--mech", "wi") and "gtx480" in complete("run", "--gpu", "gt"), "mechanisms and GPUs")
    expect(complete("sweep", "--dry") == ["--dry-run"] and complete("run", "--size", "t") == ["tiny"], "options")
    expect("workloads" in complete("list", "w") and "wir" in complete("repro", "w"), "lists and papers")
    expect(complete("cpu", "") == ["run", "memo", "params"] and "memo-8k" in complete("cpu", "run", "--cpu", "m"), "the CPU")
    expect(complete("compare", "--mech", "dac,wir+gsc") == ["dac,wir+gscalar", "dac,wir+gscalar-nodiv"], complete("compare", "--mech", "dac,wir+gsc"))
    expect("17" in complete("repro", "wir", "1") and "l1.read_hits" in complete("query", "--counter", "l1."), "figures and counters")
    expect("workload" not in complete("run", "w") and "dozen" in complete("compare", "do"), "workloads and suites")
    if shutil.which("zsh"):
        for words, has in ((["cpu", ""], "memo"), (["cpu", "memo", "--"], "--ratio"), (["cpu", "run", "--cpu", ""], "memo-8k"), (["env", "--"], "--functional"),
                           (["repro", "wir", ""], "17"), (["compare", ""], "dozen"), (["run", "--mech", "wir+"], "gscalar"), (["comp"], "compare"), (["compare", "h"], "hotspot"), (["run", "--gpu", ""], "gtx480"), (["sweep", "--"], "--dry-run")):
            expect(has in complete_zsh(*words), f"zsh, {words}: {complete_zsh(*words)}")


def test_options_are_those_of_the_command():
    """Every option that a help text lists is completed, and every one that is completed is known to its command."""
    for command in commands():
        for words in (["cpu", "run"], ["cpu", "memo"]) if command == "cpu" else [[command, "workloads"]] if command == "list" else [[command]]:
            offered = set(complete(*words, "-")) - {"--help"}
            listed = "run" if command == "env" else command
            text = reprise("cpu", "memo", "--help") if words[-1] == "memo" else reprise("help", listed)
            expect(offered >= set(re.findall(r"^  (--?[a-z][a-z-]*)", text, re.M)) and offered, f"{words}: {offered}")
            if shutil.which("zsh"):
                expect(set(complete_zsh(*words, "-")) - {"--help"} == offered, f"zsh, {words}")
            for option in offered:
                of_kernels = ["kernel.ptx"] if option in ("--entry", "--grid", "--block", "--shared", "--arg") else []
                done = subprocess.run([installation(REPRISE, TMP) / "bin/reprise", *words, *of_kernels, option, "1"], capture_output=True, text=True, timeout=60, cwd=TMP)
                expect("unknown option" not in done.stderr and "unknown argument -" not in done.stderr, f"{words} {option}: {done.stderr}")


def test_pkg_config_header_and_library():
    env = {**os.environ, "PKG_CONFIG_PATH": ":".join(map(str, {p.parent for p in installation(REPRISE, TMP).rglob("reprise.pc")})),
           "PKG_CONFIG_SYSROOT_DIR": str(installation(REPRISE, TMP)).removesuffix(str(prefix()))}

    def flags(*words):
        return subprocess.run(["pkg-config", *words, "reprise"], capture_output=True, text=True, check=True, env=env).stdout.strip()
    source = pathlib.Path(TMP, "version.c")
    source.write_text('#include <reprise.h>\n#include <stdio.h>\nint main(void) { printf("%d.%d.%d %s\\n", RP_VERSION_MAJOR, RP_VERSION_MINOR, '
                      'RP_VERSION_PATCH, rp_version()); return !rp_gpu_create(&(struct rp_options){0}, &(char *){0}); }\n')
    # pkg-config quotes for a shell.
    subprocess.run(f"{os.environ.get('CC', 'cc')} -Wall -Wextra -Werror {flags('--cflags')} version.c -o version {flags('--libs')}", shell=True, check=True, cwd=TMP)
    done = subprocess.run([f"{TMP}/version"], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(installation(REPRISE, TMP) / "lib/reprise")})
    version = reprise("--version").split()[1]
    expect(done.returncode == 0 and done.stdout == f"{version} {version}\n", f"{done.returncode}: {done.stdout}{done.stderr}")
    expect(flags("--modversion") == version, "pkg-config's version")


def prefix():
    """Where the installation would be without DESTDIR."""
    return "/" + str(installation(REPRISE, TMP).relative_to(pathlib.Path(TMP) / "stage"))


def test_python():
    module = next(installation(REPRISE, TMP).rglob("reprise.py"))
    reprise("compare", "nw", "hotspot", "--mech", "wir", "--gpu", "wir", "--size", "tiny", "--json", f"{TMP}/compare.json")
    reprise("run", "--gpu", "wir", "--json", f"{TMP}/run.json", "nw", "--size", "tiny")
    sys.path.insert(0, str(module.parent))
    try:
        import reprise as reader
    finally:
        sys.path.pop(0)
    expect(reader.__file__ == str(module), reader.__file__)
    store = os.environ["REPRISE_STORE"]
    runs = reader.rows()
    expect(sorted((r["benchmark"], r["mech"]) for r in runs) == [("hotspot", "base"), ("hotspot", "wir"), ("nw", "base"), ("nw", "wir")], runs)
    expect(reader.rows(store) == runs == reader.rows(f"{store}/runs.db"), "by any name")
    made = json.loads(pathlib.Path(TMP, "compare.json").read_text())["runs"]
    compared = reader.rows(f"{TMP}/compare.json")
    expect([c["cycles"] for c in compared] == [m["totals"]["cycles"] for m in made] and {c["cycles"] for c in compared} == {r["cycles"] for r in runs}, "cycles")
    expect(compared[1]["energy.total"] == made[1]["totals"]["energy"]["total"] and compared[1]["speedup"] == made[1]["metrics"]["speedup"], "figures")
    launches = reader.rows(f"{TMP}/run.json")
    expect(len(launches) > 1 and all(r["insts.int"] > 0 and r["mech"] == "base" for r in launches), "launches")
    tidy = reader.rows(tidy=True)
    expect({t["unit"] for t in tidy if t["name"] == "cycles"} == {"cycles"}, "units")
    launches = reader.rows(kernels=True, tidy=True)
    for key, cycles in ((r["key"], r["cycles"]) for r in runs):
        expect(sum(t["value"] for t in launches if t["key"] == key and t["name"] == "cycles") == cycles, "cycles of launches")
    expect(len(reader.rows(kernels=True)) == len({(t["key"], t["number"]) for t in launches}), "launches")
    expect(reader.query("SELECT count(*) AS n FROM runs WHERE mech = ?", values=["wir"]) == [{"n": 2}], "a question")
    with unittest.mock.patch.dict(sys.modules, {"pandas": None}), __import__("warnings").catch_warnings(record=True) as told:
        __import__("warnings").simplefilter("always")
        expect(reader.load() == runs and "pandas is not installed" in str(told[0].message), told)
    for wrong in (f"{TMP}/nowhere", f"{TMP}/nowhere.json"):
        try:
            reader.rows(wrong)
            expect(False, f"{wrong} was read")
        except FileNotFoundError:
            pass
    for python in {sys.executable, "/usr/bin/python3"}:  # where one has pandas
        if subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode:
            continue
        done = subprocess.run([python, installation(REPRISE, TMP) / "share/reprise/examples/speedups.py"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(module.parent)})
        lines = done.stdout.splitlines()
        expect(done.returncode == 0 and lines[0].split() == ["wir"] and len(lines) == 4, f"{done.stdout}{done.stderr}")
        speedup = {m["workload"]: m["metrics"]["speedup"] for m in made if m["model"] == "wir"}
        for line in lines[1:3]:
            expect(abs(float(line.split()[-1]) - speedup[line.split()[0]]) < 0.001, line)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))

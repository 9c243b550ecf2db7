#!/usr/bin/env python3
"""Mechanisms from outside: shared objects that are built against an installation and named by their paths do what the same source
does when it is built in, bring their parameters, counters and energy along, and are refused with one line when they do not fit."""
import json
import os
import pathlib
import re
import subprocess
import sys

from harness import installation, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOY, ZERO = ROOT / "src/mech/toy/toy.c", ROOT / "tests/plugin/zero.c"
PTX = ["run", str(ROOT / "tests/golden/saxpy.ptx"), "--grid", "4", "--block", "64", "--arg", "f32:2",
       "--arg", "iota:256", "--arg", "buf:1024", "--arg", "u32:256"]


def build(name, source, *flags):
    """A shared object, made of a file or a text by an author who has nothing but the installation."""
    path, made = pathlib.Path(TMP) / f"{name}.c", pathlib.Path(TMP) / f"{name}.so"
    path.write_text(source.read_text() if isinstance(source, pathlib.Path) else source)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags,
                    "-I", installation(REPRISE, TMP) / "include/reprise", path, "-o", made], check=True)
    return made


def reprise(*words, status=0, **environment):
    done = subprocess.run([installation(REPRISE, TMP) / "bin/reprise", *map(str, words)], capture_output=True, text=True, cwd=TMP,
                          env={**os.environ, **environment})
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def report(what, *words):
    """The report of a run, but for what depends on the host."""
    path = pathlib.Path(TMP) / "report.json"
    reprise(what[0], "--json", path, *words, *what[1:])
    made = json.loads(path.read_text())
    del made["host"]
    return made


def program():
    return ["run", "--", pathlib.Path(REPRISE).parents[1] / "workloads/hotspot", "--size", "tiny"]


def refused(words, *options):
    """The mechanism is refused, with one line that has these words."""
    done = reprise("run", *options, *program()[1:], status=2)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and words in lines[0], done.stderr


def plugin(name, table="", mechanism="", before="", flags=()):
    """A mechanism that does nothing, with something wrong."""
    return build(name, '#include "mech/mechanism.h"\n' + before +
                 "static void *create(struct arena *a, const void *p, void *s, struct sm *sm) {\n"
                 "    (void)a, (void)p, (void)s;\n    return sm;\n}\n" + table +
                 f'MECHANISM({name}) = {{.name = "{name}", .help = "Wrong.", .create = create, {mechanism}}};\n', *flags)


def test_headers():
    """What is installed includes nothing that is not, and goes together."""
    root = installation(REPRISE, TMP) / "include/reprise"
    names = sorted(str(path.relative_to(root)) for path in root.rglob("*.h"))
    assert "mech/mechanism.h" in names and "flow/classes.h" in names
    build("headers", "".join(f'#include "{name}"\n' for name in names))


def test_same_as_built_in():
    toy = build("toy", TOY)
    for what in (PTX, program()):
        for gpu in ("gtx480", "wir"):
            options = ("--gpu", gpu, "--set", "toy.entries=16", "--check")
            one, other = report(what, "--mech", "toy", *options), report(what, "--mech", "./toy.so", *options)
            assert one == other and other["mech"] == "toy" and other["settings"]["toy.entries"] == 16
    assert other["totals"]["counters"]["toy.hits"] > 0
    one, other = report(program(), "--mech", "affine+toy"), report(program(), "--mech", f"affine+{toy}")
    assert one == other and other["mech"] == "affine+toy"


def test_tables():
    build("zero", ZERO)
    base, zero = report(program()), report(program(), "--mech", "./zero.so")
    counters = zero["totals"]["counters"]
    assert 0 < counters["zero.zeros"] < counters["zero.looks"]
    assert {k: v for k, v in counters.items() if not k.startswith("zero.")} == base["totals"]["counters"]
    energy = zero["totals"]["energy"]["mechanism"]
    assert abs(energy / (counters["zero.looks"] * 2e-12) - 1) < 1e-9
    dear = report(program(), "--mech", "./zero.so", "--set", "zero.pj.look=6")
    assert abs(dear["totals"]["energy"]["mechanism"] / energy - 3) < 1e-9 and dear["settings"]["zero.pj.look"] == 6
    stacked = report(program(), "--gpu", "wir", "--mech", "wir+./zero.so")
    assert stacked["mech"] == "wir+zero" and stacked["totals"]["counters"]["zero.zeros"] > 0
    config = pathlib.Path(TMP) / "own.yaml"
    config.write_text("inherit: gtx480\nzero:\n  pj.look: 4\n")
    assert report(program(), "--gpu", config, "--mech", "./zero.so")["settings"]["zero.pj.look"] == 4
    done = reprise("run", "--mech", "./zero.so", "--set", "zero.pj.luck=6", *program()[1:], status=2)
    assert "no parameter is called 'zero.pj.luck'; did you mean 'zero.pj.look'?" in done.stderr


def test_known_by_loading():
    build("zero", ZERO)
    rows = {"mechs": r"^zero +an example from outside", "params": r"^ *zero\.pj\.look\b", "counters": r"^ *zero\.zeros\b"}
    for topic, row in rows.items():
        assert re.search(row, reprise("list", topic, "--load", "./zero.so").stdout, re.M), topic
        assert not re.search(row, reprise("list", topic).stdout, re.M), topic
    loaded = report(program(), "--load", "zero.so", "--set", "zero.pj.look=6")
    assert loaded["mech"] == "base" and loaded["settings"]["zero.pj.look"] == 6
    named = report(program(), "--load", "zero.so", "--mech", "zero", "--set", "zero.pj.look=6")
    assert named == report(program(), "--mech", "./zero.so", "--set", "zero.pj.look=6")
    build("toy", TOY)  # takes the place of the one built in
    listed = [line.split()[0] for line in reprise("list", "mechs", "--load", "toy.so").stdout.splitlines()]
    assert listed.count("toy") == 1 and "wir" in listed
    table = reprise("compare", "--load", "zero.so", "--mech", "zero,zero:zero.pj.look=9", "--set", "zero.pj.look=6", "--",
                    *program()[2:]).stdout
    assert "zero:zero.pj.look=9" in table
    reprise("compare", "--mech", "./zero.so", "--", *program()[2:])


def test_pass():
    """A pass of the compiler comes along, and calls what the compiler offers."""
    plugin("strict", before='#include "flow/classes.h"\n#include "opt/mech_pass.h"\n', table="""
static bool look(const struct pass_run *r) {
    struct arena a = {0};
    struct span reads[MAX_SPANS];
    uint32_t n = 0;
    for (uint32_t f = 0; f < r->p->fns.len; f++) {
        const struct fn *fn = r->p->fns.at[f];
        struct values v = values_of(&a, fn);
        for (uint32_t b = 0; b < fn->blocks.len; b++)
            for (uint32_t i = 0; i < fn->blocks.at[b].insts.len; i++)
                n += inst_reads(&v, &fn->blocks.at[b].insts.at[i], reads);
    }
    arena_free(&a);
    diag_add(r->d, DIAG_ERROR, "too strict for %s", n > 3 ? "anything" : "nothing");
    return false;
}
static const struct mech_pass passes[] = {{"strict", BEFORE_REGISTERS, look}, {0}};
""", mechanism=".passes = passes", flags=["-Wno-missing-field-initializers"])
    done = reprise(PTX[0], "--mech", "./strict.so", *PTX[1:], status=1)
    assert "too strict for anything" in done.stderr, done.stderr


def test_driver_of_its_own():
    """What a mechanism calls is found although the program keeps the driver's symbols to itself."""
    toy = build("toy", TOY)
    path = str(installation(REPRISE, TMP) / "lib/reprise")
    done = subprocess.run([LOCAL_DRIVER], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": path, "REPRISE_MECH": str(toy)})
    assert done.returncode == 0, done.stderr


def test_refused_files():
    refused("there is no file", "--mech", "./nothing.so")
    (pathlib.Path(TMP) / "text.so").write_text("no shared object\n")
    refused("a mechanism is a shared object", "--mech", "./text.so")
    refused("a mechanism is a shared object", "--load", "./text.so")
    build("other", "int other(void);\nint other(void) {\n    return 1;\n}\n")
    refused("MECHANISM(name)", "--mech", "./other.so")
    plugin("lacks", before="void core_nothing(void);\n", mechanism=".release = (void (*)(void *))core_nothing")
    refused("undefined symbol: core_nothing", "--mech", "./lacks.so")
    build("old", "const struct {\n    unsigned interface, layout;\n    void *mechanism;\n} reprise_mechanism = {99, 0, 0};\n")
    refused("was built for interface 99.0", "--mech", "./old.so")
    build("layout", '#include "mech/mechanism.h"\nstatic const struct mechanism none;\nextern const struct mech_plugin reprise_mechanism;\n'
          "const struct mech_plugin reprise_mechanism = {MECH_INTERFACE, MECH_LAYOUT + 1, &none};\n")
    refused("build it again with the headers of this version", "--mech", "./layout.so")


def test_refused_tables():
    build("toy", TOY)
    refused("both are models of one mechanism", "--mech", "toy+./toy.so")
    refused("both take instructions between issue", "--mech", "wir+./toy.so")
    struct = "struct own {\n    int32_t n;\n    enum { A, B } e;\n};\nstatic const struct param rows[] = {{%s}};\n"
    table = ".params = PARAM_TABLE(struct own, rows, NULL)"
    at = "PARAM_AT(struct own, n)"
    for name, row, words in (
            ("taken", f'"sm.warps", {at}, 1, 4, 2, "", ""', "must give its parameter 'sm.warps' another name"),
            ("twice", f'"wir.queue", {at}, 1, 4, 2, "", ""', "must give its parameter 'wir.queue' another name"),
            ("nogroup", f'"queue", {at}, 1, 4, 2, "", ""', "no name of the form group.name"),
            ("range", f'"range.n", {at}, 1, 4, 5, "", ""', "the default of parameter 'range.n' is outside its range"),
            ("nohelp", f'"nohelp.n", {at}, 1, 4, 2, ""', "lacks a type, a unit or help"),
            ("words", '"words.e", PARAM_AT(struct own, e), A, B, A, "", ""', "no word for some of its values"),
    ):
        plugin(name, struct % row, table, flags=["-Wno-missing-field-initializers"])
        refused(words, "--mech", f"./{name}.so")
    counter = 'static const struct counter_info counters[] = {{"%s", "cows", "Cows.", 0}};\n'
    plugin("counts", counter % "rf.reads", ".counters = COUNTER_TABLE(counters)")
    refused("must give its counter 'rf.reads' another name", "--mech", "./counts.so")
    event = "static const struct energy_event events[] = {{ENERGY_MECHANISM, %s, ENERGY_PJ}};\n"
    for name, row, words in (("costs", '"rf.raeds", "energy.rf.read"', "the counter 'rf.raeds', which does not exist"),
                             ("price", '"rf.reads", "energy.rf.reed"', "the parameter 'energy.rf.reed', which does not exist")):
        plugin(name, event % row, ".energy = ENERGY_TABLE(events)")
        refused(words, "--mech", f"./{name}.so")
    build("nothing", '#include "mech/mechanism.h"\nMECHANISM(nothing) = {.name = "nothing", .help = ""};\n')
    refused("it has no function 'create'", "--mech", "./nothing.so")
    build("unnamed", '#include "mech/mechanism.h"\nMECHANISM(unnamed) = {.name = "a+b", .help = ""};\n')
    refused("no name of one word", "--mech", "./unnamed.so")


if __name__ == "__main__":
    sys.exit(main(globals(), "local-driver"))

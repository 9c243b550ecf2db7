#!/usr/bin/env python3
"""reprise report as users meet it: pages in a headless Chromium. No message on the console, the right numbers in the charts, links that
lead somewhere, keys, themes, print; names with quotes, angle brackets and newlines stay names.

Every check is a function named test_*. Of a report that is there, report.py --shots REPORT FOLDER makes pictures of every page, to be
looked at, and report.py --svg REPORT CHART FILE the drawing of one chart.
"""
import atexit
import contextlib
import csv
import json
import pathlib
import re
import sqlite3
import shutil
import subprocess
import sys
import xml.dom.minidom

import harness
from harness import expect
from browser import Browser

REPRISE = TMP = None  # set by main
BROWSER = STORE = None
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror=\"window.hacked = 1\">", "two\nlines", "'\"\\ & &lt; ]]> <!--", "../..%2f\u2028\u202e"]


def reprise(*words, status=0):
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, text=True, timeout=300)
    expect(done.returncode == status, f"status {done.returncode} of {words}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def same(a, b, what):
    expect(abs(a - b) <= 1e-9 * max(abs(a), abs(b)), f"{what}: {a} instead of {b}")


def inputs():
    """The files of a small study, made once."""
    global STORE
    out, STORE = pathlib.Path(TMP, "study"), pathlib.Path(TMP, "store")
    if not out.exists():
        out.mkdir()
        reprise("compare", "hotspot", "nw", "bfs", "--mech", "wir,darsie", "--gpu", "wir", "--bits", "32", "--size", "tiny", "--json", out / "mechs.json",
                "--store", STORE)
        reprise("run", "--gpu", "h200", "--kernels", "0:1", "--json", out / "bfs.json", "bfs", "--size", "small")
        reprise("repro", "wir", "2", "13", "14", "17", "20", "--workloads", "hotspot,nw", "--size", "tiny", "--out", out, "--store", STORE)
        reprise("profile", "hotspot", "--size", "tiny", "--json", out / "hotspot.json")
    return [out / "mechs.json", out / "bfs.json", out / "wir.json", out / "hotspot.json"]


def page(name, *words):
    path = pathlib.Path(TMP, name)
    expect(f"report: {path}" in reprise("report", *words, "-o", path), "where it is")
    return path


def window():
    """The browser that all tests share, at its usual size."""
    global BROWSER
    if not BROWSER:
        BROWSER = Browser()
        atexit.register(BROWSER.__exit__)
    BROWSER.resize(1280, 900)
    return BROWSER


def opened(browser, path, anchor=""):
    browser.open(path, anchor)
    expect(browser.run("return reprise.ready.then(() => true)"), "it is drawn")
    return browser


def study(browser):
    return opened(browser, page("study.html", *inputs()))


def table(browser, chart, data="table"):
    """The rows of a chart, as Vega has them."""
    return browser.run("return reprise.views[arguments[0]].data(arguments[1])", chart, data)


def test_pages_are_quiet_and_alone():
    b = window()
    study(b)
    expect(b.messages() == [], b.messages())
    expect(b.run("return performance.getEntriesByType('resource').length") == 0, "something was fetched")
    pages = b.run("return [...document.querySelectorAll('section')].map(s => s.id)")
    expect(pages == ["compare", "machine", "profile", "papers", "claims", "hardware", "setup"], pages)
    charts = b.run("return Object.keys(reprise.views)")
    drawn = b.run("return [...document.querySelectorAll('figure')].map(f => [f.id, f.querySelectorAll('svg path, svg text').length])")
    expect(sorted(charts) == sorted(c for c, _ in drawn), drawn)
    expect(all(n > 5 for _, n in drawn), drawn)


def test_the_charts_of_a_comparison():
    data = json.loads(inputs()[0].read_text())
    runs = {(r["workload"], r["model"]): r for r in data["runs"]}
    b = window()
    study(b)
    for metric in ("speedup", "energy_saved"):
        b.run("""const s = document.querySelector('#compare select'); s.selectedIndex = arguments[0]; s.dispatchEvent(new Event('change'));
                 return reprise.views['compare-1-heatmap'].runAsync().then(() => 1)""", {"speedup": 0, "energy_saved": 2}[metric])
        cells = table(b, "compare-1-heatmap")
        expect(len(cells) == 6, cells)
        for cell in cells:
            same(cell["v"], runs[cell["x"], cell["y"]]["metrics"][metric], cell)
        means = table(b, "compare-1-ranking")
        expect([m["name"] for m in means] == sorted(data["geometric_means"], key=lambda m: -data["geometric_means"][m][metric]), means)
        for mean in means:
            same(mean["v"], data["geometric_means"][mean["name"]][metric], mean)
    cells = b.run("return [...document.querySelectorAll('#compare tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    expect(len(cells) == 9, cells)
    row = next(r for r in cells if r[:2] == ["hotspot", "wir"])
    expect(row[2:4] == ["same", f'{runs["hotspot", "wir"]["metrics"]["speedup"]:.3f}'], row)
    expect(f'{runs["hotspot", "wir"]["metrics"]["cycles"]:,.0f}' in row, row)


def test_slots_and_energy():
    data = json.loads(inputs()[0].read_text())
    totals = {r["model"]: r["totals"] for r in data["runs"] if r["workload"] == "hotspot"}
    b = window()
    study(b)
    slots, energy = table(b, "machine-slots"), table(b, "machine-energy")
    for model in ("base", "wir", "darsie"):
        counters = {n: v for n, v in totals[model]["counters"].items() if n.startswith("slot.")}
        expect(len([r for r in slots if r["x"] == model]) == len(counters), "every kind of slot is drawn")
        issued = next(r["v"] for r in slots if r["x"] == model and r["series"] == "issued")
        same(issued, 100 * counters["slot.issued"] / sum(counters.values()), "issued")
        same(sum(r["v"] for r in slots if r["x"] == model), 100, "all slots")
        same(sum(r["joules"] for r in energy if r["x"] == model), totals[model]["energy"]["total"], "energy")
        same(sum(r["v"] for r in energy if r["x"] == model), 100 * totals[model]["energy"]["total"] / totals["base"]["energy"]["total"], "of base's")
    expect(not any(r["series"] == "other" for r in energy), "every part has a place")


def test_figures_of_a_paper():
    paper = json.loads(inputs()[2].read_text())
    figures = {f["id"]: f for f in paper["figures"]}
    b = window()
    study(b)
    rows = table(b, "wir-17")
    for column in figures["17"]["columns"][:4]:
        bars = {r["x"]: r["v"] for r in rows if r["series"] == column["name"]}
        expect(list(bars) == ["HS", "NW", "GM"], bars)
        for x, value in zip(bars, column["values"] + [column["average"]]):
            same(bars[x], value, f'{column["name"]} {x}')
    expect(not any(r["series"] == "change %" for r in rows), "what the paper does not draw is not drawn")
    marks = {m["series"]: m["v"] for m in table(b, "wir-2", "marks")}
    expect(marks == {"repeated": 31.4, "over 10x": 16}, marks)
    points = [(r["x"], r["v"]) for r in table(b, "wir-20")]
    expect([x for x, _ in points] == ["16", "32", "64", "128", "256"], points)
    same(points[3][1], figures["20"]["columns"][3]["average"], "a point of a line")
    stacks = table(b, "wir-14")
    for model in ("Base", "RPV", "RLPV"):
        same(max(r["to"] for r in stacks if r["x"] == "HS" and r["bar"] == model),
             sum(c["values"][0] for c in figures["14"]["columns"] if c["name"].endswith(" " + model)), f"the height of {model}")
    same(max(r["to"] for r in stacks if r["x"] == "HS" and r["bar"] == "Base"), 100, "the base machine is all of itself")
    claims = b.run("return [...document.querySelectorAll('#claims tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
    said = [r for r in claims if any("wir.vsb.hit_rate_128" in c for c in r)]
    expect(len(said) == 1 and said[0][3] == "50" and "not compared" in said[0], said)
    tiles = b.run("return [...document.querySelectorAll('#claims .tiles b')].map(t => t.textContent)")
    expect(int(tiles[0]) == sum(len(f["claims"]) for f in paper["figures"]), tiles)


def test_values_side_by_side():
    """A curve has the results' own values, a line for each machine."""
    out = pathlib.Path(TMP, "curve")
    reprise("repro", "lnl", "3.5", "--workloads", "hotspot-approx", "--size", "tiny", "--out", out, "--store", out / "store")
    figure, = json.loads((out / "lnl.json").read_text())["figures"]
    curve = figure["charts"][0]["curve"]
    b = opened(window(), page("curve.html", out / "lnl.json"))
    rows = table(b, "lnl-3.5")
    expect([l["name"] for l in curve["lines"]] == ["exact", "replicated", "interpolated"], curve)
    for line in curve["lines"]:
        expect([r["v"] for r in rows if r["series"] == line["name"]] == line["values"] and len(line["values"]) == 64, line)
    exact, replicated, _ = (l["values"] for l in curve["lines"])
    expect(300 < min(exact) and max(exact) < 360 and exact != replicated, curve)
    expect(b.run("return reprise.views['lnl-3.5'].scale('y').domain()[0]") > 300, "the scale begins at 0")


def test_a_profile():
    profile = json.loads(inputs()[3].read_text())
    totals = profile["totals"]
    b = window()
    study(b)
    kinds = {(r["x"], r["series"]): r["v"] for r in table(b, "profile-1-kinds")}
    same(kinds["repeated in 1,000 instructions", "all"], 100 * totals["repeat.1k"] / totals["insts"], "repeated")
    same(kinds["same in all warps of the block", "affine"], 100 * totals["block.affine"] / totals["insts"], "affine in the block")
    same(kinds["silent stores, % of stores", "all"], 100 * totals["stores.silent"] / totals["stores"], "silent stores")
    reach = {r["x"]: r["v"] for r in table(b, "profile-1-mechanisms")}
    expect(set(reach) == {m["name"] for m in profile["mechanisms"]}, reach)
    for mechanism in profile["mechanisms"]:
        same(reach[mechanism["name"]], 100 * mechanism["reaches"] / totals["insts"], mechanism)
    lines, hottest = {}, ""
    for line in profile["kernels"][0]["lines"]:
        place = line["file"], line["line"]
        lines[place] = lines.get(place, 0) + line["counts"].get("old", 0) + line["counts"].get("one_lane", 0)
        hottest = hottest or line["text"]
    shown = b.run("return [...document.querySelectorAll('.code tr.counted')].map(r => [...r.cells].map(c => c.textContent))")
    expect(len(shown) == len(lines), f"{len(shown)} lines of {len(lines)}")
    most = f"{100 * max(lines.values()) / totals['insts']:.1f}%"
    expect(any(r[1] == most for r in shown), f"no line has {most}")
    expect(any(r[4] == hottest for r in shown), f"no line is {hottest!r}")


def test_launches_beside_a_real_gpu():
    ours = json.loads(inputs()[1].read_text())["kernels"]
    real = [r for r in csv.DictReader((ROOT / "data/h200-counters.csv").open()) if r["workload"] == "bfs" and r["size"] == "small"]
    b = window()
    study(b)
    insts, cycles = table(b, "hardware-insts"), table(b, "hardware-cycles")
    expect(len(insts) == len(real) and len(cycles) == 2, f"{len(insts)} of {len(real)}, {len(cycles)} timed")
    for point, theirs, mine in zip(insts, real, ours):
        expect((point["x"], point["y"]) == (int(theirs["warp_insts"]), mine["warp_insts"]), point)
    expect((cycles[1]["x"], cycles[1]["y"]) == (int(real[1]["cycles"]), ours[1]["cycles"]), cycles)


def test_runs_that_were_kept():
    data = json.loads(inputs()[0].read_text())
    wanted = {(r["workload"], r["model"]): r for r in data["runs"]}
    b = opened(window(), page("kept.html", "--store", STORE))
    expect(b.messages() == [], b.messages())
    names = b.run("return reprise.data.sources.map(s => s.name)")
    number = 1 + names.index("wir, tiny, 32-bit")
    cells = [c for c in table(b, f"compare-{number}-heatmap") if (c["x"], c["y"]) in wanted]
    expect(len(cells) == 6, cells)
    for cell in cells:
        same(cell["v"], wanted[cell["x"], cell["y"]]["metrics"]["speedup"], cell)
    expect(not any(c["y"].startswith("base") for c in table(b, f"compare-{number}-heatmap")), "the base machine, watched, is not compared")
    heads = b.run("return [...document.querySelectorAll('#setup table')][1].innerText")
    rows = b.run("return [...document.querySelectorAll('#setup table')][1].tBodies[0].rows.length")
    kept = json.loads(reprise("query", "--store", STORE, "--json", "-", "SELECT key, machine_hash, input_hash, host, started FROM run"))
    expect(rows == len(kept) >= 9, f"{rows} rows of {len(kept)} runs")
    expect(all(k["machine_hash"] in heads and k["input_hash"] in heads and k["host"] in heads and k["started"] in heads for k in kept), heads)


def test_every_run_has_a_manifest():
    """Of comparisons that of the store, of a run and a profile what they wrote themselves."""
    compared, alone = pathlib.Path(TMP, "compared.json"), pathlib.Path(TMP, "alone.json")
    reprise("compare", "nw", "--mech", "wir", "--gpu", "wir", "--size", "tiny", "--json", compared)
    reprise("run", "nw", "--gpu", "wir", "--size", "tiny", "--json", alone)
    reprise("profile", "nw", "--size", "tiny", "--json", f"{TMP}/profiled.json")
    b = opened(window(), page("manifest.html", compared, alone, f"{TMP}/profiled.json"))
    expect(b.messages() == [], b.messages())
    rows = b.run("return [...[...document.querySelectorAll('#setup table')][1].tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))")
    titles = b.run("return [...[...document.querySelectorAll('#setup table')][1].tHead.rows[0].cells].map(c => c.textContent)")
    rows = [dict(zip(titles, r)) for r in rows]
    made = [r["manifest"] for r in json.loads(compared.read_text())["runs"]]
    host = json.loads(alone.read_text())["host"]
    expect([(r["benchmark"], r["mechanism"]) for r in rows[:3]] == [("nw", "base"), ("nw", "wir"), ("alone", "base")] and rows[3]["benchmark"] == "profiled", rows)
    for row, told in zip(rows, made):
        expect((row["version"], row["configuration"], row["input"], row["host"], row["started"])
               == tuple(told[n] for n in ("version", "machine_hash", "input_hash", "host", "started")), (row, told))
    expect((rows[2]["version"], rows[2]["host"], rows[2]["started"]) == (host["version"], host["name"], host["started"]), rows[2])
    expect(len(rows) == 4 and all(len(r["configuration"]) == len(r["input"]) == 16 for r in rows[:3]) and len(rows[3]["input"]) == 16, rows)


def test_compare_writes_a_page():
    path = pathlib.Path(TMP, "best.html")
    reprise("compare", "nw", "--best", "--gpu", "wir", "--bits", "32", "--size", "tiny", "--html", path, "--json", f"{TMP}/best.json")
    data = json.loads(pathlib.Path(TMP, "best.json").read_text())
    b = opened(window(), path)
    expect(b.messages() == [], b.messages())
    expect(len(table(b, "compare-1-ranking")) == len(data["geometric_means"]), "every model has a bar")
    first = b.run("return [...document.querySelectorAll('.ranks table')].map(t => t.tBodies[0].rows[0].cells[0].textContent)")
    expect(first == [places[0]["model"] for places in next(iter(data["ranking"].values())).values()], first)


def test_links_and_keys():
    b = window()
    study(b)
    lost = b.run("return [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href')).filter(h => !h.startsWith('#') || !document.getElementById(h.slice(1)))")
    expect(lost == [], lost)
    shown = "return [...document.querySelectorAll('section')].filter(s => !s.hidden).map(s => s.id)"
    expect(b.run(shown) == ["compare"], b.run(shown))
    b.press("4")
    expect(b.becomes(shown, ["papers"]), "a digit")
    b.press("\ue014")
    expect(b.becomes(shown, ["claims"]), "the right arrow")
    b.run("document.querySelector('#claims a[href=\"#figure-wir-17\"]').click()")
    expect(b.becomes(shown, ["papers"]), "a link into another page")
    expect(b.becomes("return Math.abs(document.getElementById('figure-wir-17').getBoundingClientRect().top) < 200", True), "it is scrolled to")
    b.press("?")
    expect(b.becomes("return document.getElementById('keys').open", True), "the list of keys")
    b.press("\ue00c")
    expect(b.becomes("return document.getElementById('keys').open", False), "Esc closes the list")
    theme = "return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]"
    before = b.run(theme)
    b.press("t")
    b.becomes("return document.documentElement.dataset.theme", "dark" if before[0] == "light" else "light")
    after = b.run(theme)
    expect({before[0], after[0]} == {"light", "dark"} and before[1] != after[1], (before, after))
    at = b.run("""location.hash = 'compare'; const heads = [...document.querySelectorAll('#compare th button')], at = heads.findIndex(h => h.textContent === 'Cycles');
                  heads[at].click(); return at""")
    column = [int(c.replace(",", "")) for c in b.run("return [...document.querySelectorAll('#compare tbody tr')].map(r => r.cells[arguments[0]].textContent)", at)]
    expect(column == sorted(column, reverse=True), column)


def test_charts_leave_as_svg_and_png():
    b = window()
    study(b)
    for chart in ("compare-1-heatmap", "wir-17", "hardware-insts"):
        svg = b.run("return reprise.svgText(reprise.views[arguments[0]])", chart)
        expect("var(" not in svg, "colours are written in")
        xml.dom.minidom.parseString(svg)
        size = b.run("""return reprise.pngUrl(reprise.views[arguments[0]]).then(url => { const i = new Image(); i.src = url;
                        return i.decode().then(() => [i.width, i.height, url.length]); })""", chart)
        expect(size[0] > 1000 and size[1] > 100 and size[2] > 10000, f"{chart}: {size}")


def test_a_store_in_order():
    """The largest study first; its workloads and mechanisms in the order in which they came, however runs at the same time ended."""
    store = pathlib.Path(TMP, "ordered")
    tiny = ["--size", "tiny", "--store", store]
    reprise("compare", "hotspot", "--mech", "wir", "--gpu", "gtx480", *tiny)
    reprise("compare", "nw", "--mech", "wir", "--gpu", "wir", *tiny)
    reprise("compare", "hotspot", "nw", "--mech", "wir,uv", "--gpu", "wir", *tiny)
    reprise("compare", "hotspot-approx", "--mech", "lnl", "--gpu", "lnl", *tiny)
    with contextlib.closing(sqlite3.connect(store / "runs.db")) as db:  # as if the base machine had been slow
        last, = db.execute("SELECT max(id) FROM run").fetchone()
        db.execute("UPDATE run SET id = ? WHERE benchmark = 'hotspot' AND mech = 'base' AND gpu = 'gtx480'", [last + 1])
        db.commit()
    b = opened(window(), page("ordered.html", "--store", store))
    cells = b.run("""return [...document.querySelectorAll('#compare h3')].map(h => h.textContent).concat(
        [...document.querySelectorAll('#compare tbody tr')].map(r => [0, 1, 2].map(c => r.cells[c].textContent).join(' ')))""")
    expect(cells == ["wir, tiny, 64-bit", "gtx480, tiny, 64-bit", "lnl, tiny, 64-bit", "nw base same", "nw wir same", "nw uv same", "hotspot base same", "hotspot wir same",
                     "hotspot uv same", "hotspot base same", "hotspot wir same", "hotspot-approx base same", "hotspot-approx lnl approximate"], cells)


def test_print_and_narrow_windows():
    b = window()
    study(b)
    pdf = b.pdf()
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    expect(pages >= 7, f"{pages} pages: every page of the report is printed")
    b.resize(480, 800)
    for name in ("compare", "machine", "profile", "papers", "claims", "hardware", "setup"):
        b.run("location.hash = arguments[0]", name)
        wide = b.run("return [document.documentElement.scrollWidth, innerWidth]")
        expect(wide[0] <= wide[1], f"{name} is {wide[0]} wide in a window of {wide[1]}")
    outside = "return [...document.querySelectorAll('#claims table.stack td')].map(c => Math.round(c.getBoundingClientRect().right)).filter(right => right > innerWidth)"
    b.run("location.hash = 'claims'")
    expect(b.run("return document.querySelectorAll('#claims table.stack td').length") > 20 and b.run(outside) == [], f"cells outside a narrow window: {b.run(outside)}")
    b.media("print")
    b.resize(780, 1100)
    expect(b.run(outside) == [], f"cells outside a printed page: {b.run(outside)}")
    b.media("")


def test_names_are_only_names():
    runs, models = [], ["base", HOSTILE[0], HOSTILE[3]]
    for i, workload in enumerate(HOSTILE):
        for k, model in enumerate(models):
            value = 1 + 0.1 * i * k
            runs.append({"workload": workload, "model": model, "status": "ok" if k < 2 else "wrong", "message": HOSTILE[1], "gpu": HOSTILE[2], "mech": model,
                         "metrics": {"cycles": 10, "speedup": value, "energy": 1, "energy_saved": value}, "settings": {HOSTILE[1]: HOSTILE[0]},
                         "totals": {"cycles": 10, "counters": {"slot.issued": 1}, "energy": {HOSTILE[1]: 1, "total": 1}}})
    made_up = {"schema": 1, "workloads": HOSTILE, "models": models, "runs": runs,
               "geometric_means": {m: {"speedup": 1.1, "energy_saved": 2} for m in models[1:]}}
    figures = json.loads(inputs()[2].read_text())
    figures["title"] = figures["ran"] = HOSTILE[0]
    figures["figures"][0]["title"] = HOSTILE[1]
    figures["figures"][0]["claims"][0]["explanation"] = HOSTILE[0]
    figures["figures"][0]["claims"][0]["verdict"] = "differs"
    for i, bench in enumerate(figures["benchmarks"]):
        bench["name"] = HOSTILE[i]
    folder = pathlib.Path(TMP, "'\"<b>\n")
    folder.mkdir(exist_ok=True)
    files = [folder / "<img src=x onerror=alert(1)>.json", folder / "wir.json"]
    for file, value in zip(files, (made_up, figures)):
        file.write_text(json.dumps(value))
    b = window()
    opened(b, page("hostile.html", *files, "--title", HOSTILE[0]))
    expect(b.messages() == [], b.messages())
    expect(b.run("return window.hacked === undefined && !document.querySelector('img, main script')"), "a name has become markup")
    expect(b.run("return document.title") == HOSTILE[0], "the title")
    cells = table(b, "compare-1-heatmap")
    expect({c["x"] for c in cells} == set(HOSTILE), cells)
    text = b.run("return [...document.querySelectorAll('#compare tbody td')].map(c => c.textContent)")
    expect(all(name in text for name in HOSTILE), text)
    xml.dom.minidom.parseString(b.run("return reprise.svgText(reprise.views['compare-1-heatmap'])"))


def test_installed():
    """A command that was installed takes the page from beside it."""
    usr = pathlib.Path(TMP, "usr")
    for folder in ("bin", "lib/reprise", "share/reprise"):
        (usr / folder).mkdir(parents=True)
    shutil.copy(REPRISE, usr / "bin/reprise")
    (usr / "lib/reprise/libcuda.so.1").symlink_to(pathlib.Path(REPRISE).parent / "libcuda.so.1")
    shutil.copytree(ROOT / "data", usr / "share/reprise/data")
    with (usr / "share/reprise/data/page/page.html").open("a") as f:
        f.write("<!-- the installed one -->\n")
    subprocess.run([usr / "bin/reprise", "report", inputs()[0], "-o", usr / "page.html"], check=True, stdout=subprocess.DEVNULL, timeout=60)
    expect((usr / "page.html").read_text().endswith("<!-- the installed one -->\n"), "another page")


def test_a_file_that_is_almost_right():
    """What cannot be drawn is said where it would be; the other pages are there."""
    odd = pathlib.Path(TMP, "almost.json")
    odd.write_text(json.dumps({"runs": [{"workload": "a", "model": "b", "totals": {"cycles": 1}}, {}], "models": [], "workloads": None, "geometric_means": {}}))
    b = opened(window(), page("almost.html", odd, inputs()[2]))
    b.messages()
    said = b.run("return [...document.querySelectorAll('section')].filter(s => s.textContent.includes('could not be drawn')).map(s => s.id)")
    expect("papers" not in said and "setup" not in said and said, said)
    expect(len(table(b, "wir-17")) == 12, "another file's chart")


def test_files_that_are_none():
    for name, text, said in (("cut.json", '{"runs": [', "cut.json:1:"), ("other.json", "[1, 2]", "this is not what reprise"), ("odd.json", '{"totals": 1}', "this is not what")):
        file = pathlib.Path(TMP, name)
        file.write_text(text)
        answer = reprise("report", file, "-o", f"{TMP}/none.html", status=1)
        expect(said in answer, answer)
    expect("absent.json" in reprise("report", f"{TMP}/absent.json", "-o", f"{TMP}/none.html", status=1), "a file that is not there")
    expect(not pathlib.Path(TMP, "none.html").exists(), "nothing is written")
    expect("nowhere" in reprise("report", "--store", f"{TMP}/nowhere", "-o", f"{TMP}/none.html", status=1), "a store that is not there")
    expect("--title" in reprise("report", "--titel", "x", status=2), "a slip")
    expect("/dev/full" in reprise("report", inputs()[0], "-o", "/dev/full", status=1), "a full disk")


def shots(path, folder):
    """Pictures of every page: as a laptop shows it, dark, narrow and printed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, dark in (("light", 1280, False), ("dark", 1280, True), ("narrow", 480, False)):
        with Browser(width, 900) as b:
            opened(b, path)
            if dark:
                b.press("t")
            for section in b.run("return [...document.querySelectorAll('section')].map(s => s.id)"):
                b.run("location.hash = arguments[0]", section)
                b.resize(width, min(4000, b.run("return document.documentElement.scrollHeight") + 90))
                b.screenshot(folder / f"{section}-{name}.png")
                b.resize(width, 900)
    with Browser(780, 1100) as b:
        opened(b, path).media("print")
        b.resize(780, min(8000, b.run("return document.documentElement.scrollHeight") + 90))
        b.screenshot(folder / "print.png")
        (folder / "print.pdf").write_bytes(b.pdf())


def drawing(path, chart, to):
    """One chart of a report as SVG, as its button saves it."""
    with Browser() as b:
        opened(b, path)
        to.write_text(b.run("return reprise.svgText(reprise.views[arguments[0]])", chart) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--shots":
        sys.exit(shots(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
    if len(sys.argv) == 5 and sys.argv[1] == "--svg":
        sys.exit(drawing(pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])))
    sys.exit(harness.main(globals()))

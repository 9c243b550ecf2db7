#!/usr/bin/env python3
"""Turns the JSON reports of workload runs into one page that needs nothing else, and into the picture of the README.

report.py RUNS PAGE       RUNS/NAME.json is what `reprise run NAME --json` wrote; RUNS/NAME.txt says "ok" or what failed
report.py RUNS --svg OUT  only the chart of instruction mixes
"""
import argparse
import csv
import html
import json
import math
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARP = 32

# Groups of the mix, in the order they are stacked: key, title, colour, beginnings of counter names.
GROUPS = [
    ("fp", "floating point", "#2b6cb8", ["insts.fp"]),
    ("sfu", "special functions", "#7db4ea", ["insts.sfu"]),
    ("cvt", "conversions", "#b9c4d0", ["insts.convert"]),
    ("int", "integer, moves", "#8793a3", ["insts.int", "insts.move"]),
    ("mem", "memory", "#dd8420", ["insts.load.", "insts.store.", "insts.atomic"]),
    ("tex", "textures", "#f0c04a", ["insts.texture"]),
    ("ctl", "control flow", "#3c9a6a", ["insts.control"]),
    ("syn", "barriers, warp-wide", "#9a5bb0", ["insts.barrier", "insts.warp"]),
]

CHART_STYLE = """
.chart text { font: 10px system-ui, sans-serif; fill: #444; }
.chart .title { font-size: 13px; font-weight: 600; fill: #1c1c1c; }
.chart .grid { stroke: #8886; stroke-width: .5; }
.chart .ours { fill: #2b6cb8; }
.chart .part { fill: #dd8420; }
.chart .paper { fill: none; stroke: #dd8420; stroke-width: 1.6; }
.chart .link { stroke: #8888; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  .chart text { fill: #bbb; }
  .chart .title { fill: #eee; }
  .chart .ours { fill: #6aa9e9; }
}
"""

PAGE_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #5c5c5c; --line: #ddd; --ground: #fff; --panel: #f6f7f9; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --soft: #a8a8a8; --line: #3a3d42; --ground: #17191c; --panel: #202327; --bad: #ff8a80; }
}
body { margin: 0 auto; padding: 1.2rem 1.5rem 3rem; max-width: 1180px; background: var(--ground); color: var(--ink);
       font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; }
p { margin: .3rem 0 1rem; color: var(--soft); max-width: 60rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.tile { background: var(--panel); border-radius: 8px; padding: .6rem 1rem; min-width: 9rem; }
.tile b { display: block; font-size: 1.3rem; }
.tile span { color: var(--soft); font-size: .85rem; }
.panel { background: var(--panel); border-radius: 8px; padding: .6rem .8rem; margin: 0 0 1rem; }
.panel svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .45rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { position: sticky; top: 0; background: var(--ground); cursor: pointer; }
th:nth-child(-n+3), td:nth-child(-n+3), th:nth-child(6), td:nth-child(6), th:last-child, td:last-child { text-align: left; }
td.wrong { color: var(--bad); font-weight: 600; }
.bar { display: flex; width: 120px; height: 10px; border-radius: 2px; overflow: hidden; }
.bar i { display: block; height: 100%; }
"""

SORT_SCRIPT = """
document.querySelectorAll('th').forEach((th, c) => th.onclick = () => {
  const body = th.closest('table').tBodies[0], up = th.dataset.up = th.dataset.up === '1' ? '0' : '1';
  const key = r => { const v = r.cells[c].dataset.v ?? r.cells[c].textContent; return isNaN(v) || v === '' ? v : +v; };
  [...body.rows].sort((a, b) => { const x = key(a), y = key(b);
    return (x > y ? 1 : x < y ? -1 : 0) * (up === '1' ? 1 : -1); }).forEach(r => body.append(r));
});
"""


def read_table(name, macro):
    """The rows of an X-macro table: lists of their arguments."""
    rows = []
    for line in (ROOT / "workloads" / name).read_text().splitlines():
        match = re.match(rf"{macro}\((.*)\)$", line)
        if match:
            rows.append(next(csv.reader([match[1]], skipinitialspace=True)))
    return rows


def workloads():
    """name -> suite, block, papers; variants take the suite of their program."""
    known = {}
    for name, suite, block, papers, _ in read_table("workloads.def", "WORKLOAD"):
        known[name] = {"suite": suite, "block": block, "papers": papers}
    for row in read_table("workloads.def", "VARIANT"):
        known[row[0]] = {"suite": known[row[1]]["suite"], "block": row[3], "papers": row[4]}
    return known


def paper_values(paper, kind):
    """name of a workload -> the paper's figure."""
    values = {row[1]: float(row[3]) for row in read_table("papers.def", "FIGURE") if row[0] == paper and row[2] == kind}
    found = {}
    for name, facts in workloads().items():
        for word in facts["papers"].split(","):
            if word.startswith(paper + "=") and word.split("=")[1] in values:
                found[name] = values[word.split("=")[1]]
    return found


def read_run(path, facts):
    """One workload's figures from the report of its run."""
    verdict = path.with_suffix(".txt").read_text().strip() if path.with_suffix(".txt").exists() else "ok"
    data = json.loads(path.read_text())
    totals = data["totals"]
    insts = max(totals["warp_insts"], 1)
    counters = totals["counters"]
    mix = {key: 100 * sum(v for n, v in counters.items() if any(n.startswith(b) for b in begins)) / insts
           for key, _, _, begins in GROUPS}
    return {"name": path.stem, **facts, "verdict": verdict, "gpu": data["gpu"], "insts": totals["warp_insts"],
            "launches": totals["launches"], "efficiency": 100 * totals["thread_insts"] / WARP / insts, "mix": mix,
            "divergent": 100 * counters["insts.divergent"] / insts, "speed": data["host"]["warp_insts_per_s"]}


class Chart:
    """Columns, one for each workload, over a scale of 0 to 100 per cent."""
    WIDTH, HEIGHT, LEFT, TOP, FOOT = 1130, 272, 34, 40, 100

    def __init__(self, title, names):
        self.names = names
        self.step = (self.WIDTH - self.LEFT - 6) / len(names)
        self.bar = max(2.0, self.step - 3)
        self.out = [f'<text class="title" x="0" y="13">{html.escape(title)}</text>']
        for percent in range(0, 101, 25):
            y = self.y(percent)
            self.out.append(f'<line class="grid" x1="{self.LEFT}" x2="{self.WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
                            f'<text x="{self.LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{percent}%</text>')
        for i, name in enumerate(names):
            x, y = self.x(i) + self.bar / 2 + 3, self.HEIGHT - self.FOOT + 8
            self.out.append(f'<text transform="translate({x:.1f},{y}) rotate(-50)" text-anchor="end">{html.escape(name)}</text>')

    def x(self, i):
        return self.LEFT + 4 + i * self.step

    def y(self, percent):
        return self.HEIGHT - self.FOOT - percent * (self.HEIGHT - self.FOOT - self.TOP) / 100

    def legend(self, entries):
        """Entries are (mark, words); marks are drawn at the origin, 10 wide."""
        x = self.LEFT + 4
        for mark, words in entries:
            self.out.append(f'<g transform="translate({x},20)">{mark}<text x="14" y="9">{html.escape(words)}</text></g>')
            x += 30 + 6 * len(words)

    def column(self, i, low, high, attributes, note):
        self.out.append(f'<rect x="{self.x(i):.1f}" width="{self.bar:.1f}" y="{self.y(high):.1f}" '
                        f'height="{self.y(low) - self.y(high):.1f}" {attributes}><title>{html.escape(note)}</title></rect>')

    def svg(self, style=""):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" role="img">'
                + (f"<style>{style}</style>" if style else "") + "\n".join(self.out) + "</svg>")


def mix_chart(runs, style=""):
    runs = sorted(runs, key=lambda r: (-r["mix"]["fp"] - r["mix"]["sfu"], r["name"]))
    chart = Chart("Instruction mix: per cent of warp instructions, by share of floating point", [r["name"] for r in runs])
    chart.legend([(f'<rect width="10" height="10" fill="{c}"/>', title) for _, title, c, _ in GROUPS])
    for i, run in enumerate(runs):
        low = 0.0
        for key, title, colour, _ in GROUPS:
            share = run["mix"][key]
            if share > 0:
                chart.column(i, low, low + share, f'fill="{colour}"', f'{run["name"]}: {title} {share:.1f}%')
            low += share
    return chart.svg(style)


def efficiency_chart(runs):
    runs = sorted(runs, key=lambda r: (-r["efficiency"], r["name"]))
    chart = Chart("SIMD efficiency: lanes that work, of 32; and instructions on divergent paths", [r["name"] for r in runs])
    chart.legend([('<rect width="10" height="10" class="ours"/>', "lanes at work"),
                  ('<rect y="3" width="10" height="4" class="part"/>', "divergent instructions")])
    for i, run in enumerate(runs):
        chart.column(i, 0, run["efficiency"], 'class="ours"', f'{run["name"]}: {run["efficiency"]:.1f}% of lanes at work')
        if run["divergent"] > 0:
            chart.column(i, max(run["divergent"] - 1, 0), run["divergent"] + 1, 'class="part"',
                         f'{run["name"]}: {run["divergent"]:.1f}% of instructions on divergent paths')
    return chart.svg()


def papers_chart(runs):
    paper = paper_values("wir", "fp")
    runs = sorted((r for r in runs if r["name"] in paper), key=lambda r: (-paper[r["name"]], r["name"]))
    if not runs:
        return ""
    chart = Chart("Floating-point share: our workloads and the benchmarks they stand for (WIR, Table I)", [r["name"] for r in runs])
    chart.legend([('<circle cx="5" cy="5" r="4" class="ours"/>', "ours"), ('<circle cx="5" cy="5" r="4" class="paper"/>', "paper")])
    for i, run in enumerate(runs):
        ours, theirs = run["mix"]["fp"] + run["mix"]["sfu"], paper[run["name"]]
        x = chart.x(i) + chart.bar / 2
        chart.out.append(f'<line class="link" x1="{x:.1f}" x2="{x:.1f}" y1="{chart.y(ours):.1f}" y2="{chart.y(theirs):.1f}"/>'
                         f'<circle class="paper" cx="{x:.1f}" cy="{chart.y(theirs):.1f}" r="4"/>'
                         f'<circle class="ours" cx="{x:.1f}" cy="{chart.y(ours):.1f}" r="4">'
                         f'<title>{html.escape(run["name"])}: ours {ours:.1f}%, paper {theirs:.1f}%</title></circle>')
    return chart.svg()


def table(runs):
    heads = ["workload", "suite", "block", "launches", "warp instructions", "mix", "% float", "% lanes", "% divergent",
             "M inst/s", "result"]
    rows = []
    for r in runs:
        bar = "".join(f'<i style="width:{r["mix"][k]:.2f}%;background:{c}" title="{t} {r["mix"][k]:.1f}%"></i>' for k, t, c, _ in GROUPS)
        ok = r["verdict"] == "ok"
        fp = r["mix"]["fp"] + r["mix"]["sfu"]
        cells = [(r["name"], None), (r["suite"], None), (r["block"], None), (f'{r["launches"]:,}', r["launches"]),
                 (f'{r["insts"]:,}', r["insts"]), (f'<div class="bar">{bar}</div>', fp), (f"{fp:.1f}", None),
                 (f'{r["efficiency"]:.1f}', r["efficiency"]), (f'{r["divergent"]:.1f}', r["divergent"]),
                 (f'{r["speed"] / 1e6:.1f}', None), ("OK" if ok else html.escape(r["verdict"]), None)]
        rows.append("<tr>" + "".join(
            f'<td{" data-v=%r" % str(v) if v is not None else ""}{wrong if i == len(cells) - 1 else ""}>{c}</td>'
            for i, (c, v) in enumerate(cells) for wrong in ["" if ok else ' class="wrong"']) + "</tr>")
    return ("<table><thead><tr>" + "".join(f"<th>{h}</th>" for h in heads) + "</tr></thead><tbody>" + "\n".join(rows)
            + "</tbody></table>")


def page(runs, failed, size, bits):
    insts = sum(r["insts"] for r in runs)
    good = sum(r["verdict"] == "ok" for r in runs)
    speed = math.exp(sum(math.log(max(r["speed"], 1)) for r in runs) / len(runs))
    efficiency = sum(r["efficiency"] for r in runs) / len(runs)
    tiles = [(f"{good} of {len(runs) + failed}", "results right"), (f"{insts / 1e6:,.0f} million", "warp instructions"),
             (f"{speed / 1e6:.0f} million", "warp instructions a second"), (f"{efficiency:.0f}%", "mean SIMD efficiency")]
    body = "".join(f'<div class="tile"><b>{a}</b><span>{b}</span></div>' for a, b in tiles)
    charts = "".join(f'<div class="panel">{c}</div>' for c in (mix_chart(runs), efficiency_chart(runs), papers_chart(runs)) if c)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Reprise: the bundled workloads</title><style>{PAGE_STYLE}{CHART_STYLE}</style></head><body>
<h1>Reprise: the bundled workloads</h1>
<p>Each is a CUDA program run on the simulated {html.escape(runs[0]["gpu"])}, functionally, at size {size} with {bits}-bit addresses;
its result is compared with a CPU reference. Speed is of this machine, on one thread. Hover over a column for its figures;
click a heading of the table to sort.</p>
<div class="tiles">{body}</div>
{charts}
<div class="scroll">{table(runs)}</div>
<script>{SORT_SCRIPT}</script></body></html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path, nargs="?")
    parser.add_argument("--svg", type=pathlib.Path, help="write the chart of instruction mixes here")
    parser.add_argument("--size", default="small")
    parser.add_argument("--bits", default="64")
    args = parser.parse_args()
    known = workloads()
    runs = [read_run(args.runs / f"{n}.json", facts) for n, facts in known.items() if (args.runs / f"{n}.json").exists()]
    failed = sum(not (args.runs / f"{n}.json").exists() and (args.runs / f"{n}.txt").exists() for n in known)
    if not runs:
        parser.error(f"no reports of workloads in {args.runs}")
    if args.svg:
        args.svg.write_text(mix_chart(runs, CHART_STYLE) + "\n")
        print(f"{args.svg}: the mix of {len(runs)} workloads")
    if args.page:
        args.page.write_text(page(runs, failed, args.size, args.bits))
        print(f"report: {args.page}")


if __name__ == "__main__":
    main()

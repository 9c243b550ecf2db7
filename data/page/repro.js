// The papers: each figure as the paper draws it, with its claims; and all claims on one page.
const papers = sourcesOf("figures");
apart(papers.map(s => s.value.paper)).forEach((name, i) => (papers[i].value.key = name.replace(/[^\w.-]+/g, "-"))); // by which elements are called
const VERDICTS = ["agrees", "holds", "differs", "not compared", "not measured"];
const verdictClass = v => ({ agrees: "agrees", holds: "holds", differs: "differs" }[v] || "other");
const verdictOf = c => el("span", { class: "verdict " + verdictClass(c.verdict) }, c.verdict);
const numbered = f => (/^\d/.test(f.id) && !/^Figure/.test(f.title) ? `Figure ${f.id}: ${f.title}` : f.title);

// What of a figure a claim is about, where that is one value: {x, column}.
function placeOf(claim, averages) {
  const m = /^(mean|geomean|at)\(([^,()]+)(?:, ([^()]+))?\)$/.exec(claim.formula);
  if (!m) return null;
  return m[1] === "at" ? { x: m[2], column: m[3] } : { x: averages(m[3]), column: m[2] };
}

// "hits RLPV" is of "hits" and "RLPV".
function split(name) {
  const at = name.lastIndexOf(" ");
  return at < 0 ? ["", name] : [name.slice(0, at), name.slice(at + 1)];
}

// Benchmarks and averages in the order in which they are drawn: by group, each followed by its average, then the average of all, with gaps.
function drawingOrder(paper, benches, averageName, present) {
  const left = new Set(benches), xs = [], some = list => list.filter(x => present.has(x));
  const gap = () => xs.length && xs.push(" ".repeat(1 + xs.filter(x => !x.trim()).length));
  paper.groups.forEach(g => {
    const own = some(benches.filter((b, i) => g.benchmarks.includes(paper.benchmarks[i].name) && left.delete(b)));
    if (!own.length) return;
    gap();
    xs.push(...own, ...some([averageName(g.name)]));
  });
  if (some([...left]).length && xs.length) gap();
  xs.push(...some([...left]));
  gap();
  return [...xs, averageName()];
}

// The values of a chart's columns: one row for each benchmark and column, and one for each average.
function figureRows(paper, figure, names) {
  const mean = figure.geometric ? "GM" : "AVG", averageName = g => (g ? `${mean} ${g}` : mean);
  const columns = figure.columns.filter(c => names.includes(c.name)), benches = apart(paper.benchmarks.map(b => b.name));
  const rows = [], add = (x, c, v, where) => v != null && rows.push({ x, series: c.name, v, tip: `${where}, ${c.name}: ${short(v)}` });
  columns.forEach(c => {
    c.values.forEach((v, i) => add(benches[i], c, v, `${benches[i]} (${paper.benchmarks[i].workload})`));
    add(averageName(), c, c.average, figure.geometric ? "geometric mean" : "mean");
    paper.groups.forEach(g => add(averageName(g.name), c, c.groups[g.name], `mean of ${g.name}`));
  });
  const marks = figure.claims.filter(c => c.paper != null).map(c => ({ claim: c, ...placeOf(c, averageName) }))
    .filter(p => p.column && names.includes(p.column)).map(p => ({ x: p.x, series: p.column, v: p.claim.paper, tip: `paper: ${short(p.claim.paper)} (${p.claim.id})` }));
  const present = new Set(rows.map(r => r.x));
  return { rows, columns, marks: marks.filter(m => present.has(m.x)), averages: [averageName(), ...paper.groups.map(g => averageName(g.name))],
           xs: drawingOrder(paper, benches, averageName, present) };
}

const drawers = {
  bars: (f, axis, names, paper, figure) => clusteredBars({ rows: f.rows, xs: f.xs, series: names, axis, marks: f.marks, rule: /speedup$/.test(axis) ? 1 : null }),
  stack: (f, axis, names) => stackedBars({ rows: f.rows.map(r => ({ ...r, order: names.indexOf(r.series) })), xs: f.xs, series: names, axis }),
  within: (f, axis, names) => nestedBars({ rows: f.rows, xs: f.xs, series: names, axis, marks: f.marks }),
  stacks: (f, axis, names) => {
    const parts = unique(names.map(n => split(n)[0])), bars = unique(names.map(n => split(n)[1]));
    return stackedBars({ rows: f.rows.map(r => ({ ...r, series: split(r.series)[0], bar: split(r.series)[1], order: names.indexOf(r.series) })), xs: f.xs, series: parts, bars,
                         axis: `${axis} (${bars.join(", ")})` });
  },
  averages: (f, axis, names) => {
    const rows = f.rows.filter(r => r.x === f.averages[0]).map(r => ({ ...r, x: r.series, series: "average" }));
    const marks = f.marks.filter(m => m.x === f.averages[0]).map(m => ({ ...m, x: m.series, series: "average" }));
    return clusteredBars({ rows, xs: names, series: ["average"], axis, marks, width: Math.min(WIDTH, 160 + 90 * names.length) });
  },
  clusters: (f, axis, names) => {
    const turn = r => ({ ...r, x: split(r.series)[0], series: split(r.series)[1] });
    return clusteredBars({ rows: f.rows.filter(r => r.x === f.averages[0]).map(turn), xs: unique(names.map(n => split(n)[0])), series: unique(names.map(n => split(n)[1])), axis,
                           marks: f.marks.filter(m => m.x === f.averages[0]).map(turn), width: Math.min(WIDTH, 200 + 34 * names.length) });
  },
  panels: (f, axis, names) => {
    const shown = f.xs.filter(x => x.trim() && !f.averages.includes(x));
    const rows = f.rows.filter(r => shown.includes(r.x)).map(r => ({ ...r, panel: r.x, x: split(r.series)[1], series: split(r.series)[0] }));
    return panels({ rows, names: shown, xs: unique(names.map(n => split(n)[1])), series: unique(names.map(n => split(n)[0])), axis });
  },
  line: (f, axis, names) => {
    const turn = r => ({ ...r, x: split(r.series)[1], series: split(r.series)[0] || "all" });
    return lines({ rows: f.rows.filter(r => r.x === f.averages[0]).map(turn), xs: unique(names.map(n => split(n)[1])), series: unique(names.map(n => split(n)[0] || "all")), axis,
                   marks: f.marks.filter(m => m.x === f.averages[0]).map(turn) });
  },
  curve: (f, axis) => lines({ rows: f.rows, xs: unique(f.rows.map(r => r.x)), series: unique(f.rows.map(r => r.series)), axis, width: WIDTH, zero: false }),
};

// The lines of a curve: one row for each of their values.
function curveRows(curve) {
  return { marks: [], rows: curve.lines.flatMap(l => l.values.map((v, i) => ({ x: String(i), series: l.name, v, tip: `value ${curve.from + i}, ${l.name}: ${v}` })).filter(r => r.v != null)) };
}

const claimColumns = [
  { title: "claim", get: c => c.metric, cell: c => [el("div", null, c.metric), el("div", { class: "mono soft" }, c.id)].reduce((to, e) => (to.append(e), to), el("div")), class: "why" },
  { title: "paper", get: c => c.paper, style: "number" }, { title: "ours", get: c => c.ours, style: "number" },
  { title: "unit", get: c => c.unit },
  { title: "differs by", get: c => c.difference, style: "number", cell: c => (c.difference == null ? NONE : (c.difference > 0 ? "+" : "") + fixed(c.difference, 0) + "%") },
  { title: "verdict", get: c => c.verdict, cell: verdictOf, class: "name" },
  { title: "why", get: c => whyOf(c), class: "why" },
];

function whyOf(c) {
  return c.verdict === "not compared" ? "ours is of other sizes, or of some of the benchmarks" : c.verdict === "differs" ? c.explanation || "no reason is known" : "";
}

function drawFigure(section, paper, figure) {
  const id = `${paper.key}-${figure.id}`;
  const anchor = el("div", { id: `figure-${id}` });
  section.append(anchor);
  const wanted = figure.charts.filter(c => c.curve !== null);
  const charts = wanted.length ? wanted : figure.columns.length ? [{ kind: "bars", axis: figure.title, columns: figure.columns.map(c => c.name) }] : [];
  charts.forEach((c, i) => {
    const f = c.curve ? curveRows(c.curve) : figureRows(paper, figure, c.columns);
    const title = charts.length > 1 ? `${numbered(figure)} (${String.fromCharCode(97 + i)})` : numbered(figure);
    const drawn = chart(charts.length > 1 ? `${id}-${i + 1}` : id, `${title}${f.marks.length ? ", \u25c7 the paper\u2019s" : ""}`, "h4");
    section.append(drawn.figure);
    drawn.draw(drawers[c.kind](f, c.axis, c.columns, paper, figure), f.rows);
  });
  if (!charts.length) anchor.append(el("h4", null, numbered(figure)));
  const some = figure.claims.filter(c => c.verdict !== "not measured" || !/^per-benchmark/.test(c.aggregation));
  if (some.length) section.append(table(claimColumns, some, { stack: true }));
}

page("papers", "Papers", papers.length, section => {
  section.append(el("h2", null, "The papers\u2019 figures, from our runs"),
    el("p", null, "Each is drawn as its paper draws it; a diamond is the value that the paper claims for a bar or a point. Where they differ by more than a third, the reason follows."),
    el("p", { class: "small" }, papers.map((s, i) => [i ? " \u00b7 " : "", el("a", { href: `#paper-${s.value.key}` }, s.value.title)])));
  papers.forEach(s => {
    const p = s.value;
    section.append(el("h3", { id: `paper-${p.key}` }, p.title), el("p", { class: "soft" }, p.ran));
    p.figures.forEach(f => drawFigure(section, p, f));
  });
});

// How far ours is from the papers': a point for each claim, on a scale of ratios.
function distances(claims) {
  const rows = claims.filter(c => c.paper > 0 && c.ours > 0).map(c => ({ paper: c.of, verdict: c.verdict, claim: c.id, v: Math.max(1 / 8, Math.min(8, c.ours / c.paper)), ratio: c.ours / c.paper,
    tip: `${c.id}\npaper ${short(c.paper)}, ours ${short(c.ours)} ${c.unit}: ${c.verdict}` }));
  const names = unique(rows.map(r => r.paper)), used = VERDICTS.filter(v => rows.some(r => r.verdict === v));
  const spec = base(WIDTH, 46 * names.length + 6, rows, {
    scales: [{ name: "y", type: "band", domain: names, range: "height", padding: 0.1 }, { name: "x", type: "log", base: 2, domain: [1 / 8, 8], range: "width" },
             { name: "colour", type: "ordinal", domain: used, range: used.map(v => colour({ agrees: "c3", holds: "c1", differs: "c6" }[v] || "c7")) }],
    axes: [{ orient: "bottom", scale: "x", title: "ours / the paper\u2019s (8 and more, 1/8 and less at the ends)", values: [0.125, 0.25, 0.5, 2 / 3, 1, 4 / 3, 2, 4, 8], format: ".3~f", grid: true, domain: false, ticks: false, labelPadding: 5 },
           { orient: "left", scale: "y", ticks: false, domain: false, labelPadding: 8 }],
    legends: legend(used, { symbolType: "circle" }),
    marks: [{ type: "rect", encode: { update: { x: { scale: "x", value: 2 / 3 }, x2: { scale: "x", value: 4 / 3 }, y: { value: 0 }, y2: { signal: "height" }, fill: { value: colour("grid") }, fillOpacity: { value: 0.7 } } } },
            { type: "rule", encode: { update: { x: { scale: "x", value: 1 }, y: { value: 0 }, y2: { signal: "height" }, stroke: { value: colour("ink") }, strokeWidth: { value: 0.8 } } } },
            { type: "symbol", from: { data: "table" }, encode: { update: { x: { scale: "x", field: "v" }, y: { signal: "scale('y', datum.paper) + bandwidth('y') * (0.12 + 0.76 * datum.place)" },
              fill: { scale: "colour", field: "verdict" }, fillOpacity: { value: 0.8 }, size: { value: 36 }, tooltip: { field: "tip" } } } }],
  });
  names.forEach(n => rows.filter(r => r.paper === n).forEach((r, i) => (r.place = ((i * 7) % 11) / 10))); // apart, in a fixed order
  return [spec, rows];
}

page("claims", "Claims", papers.length, section => {
  const claims = papers.flatMap(s => s.value.figures.flatMap(f => f.claims.map(c => ({ ...c, of: s.value.paper, figure: f.id, anchor: `figure-${s.value.key}-${f.id}` }))));
  const unable = papers.flatMap(s => s.value.unable.map(u => ({ ...u, of: s.value.paper })));
  const count = v => claims.filter(c => c.verdict === v).length;
  const drawn = chart("claims-distance", "How far ours is from each claim; the band is a third");
  const list = el("div"), state = { paper: "", verdict: "" };
  const fill = () => list.replaceChildren(table([{ title: "paper", get: c => c.of, class: "name" }, { title: "figure", get: c => c.figure, class: "name",
    cell: c => el("a", { href: "#" + c.anchor }, c.figure) }, ...claimColumns],
    claims.filter(c => (!state.paper || c.of === state.paper) && (!state.verdict || c.verdict === state.verdict)), { stack: true }));
  section.append(el("h2", null, "Which claims hold"),
    tiles([[String(claims.length), "claims of " + papers.length + (papers.length === 1 ? " paper" : " papers")], [String(count("agrees")), "agree within a third"], [String(count("holds")), "hold as bounds"],
           [String(count("differs")), "differ by more"], [String(count("not compared")), "not compared: ours is of other sizes or of some benchmarks"],
           [String(count("not measured")), "not measured"], [String(unable.length), "no simulation can produce"]]),
    table([{ title: "paper", get: s => s.value.title }, ...VERDICTS.map(v => ({ title: v, get: s => s.value.figures.flatMap(f => f.claims).filter(c => c.verdict === v).length, style: "count" })),
           { title: "ran", get: s => s.value.ran, class: "why" }], papers));
  if (claims.some(c => c.paper > 0 && c.ours > 0)) {
    section.append(drawn.figure);
    drawn.draw(...distances(claims));
  }
  section.append(el("h3", null, "All claims"), el("div", { class: "controls" },
    choice("Paper", [["", "all"], ...papers.map(s => [s.value.paper, s.value.paper])], "", v => { state.paper = v; fill(); }),
    choice("Verdict", [["", "all"], ...VERDICTS.map(v => [v, v])], "", v => { state.verdict = v; fill(); })), list);
  fill();
  if (unable.length)
    section.append(el("h3", null, "Claims that no simulation can produce"), table([{ title: "paper", get: u => u.of, class: "name" }, { title: "claim", get: u => u.id, class: "mono" }, { title: "why", get: u => u.reason, class: "why" }], unable));
});

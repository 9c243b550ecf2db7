// The comparison: what each mechanism makes of each workload.
const METRICS = [
  { id: "speedup", title: "Speedup", axis: "speedup over the base machine", style: "factor", around: 1, mean: true },
  { id: "eliminated", title: "Instructions not executed", axis: "instructions not executed, %", style: "percent", around: 0, mean: true },
  { id: "energy_saved", title: "Energy saved", axis: "energy saved, %", style: "percent", around: 0, mean: true },
  { id: "energy_delay_saved", title: "Energy \u00d7 delay saved", axis: "energy \u00d7 delay saved, %", style: "percent", around: 0, mean: true },
  { id: "gpuwattch_saved", title: "Energy saved, as GPUWattch accounts for it", axis: "energy saved, %", style: "percent", around: 0, mean: true },
  { id: "rf_energy_saved", title: "Energy of the register file saved", axis: "energy of the register file saved, %", style: "percent", around: 0, mean: true },
  { id: "cycles", title: "Cycles", style: "count" },
  { id: "energy", title: "Energy", style: "joules" },
  { id: "rmse_over_mean", title: "RMSE/mean", style: "percent" },
  { id: "max_error", title: "max. error", style: "number" },
  { id: "mean_relative_error", title: "mean rel. error", style: "percent" },
  { id: "psnr", title: "PSNR, dB", style: "number" },
  { id: "differing", title: "values that differ", style: "percent" },
];

const sourcesOf = kind => data.sources.filter(s => s.kind === kind);
const comparisons = sourcesOf("comparison");
const metric = (run, id) => (run.metrics ? run.metrics[id] : null);

// Models that are compared with another one, and have a mean.
function compared(c) {
  return c.models.filter(m => c.geometric_means[m]);
}

// The borders between the colours of a heat map, the same on both sides; a few values far out do not make the others pale.
function stepsAround(values, middle) {
  const far = values.map(v => Math.abs(v - middle)).sort((a, b) => a - b), most = far[Math.floor(0.95 * (far.length - 1))] || far[far.length - 1] || 1;
  return [-0.85, -0.55, -0.28, -0.06, 0.06, 0.28, 0.55, 0.85].map(s => middle + s * most);
}

function rankingOf(c, m, draw) {
  const models = compared(c).filter(x => c.geometric_means[x][m.id] != null);
  const means = models.map(x => ({ name: x, v: c.geometric_means[x][m.id], tip: `${x}: ${shown(c.geometric_means[x][m.id], m.style)} in the geometric mean` }))
    .sort((a, b) => b.v - a.v);
  const rows = c.runs.filter(r => models.includes(r.model) && metric(r, m.id) != null)
    .map(r => ({ name: r.model, workload: r.workload, v: metric(r, m.id), tip: `${r.model}, ${r.workload}: ${shown(metric(r, m.id), m.style)}` }));
  draw(ranking({ means, rows, axis: m.axis, around: m.around }), [...means.map(x => ({ ...x, workload: "geometric mean" })), ...rows],
    `${m.title}: geometric mean of each mechanism (bar), and each workload (dots)`);
}

function heatmapOf(c, m, draw) {
  const models = compared(c);
  const rows = c.runs.filter(r => models.includes(r.model) && metric(r, m.id) != null).map(r => ({
    x: r.workload, y: r.model, v: metric(r, m.id), text: m.style === "factor" ? fixed(metric(r, m.id), 2) : fixed(metric(r, m.id), 0),
    tip: `${r.model}, ${r.workload}: ${shown(metric(r, m.id), m.style)}` }));
  draw(heatmap({ rows, xs: c.workloads, ys: models, steps: stepsAround(rows.map(r => r.v), m.around) }), rows, `${m.title}: every workload`);
}

function tradeOff(c, draw) {
  const rows = compared(c).map(m => ({ name: m, x: c.geometric_means[m].speedup, y: c.geometric_means[m].energy_saved }))
    .filter(r => r.x != null && r.y != null).map(r => ({ ...r, tip: `${r.name}: ${shown(r.x, "factor")} as fast, ${shown(r.y, "percent")} of the energy saved` }));
  draw(scatter({ rows, xTitle: "speedup", yTitle: "energy saved, %", label: true, width: 760, height: 380, rules: [["x", 1], ["y", 0]] }), rows);
}

function compareTable(c) {
  const there = METRICS.filter(m => c.runs.some(r => metric(r, m.id) != null));
  return table([
    { title: "workload", get: r => r.workload, class: "name" }, { title: "machine", get: r => r.model, class: "name" },
    { title: "result", get: r => r.status, cell: r => el("span", { class: "status " + r.status, title: r.message }, r.status !== "ok" ? r.status : r.approximate ? "approximate" : "same") },
    ...there.map(m => ({ title: m.title, get: r => (r.mech === "base" && m.mean ? null : metric(r, m.id)), style: m.style })),
  ], c.runs, { wide: true });
}

function comparison(section, source, number) {
  const c = source.value, id = name => `compare-${number}-${name}`;
  const wrong = c.runs.filter(r => r.status !== "ok");
  const best = m => {
    const all = compared(c).filter(x => c.geometric_means[x][m.id] != null).sort((a, b) => c.geometric_means[b][m.id] - c.geometric_means[a][m.id]);
    return all.length ? [shown(c.geometric_means[all[0]][m.id], m.style), `${m.title}: ${all[0]}`] : null;
  };
  section.append(el("h3", { id: id("head") }, source.name),
    el("p", { class: "soft" }, unique(c.runs.map(r => r.gpu || r.cpu).filter(Boolean)).join(", ")),
    tiles([[`${c.workloads.length} \u00d7 ${c.models.length}`, "workloads and machines"], best(METRICS[0]), best(METRICS[2]), best(METRICS[1]),
           [String(wrong.length), "runs that failed, are missing or are wrong"]]));
  const usable = METRICS.filter(m => m.mean && compared(c).some(x => c.geometric_means[x][m.id] != null));
  if (usable.length) {
    const ranks = chart(id("ranking"), ""), heat = chart(id("heatmap"), ""), trade = chart(id("tradeoff"), "Speed against energy: geometric means");
    const draw = name => {
      const m = usable.find(x => x.id === name);
      rankingOf(c, m, ranks.draw);
      heatmapOf(c, m, heat.draw);
    };
    section.append(el("div", { class: "controls" }, choice("Show", usable.map(m => [m.id, m.title]), usable[0].id, draw)), ranks.figure, heat.figure);
    draw(usable[0].id);
    if (compared(c).some(m => c.geometric_means[m].energy_saved != null)) {
      section.append(trade.figure);
      tradeOff(c, trade.draw);
    }
  }
  for (const [base, lists] of Object.entries(c.ranking || {}))
    section.append(el("h4", null, `Ranked, beside ${base}`), el("div", { class: "ranks" }, Object.entries(lists).map(([by, places]) =>
      table([{ title: by.replace(/_/g, " "), get: p => p.model, class: "name" }, { title: "", get: p => p.value, style: by === "time" ? "factor" : "percent" }], places))));
  section.append(el("details", { open: c.runs.length <= 40 }, el("summary", null, `All ${c.runs.length} runs`), compareTable(c)));
  if (wrong.length)
    section.append(el("h4", null, "What went wrong"), table([{ title: "workload", get: r => r.workload }, { title: "machine", get: r => r.model },
      { title: "", get: r => r.status }, { title: "message", get: r => r.message || "", class: "why" }], wrong));
}

page("compare", "Comparison", comparisons.length, section => {
  section.append(el("h2", null, "Comparison"), el("p", null, "Each workload on the base machine and with each mechanism. Every exact mechanism must leave the same bytes " +
    "in memory as the base machine; the error of those that approximate is in the table."));
  comparisons.forEach((s, i) => comparison(section, s, i + 1));
});

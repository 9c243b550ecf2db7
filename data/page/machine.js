// Where issue slots and energy go.
const SLOTS = [
  ["slot.issued", "issued"], ["slot.mechanism", "held by the mechanism"], ["slot.memory", "waits for memory"], ["slot.data", "waits for a result"],
  ["slot.unit", "unit busy"], ["slot.collector", "collectors full"], ["slot.fetch", "nothing fetched"], ["slot.barrier", "at a barrier"], ["slot.idle", "no warp"],
];
const PARTS = [
  ["front end", ["front_end", "pipeline", "fetch", "frontend"]], ["registers", ["register_file", "collectors"]],
  ["units", ["sp", "sfu", "dp", "tensor", "int", "fp", "mul", "core"]], ["memory in the SM", ["lsu", "shared", "l1", "const_tex", "l1d", "l1i"]],
  ["mechanism", ["mechanism", "memo"]], ["L2, network, DRAM", ["l2", "interconnect", "dram_controller", "dram"]], ["clock", ["clock"]],
  ["static", ["static", "constant", "empty_sms"]], ["other", []],
];

// All runs that have totals, whatever file they come from: {workload, model, totals}.
const timedRuns = [
  ...comparisons.flatMap(s => s.value.runs.filter(r => r.totals && r.totals.cycles).map(r => ({ source: s.name, workload: r.workload, model: r.model, totals: r.totals }))),
  ...sourcesOf("run").filter(s => s.value.totals.cycles).map(s => ({ source: s.name, workload: s.name, model: s.value.mech, totals: s.value.totals })),
];

function slotRows(run, x) {
  const c = run.totals.counters, all = SLOTS.reduce((sum, [name]) => sum + (c[name] || 0), 0);
  return all ? SLOTS.map(([name, words], order) => ({ x, series: words, order, v: (100 * (c[name] || 0)) / all }))
    .map(r => ({ ...r, tip: `${x}: ${r.series} ${shown(r.v, "percent")}` })) : [];
}

function energyRows(run, x, account, scale) {
  const parts = run.totals[account] || {}, rest = new Set(Object.keys(parts).filter(n => n !== "total"));
  return PARTS.map(([title, names], order) => {
    const own = title === "other" ? [...rest] : names.filter(n => rest.delete(n));
    const v = own.reduce((sum, n) => sum + parts[n], 0);
    return { x, series: title, order, v: (100 * v) / scale, joules: v,
             tip: `${x}: ${title} ${shown((100 * v) / scale, "percent")}, ${shown(v, "joules")}\n` + own.filter(n => parts[n]).map(n => `${n} ${shown(parts[n], "joules")}`).join("\n") };
  }).filter(r => r.v > 0 || r.series !== "other");
}

page("machine", "Slots and energy", timedRuns.length, section => {
  const sources = unique(timedRuns.map(r => r.source));
  const slots = chart("machine-slots", ""), energy = chart("machine-energy", "");
  const state = { source: sources[0], by: "", account: "energy" };
  const views = () => {
    const runs = timedRuns.filter(r => r.source === state.source);
    const workloads = unique(runs.map(r => r.workload)), models = unique(runs.map(r => r.model));
    return [...(models.length > 1 || workloads.length === 1 ? workloads.map(w => ["workload", w]) : []), ...(workloads.length > 1 ? models.map(m => ["model", m]) : [])];
  };
  const controls = el("div", { class: "controls" });
  const draw = () => {
    const [kind, name] = JSON.parse(state.by), other = kind === "workload" ? "model" : "workload";
    const runs = timedRuns.filter(r => r.source === state.source && r[kind] === name), xs = runs.map(r => r[other]), height = 22 * xs.length + 4;
    const first = r => (kind === "workload" ? runs[0] : r).totals[state.account];
    const a = runs.flatMap(r => slotRows(r, r[other])), b = runs.flatMap(r => (first(r) ? energyRows(r, r[other], state.account, first(r).total) : []));
    slots.draw(stackedBars({ rows: a, xs, series: SLOTS.map(s => s[1]), axis: "% of issue slots", height, total: 100, horizontal: true }), a, `Issue slots of ${name}`);
    energy.draw(stackedBars({ rows: b, xs, series: PARTS.map(p => p[0]).filter(p => b.some(r => r.series === p)), height, horizontal: true,
      axis: kind === "workload" ? `energy, % of ${runs[0].model}'s` : "% of the energy" }), b, `Energy of ${name}, by part`);
  };
  const choose = source => {
    state.source = source;
    const list = views();
    state.by = JSON.stringify((list.find(v => v[0] === "model") || list[0]));
    if (list.some(v => v[0] === "workload") && list.some(v => v[0] === "model")) state.by = JSON.stringify(list.find(v => v[0] === "workload"));
    controls.replaceChildren(
      ...(sources.length > 1 ? [choice("From", sources.map(s => [s, s]), source, choose)] : []),
      choice("Show", list.map(v => [JSON.stringify(v), v[0] === "workload" ? `${v[1]} on each machine` : `each workload on ${v[1]}`]), state.by, v => { state.by = v; draw(); }),
      choice("Energy as", [["energy", "the machine's own account"], ["gpuwattch", "GPUWattch accounts for it"]], state.account, v => { state.account = v; draw(); }));
    draw();
  };
  section.append(el("h2", null, "Issue slots and energy"), el("p", null, "In every cycle each scheduler of an SM has a slot for an instruction; what is not used is charged to what " +
    "kept its warps waiting. Energy is the count of each event times what it costs."), controls, slots.figure, energy.figure);
  choose(sources[0]);
});

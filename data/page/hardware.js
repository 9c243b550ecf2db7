// Cycles and instructions of launches beside what the counters of a real H200 say of the same ones.
const size = text => text.replace(/[()]/g, "").replace(/ /g, ","); // (64 1 1) is [64, 1, 1]
const hardware = data.hardware.map(h => ({ ...h, grid: size(h.grid), block: size(h.block) }));

// The launches that both have: of each run the workload and size whose launches have the same kernels, grids and blocks.
function sameLaunches(kernels) {
  const key = (kernel, grid, block) => `${kernel} ${grid} ${block}`;
  const named = new Map();
  hardware.forEach(h => named.set(`${h.workload} ${h.size}`, [...(named.get(`${h.workload} ${h.size}`) || []), h]));
  for (const rows of named.values()) {
    const fits = rows.every(h => kernels[h.launch] && key(kernels[h.launch].name, kernels[h.launch].grid, kernels[h.launch].block) === key(h.kernel, h.grid, h.block));
    if (fits) return rows.map(h => ({ real: h, ours: kernels[h.launch] }));
  }
  return [];
}

const ISH200 = name => /\bH200\b/i.test(name || "");
// Runs without mechanism, from files and from the store.
const plainRuns = [...sourcesOf("run").map(s => ({ name: s.name, ...s.value })), ...comparisons.flatMap(s => s.value.runs.map(r => ({ name: s.name, ...r })))]
  .filter(r => r.mech === "base" && r.kernels);
const matched = plainRuns.flatMap(s => sameLaunches(s.kernels).map(p => ({
  source: s.name, workload: p.real.workload, size: p.real.size, launch: p.real.launch, kernel: p.real.kernel,
  realCycles: p.real.cycles, cycles: ISH200(s.gpu) && p.ours.timed === "all" ? p.ours.cycles : null, realInsts: p.real.warp_insts, insts: p.ours.warp_insts })));

function sumBy(rows) {
  const names = unique(rows.map(r => r.workload));
  return names.map(name => {
    const own = rows.filter(r => r.workload === name), sum = (f, some) => some.reduce((a, r) => a + r[f], 0), timed = own.filter(r => r.cycles != null);
    return { workload: name, size: own[0].size, launches: own.length, insts: sum("insts", own), realInsts: sum("realInsts", own),
             cycles: timed.length ? sum("cycles", timed) : null, realCycles: timed.length ? sum("realCycles", timed) : null };
  }).map(r => ({ ...r, instRatio: r.insts / r.realInsts, cycleRatio: r.cycles == null ? null : r.cycles / r.realCycles }));
}

page("hardware", "H200", matched.length, section => {
  const all = sumBy(matched), timed = all.filter(r => r.cycleRatio != null), distance = (list, f) => list.reduce((s, r) => s + Math.abs(r[f] - 1), 0) / list.length;
  const points = (rows, ours, real) => rows.filter(r => r[ours] > 0 && r[real] > 0).map(r => ({ name: r.kernel, workload: r.workload, x: r[real], y: r[ours],
    tip: `${r.workload}, launch ${r.launch}: ${r.kernel}\nH200 ${short(r[real])}, ours ${short(r[ours])}` }));
  section.append(el("h2", null, "Beside a real H200"), el("p", null, "The same launches of the same PTX on an H200, as its hardware counters tell, and here. On the dashed line both are the same."),
    tiles([[short(geomean(all.map(r => r.instRatio))), "warp instructions, ours / H200, geometric mean"], [shown(100 * distance(all, "instRatio"), "percent"), "mean distance of the workloads, instructions"],
           timed.length ? [short(geomean(timed.map(r => r.cycleRatio))), "cycles, ours / H200, geometric mean"] : null,
           timed.length ? [shown(100 * distance(timed, "cycleRatio"), "percent"), "mean distance of the workloads, cycles"] : null]));
  const insts = chart("hardware-insts", "Warp instructions of each launch"), pair = el("div", { class: "pair" }, insts.figure);
  section.append(pair);
  const a = points(matched, "insts", "realInsts");
  insts.draw(scatter({ rows: a, xTitle: "H200", yTitle: "ours", log: true, diagonal: true, width: 480, height: 400 }), a);
  const b = points(matched, "cycles", "realCycles");
  if (b.length) {
    const cycles = chart("hardware-cycles", "Cycles of each launch");
    pair.append(cycles.figure);
    cycles.draw(scatter({ rows: b, xTitle: "H200", yTitle: "ours", log: true, diagonal: true, width: 480, height: 400 }), b);
  }
  section.append(el("h3", null, "By workload"), table([
    { title: "workload", get: r => r.workload, class: "name" }, { title: "size", get: r => r.size }, { title: "launches", get: r => r.launches, style: "count" },
    { title: "instructions, ours", get: r => r.insts, style: "count" }, { title: "H200", get: r => r.realInsts, style: "count" }, { title: "ratio", get: r => r.instRatio, style: "factor" },
    { title: "cycles, ours", get: r => r.cycles, style: "count" }, { title: "H200", get: r => r.realCycles, style: "count" }, { title: "ratio", get: r => r.cycleRatio, style: "factor" }], all));
});

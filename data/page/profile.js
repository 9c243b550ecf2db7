// Profiles: how much of a program is redundant, where, and what would remove it.
const profiles = sourcesOf("profile");

// Kinds of redundancy as bars: [title, [[part, counter] ...], counters of which they are a share].
const KINDS = [
  ["repeated in 1,000 instructions", [["", "repeat.1k"]], ["insts"]],
  ["repeated in 10,000 instructions", [["", "repeat.10k"]], ["insts"]],
  ["same in all warps of the grid", [["uniform", "grid.uniform"], ["affine", "grid.affine"], ["unstructured", "grid.unstructured"]], ["insts"]],
  ["same in all warps of the block", [["uniform", "block.uniform"], ["affine", "block.affine"], ["unstructured", "block.unstructured"]], ["insts"]],
  ["one value in all lanes", [["uniform", "scalar"]], ["insts"]],
  ["... in a half", [["uniform", "half"]], ["insts"]],
  ["... in the active lanes, divergent", [["uniform", "divergent.scalar"]], ["insts"]],
  ["all operands affine", [["affine", "affine.operands"]], ["insts"]],
  ["affine addresses, % of accesses", [["affine", "affine.addresses"]], ["addresses"]],
  ["affine predicates, % of comparisons", [["affine", "affine.predicates"]], ["predicates"]],
  ["silent stores, % of stores", [["", "stores.silent"]], ["stores"]],
  ["loads of what was loaded, % of loads", [["", "loads.again"]], ["loads"]],
  ["narrow registers, % of accesses", [["1 byte", "width.1"], ["2 bytes", "width.2"], ["3 bytes", "width.3"]], ["width.1", "width.2", "width.3", "width.4"]],
];
const FORMS = ["", "uniform", "affine", "unstructured", "1 byte", "2 bytes", "3 bytes"];

const redundantOf = c => (c.old || 0) + (c.one_lane || 0);
const kernelName = k => k.demangled || k.name;
const fileName = path => path.slice(path.lastIndexOf("/") + 1);
const placeName = p => `${fileName(p.file)}:${p.line}`;
const share = (part, all) => (all ? (100 * part) / all : 0);

function kindsChart(p, drawn) {
  const rows = KINDS.flatMap(([x, parts, of]) => {
    const all = of.reduce((sum, n) => sum + (p.totals[n] || 0), 0);
    return parts.map(([form, n]) => ({ x, series: form || "all", order: FORMS.indexOf(form), v: share(p.totals[n] || 0, all) }));
  }).map(r => ({ ...r, tip: `${r.x}${r.series === "all" ? "" : ", " + r.series}: ${shown(r.v, "percent")}` }));
  drawn.draw(stackedBars({ rows, xs: KINDS.map(k => k[0]), series: FORMS.map(f => f || "all"), axis: "% of warp instructions, unless it says otherwise", height: 20 * KINDS.length,
    horizontal: true, width: 760 }), rows);
}

function mechanismsChart(p, drawn) {
  const rows = p.mechanisms.map(m => ({ x: m.name, series: "reach", order: 0, v: share(m.reaches, p.totals.insts), tip: `${m.name}: ${m.saves}\n${shown(share(m.reaches, p.totals.insts), "percent")}` }));
  drawn.draw(stackedBars({ rows, xs: rows.map(r => r.x), series: ["reach"], axis: "% of warp instructions", height: 24 * rows.length, horizontal: true, width: 360 }), rows);
}

// The lines of a kernel by place; one that was inlined in several ways is one line, with the words of the hottest.
function byPlace(kernel) {
  const found = new Map();
  kernel.lines.forEach(l => {
    const key = JSON.stringify([l.file, l.line]), old = found.get(key);
    if (!old) found.set(key, { ...l, counts: { ...l.counts }, mechanisms: [...l.mechanisms] });
    else {
      Object.entries(l.counts).forEach(([n, v]) => (old.counts[n] = (old.counts[n] || 0) + v));
      old.mechanisms = unique([...old.mechanisms, ...l.mechanisms]);
    }
  });
  return [...found.values()].sort((a, b) => redundantOf(b.counts) - redundantOf(a.counts));
}

// One line as rows of the listing: counts and text; why, when it has a part in the program's redundancy; its machine code, folded.
function lineRows(kernel, number, text, line, all) {
  if (!line)
    return [el("tr", null, el("td"), el("td"), el("td"), el("td", { class: "number" }, String(number)), el("td", { class: "line" }, text))];
  const heat = share(redundantOf(line.counts), all), own = line.counts.insts || 0;
  const insts = kernel.insts.filter(i => i.file === line.file && i.line === line.line && i.counts.insts);
  const first = el("tr", { class: "counted" },
    el("td", null, el("span", { class: "meter", title: "redundant instructions of the line, of all of the program" }, el("i", { style: `width:${Math.min(100, 4 * heat).toFixed(1)}%` }))),
    el("td", null, shown(heat, "percent")), el("td", null, shown(share(redundantOf(line.counts), own), "percent")),
    el("td", { class: "number" }, String(number)), el("td", { class: "line" }, text));
  if (heat < 0.5) return [first];
  return [first, el("tr", { class: "reason" }, el("td", { colspan: 4 }), el("td", { class: "reason" },
    [line.reason, line.mechanisms.length ? `caught by ${line.mechanisms.join(", ")}` : "caught by none"].filter(Boolean).join(" \u00b7 "),
    insts.length ? el("details", null, el("summary", null, `${insts.length} machine instruction${insts.length === 1 ? "" : "s"}`),
      table([{ title: "pc", get: i => i.pc, style: "count", cell: i => i.pc.toString(16).padStart(4, "0"), class: "mono" }, { title: "machine code", get: i => i.text, class: "mono" },
        { title: "executed", get: i => i.counts.insts, style: "count" }, { title: "redundant", get: i => share(redundantOf(i.counts), i.counts.insts), style: "percent" },
        { title: "why", get: i => i.reason, class: "why" }, { title: "caught by", get: i => i.mechanisms.join(", ") }], insts)) : null))];
}

// The source of a kernel, with what each line costs: around the lines that were executed, or, without the file, those lines.
function listing(p, kernel) {
  const NEAR = 3, lines = byPlace(kernel), heatOf = f => lines.reduce((sum, l) => sum + (l.file === f ? redundantOf(l.counts) : 0), 0);
  const files = unique(lines.map(l => l.file)).sort((a, b) => heatOf(b) - heatOf(a));
  return files.map(file => {
    const own = new Map(lines.filter(l => l.file === file).map(l => [l.line, l])), source = p.sources[file], body = el("tbody");
    const numbers = source ? source.map((_, i) => i + 1).filter(n => [...own.keys()].some(k => Math.abs(k - n) <= NEAR)) : [...own.keys()].sort((a, b) => a - b);
    numbers.forEach((n, i) => {
      if (i && n !== numbers[i - 1] + 1 && source) body.append(el("tr", null, el("td", { colspan: 4 }), el("td", { class: "line soft" }, "\u22ee")));
      body.append(...lineRows(kernel, n, source ? source[n - 1] : (own.get(n).text || ""), own.get(n), p.totals.insts));
    });
    return [el("h4", null, fileName(file) || "source"), el("div", { class: "code" }, el("table", null,
      el("thead", null, el("tr", null, el("th", { colspan: 2 }, "heat"), el("th", null, "redundant"), el("th"), el("th", { class: "text" }, "source"))), body))];
  });
}

function profile(section, source, number) {
  const p = source.value, all = p.totals.insts, id = name => `profile-${number}-${name}`;
  const kinds = chart(id("kinds"), "What kind of redundancy"), mechs = chart(id("mechanisms"), "What mechanisms could reach, at best");
  const hottest = p.kernels.flatMap(k => byPlace(k).slice(0, 10).map(l => ({ ...l, kernel: kernelName(k) }))).sort((a, b) => redundantOf(b.counts) - redundantOf(a.counts)).slice(0, 10);
  const code = el("div"), names = apart(p.kernels.map(kernelName)), show = i => code.replaceChildren(...listing(p, p.kernels[i]).flat());
  section.append(el("h3", null, source.name),
    tiles([[shown(share(p.totals.old, all), "percent"), "of the warp instructions do nothing new"], [shown(share(p.totals.one_lane, all), "percent"), "of them compute one value in all lanes"],
           [short(all), "warp instructions"], [String(p.kernels.length), p.kernels.length === 1 ? "kernel" : "kernels"]]),
    p.incomplete ? el("p", null, `The program was ${p.incomplete}: this is what it had done.`) : "",
    el("div", { class: "pair uneven" }, kinds.figure, mechs.figure));
  kindsChart(p, kinds);
  mechanismsChart(p, mechs);
  section.append(el("h4", null, "Where most of it is"), table([
    { title: "line", get: placeName, class: "mono name" }, ...(p.kernels.length > 1 ? [{ title: "kernel", get: l => l.kernel, class: "mono kernel" }] : []), { title: "heat", get: l => share(redundantOf(l.counts), all), style: "percent" },
    { title: "redundant", get: l => share(redundantOf(l.counts), l.counts.insts), style: "percent" }, { title: "source", get: l => (l.text || "").trim(), class: "mono" },
    { title: "why", get: l => l.reason, class: "why" }, { title: "caught by", get: l => l.mechanisms.join(", ") }], hottest, { wide: true }),
    el("h4", null, "Kernels"), table([
      { title: "kernel", get: kernelName, class: "mono" }, { title: "launches", get: k => k.launches, style: "count" }, { title: "warp instructions", get: k => k.counts.insts, style: "count" },
      { title: "share", get: k => share(k.counts.insts, all), style: "percent" }, { title: "nothing new", get: k => share(k.counts.old, k.counts.insts), style: "percent" },
      { title: "one lane", get: k => share(k.counts.one_lane, k.counts.insts), style: "percent" }, { title: "cycles", get: k => k.cycles, style: "count" }], p.kernels),
    el("h4", null, "Annotated source"), el("p", { class: "soft small" }, "Heat: redundant instructions of the line, of all instructions of the program; redundant: of the line\u2019s own."),
    p.kernels.length > 1 ? el("div", { class: "controls" }, choice("Kernel", names.map((n, i) => [i, n]), 0, show)) : "", code);
  if (p.kernels.length) show(0);
}

page("profile", "Profile", profiles.length, section => {
  section.append(el("h2", null, "Where the redundancy is"), el("p", null, "Counted on the base machine, without any mechanism. An instruction does nothing new when its computation is among the last " +
    "10,000 of its SM, when another warp of the block has done the same at the same place, when it stores what is there, or loads what it loaded before."));
  profiles.forEach((s, i) => profile(section, s, i + 1));
});

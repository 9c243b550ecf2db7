// What ran where: the manifest of every file and run, and the parameters of every machine.
const machines = (() => {
  const found = new Map();
  const add = (name, machine) => machine != null && found.set(`${machine} ${name}`, { name, settings: data.machines[machine] });
  comparisons.forEach(s => s.value.runs.forEach(r => add(`${r.gpu || r.cpu} \u00b7 ${r.model}`, r.machine)));
  sourcesOf("run").forEach(s => add(`${s.value.gpu || s.value.cpu} \u00b7 ${s.value.mech}`, s.value.machine));
  const list = [...found.values()];
  return apart(list.map(m => m.name)).map((name, i) => ({ name, settings: list[i].settings }));
})();

// The parameters of one machine, or of two, side by side.
function settingsTable() {
  const body = el("div"), state = { one: 0, two: -1, word: "" };
  const fill = () => {
    const list = [machines[state.one], ...(state.two < 0 ? [] : [machines[state.two]])], value = (m, n) => (m.settings[n] === undefined ? NONE : String(m.settings[n]));
    const differs = n => list.length > 1 && value(list[0], n) !== value(list[1], n);
    const some = unique(list.flatMap(m => Object.keys(m.settings))).filter(n => n.includes(state.word) && (list.length === 1 || differs(n)));
    body.replaceChildren(some.length ? table([{ title: "parameter", get: n => n, class: "mono name" }, ...list.map(m => ({ title: m.name, get: n => value(m, n) }))], some)
      : el("p", { class: "soft" }, state.word ? "No such parameter." : "They do not differ."));
  };
  const names = machines.map((m, i) => [i, m.name]);
  fill();
  return [el("div", { class: "controls" }, choice("Machine", names, 0, i => { state.one = i; fill(); }),
    machines.length > 1 ? choice("where it differs from", [[-1, NONE], ...names], -1, i => { state.two = i; fill(); }) : null,
    el("label", null, "Find", el("input", { type: "search", oninput: e => { state.word = e.target.value; fill(); } }))), body];
}

page("setup", "Configuration", true, section => {
  const kinds = { run: "a run", comparison: "a comparison", figures: "a paper\u2019s figures", profile: "a profile", pictures: "pictures of approximated results" };
  section.append(el("h2", null, "Configuration and manifest"),
    el("p", null, `Written by Reprise ${data.version} on ${data.host}, ${data.made}.`),
    table([{ title: "from", get: s => s.name }, { title: "what it is", get: s => kinds[s.kind] }, { title: "version", get: s => s.version || NONE },
           { title: "hash of the file", get: s => s.hash || NONE, class: "mono" }], data.sources));
  const manifest = data.sources.flatMap(s => s.manifest || []);
  if (manifest.length)
    section.append(el("h3", null, "Every run"), table([
      { title: "benchmark", get: m => m.benchmark, class: "name" }, { title: "size", get: m => m.size }, { title: "machine", get: m => m.machine, class: "name" }, { title: "mechanism", get: m => m.mech },
      { title: "version", get: m => m.version }, { title: "configuration", get: m => m.machine_hash, class: "mono" }, { title: "program", get: m => m.program_hash, class: "mono" },
      { title: "input", get: m => m.input_hash, class: "mono" }, { title: "host", get: m => m.host }, { title: "started", get: m => m.started, class: "name" },
      { title: "seconds", get: m => m.wall_s, style: "number" }], manifest, { wide: true }));
  if (machines.length) section.append(el("h3", null, "Parameters"), ...settingsTable());
});

// Charts: specifications of Vega, drawn as SVG. Colours are variables of CSS, so that light, dark and paper need no other drawing; files
// that leave the page have the light ones written in.
const dataflow = require("vega-dataflow");
for (const name of ["vega-transforms", "vega-view-transforms", "vega-encode", "vega-label"]) Object.assign(dataflow.transforms, require(name));
const vega = { parse: require("vega-parser").parse, View: require("vega-view").View, interpret: require("vega-interpreter").expressionInterpreter };

// Okabe and Ito's colours, which people with any kind of colour vision tell apart; then greys. d: from less to more, around the middle.
const palette = {
  light: { c1: "#0072b2", c2: "#e69f00", c3: "#009e73", c4: "#cc79a7", c5: "#56b4e9", c6: "#d55e00", c7: "#7a7f87", c8: "#b8bcc2", c9: "#d9dbdf",
           ink: "#1b1d21", soft: "#5a6069", grid: "#e3e5e9", ground: "#ffffff",
           d1: "#b35806", d2: "#e08214", d3: "#fdb863", d4: "#fde3c0", d5: "#f4f4f4", d6: "#d3e5f2", d7: "#9ecae1", d8: "#4a98c9", d9: "#1764ab" },
  dark: { c1: "#4fa8e0", c2: "#eeb340", c3: "#2fbf93", c4: "#d993ba", c5: "#8ccbf1", c6: "#f07f3a", c7: "#8d939c", c8: "#646a73", c9: "#474c54",
          ink: "#eceef1", soft: "#a5abb5", grid: "#2d3137", ground: "#15171a",
          d1: "#e08a3c", d2: "#b56a24", d3: "#7f4d20", d4: "#4a3420", d5: "#2a2d31", d6: "#213747", d7: "#225072", d8: "#2c76aa", d9: "#4ea5e0" },
};
const SERIES = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"];
const colour = name => `var(--${name})`;
const seriesColours = n => Array.from({ length: n }, (_, i) => colour(SERIES[i % SERIES.length]));

function paletteStyle() {
  const set = p => Object.entries(p).map(([k, v]) => `--${k}:${v};`).join("");
  const own = ({ ink, soft, ground, ...rest }) => rest; // those are the page's
  return el("style", null, `:root{${set(own(palette.light))}}:root[data-theme="dark"]{${set(own(palette.dark))}}` +
    `@media print{:root,:root[data-theme="dark"]{${set(own(palette.light))}}}`);
}

const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const config = {
  axis: { labelColor: colour("ink"), titleColor: colour("ink"), domainColor: colour("soft"), tickColor: colour("soft"), gridColor: colour("grid"),
          labelFont: FONT, titleFont: FONT, labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 8, labelLimit: 280 },
  legend: { labelColor: colour("ink"), titleColor: colour("soft"), labelFont: FONT, titleFont: FONT, labelFontSize: 11, titleFontSize: 11,
            titleFontWeight: "normal", symbolType: "square", symbolSize: 90, orient: "top", direction: "horizontal", columnPadding: 14,
            labelLimit: 260, offset: 8, padding: 0 },
  text: { font: FONT, fill: colour("ink"), fontSize: 11 },
  symbol: { size: 45 },
};
const WIDTH = 1150;

// ---- parts of specifications ----

function legend(series, { fill = "colour", ...more } = {}) {
  const room = Math.floor(150 / (5 + Math.max(...series.map(s => s.length))));
  return series.length > 1 ? [{ fill, columns: Math.max(1, Math.min(series.length, room)), ...more }] : [];
}

function base(width, height, values, rest) {
  return { width, height, padding: 4, background: colour("ground"), autosize: rest.autosize || { type: "fit-x", contains: "padding" }, config, data: [{ name: "table", values }, ...(rest.more || [])],
           scales: rest.scales, axes: rest.axes, legends: rest.legends || [], marks: rest.marks };
}

// Labels of a band scale below: slanted when they are many and long.
function bandAxis(scale, labels, room) {
  const long = Math.max(...labels.map(l => l.length)) * 6.2 > room / labels.length;
  return { orient: "bottom", scale, ticks: false, labelPadding: 5, domain: true,
           ...(long ? { labelAngle: -50, labelAlign: "right", labelBaseline: "middle" } : {}) };
}

function valueAxis(title, more) {
  return { orient: "left", scale: "y", title, grid: true, tickCount: 6, domain: false, ticks: false, labelPadding: 6, ...more };
}

// Bars in clusters: rows {x, series, v}; marks {x, series, v}: what the paper says, drawn as diamonds.
function clusteredBars({ rows, xs, series, axis, marks = [], height = 240, width = WIDTH, rule }) {
  const y = { name: "y", type: "linear", range: "height", nice: true, zero: true, domain: { fields: [{ data: "table", field: "v" }, { data: "marks", field: "v" }] } };
  return base(width, height, rows, {
    more: [{ name: "marks", values: marks }],
    scales: [{ name: "x", type: "band", domain: xs, range: "width", paddingInner: series.length > 1 ? 0.25 : 0.3, paddingOuter: 0.1 }, y,
             { name: "inner", type: "band", domain: series, range: { signal: "[0, bandwidth('x')]" }, padding: 0 },
             { name: "colour", type: "ordinal", domain: series, range: seriesColours(series.length) }],
    axes: [valueAxis(axis), { ...bandAxis("x", xs, width), zindex: 1 }],
    legends: legend(series),
    marks: [
      { type: "group", from: { facet: { data: "table", name: "cluster", groupby: "x" } }, encode: { update: { x: { scale: "x", field: "x" } } },
        marks: [{ type: "rect", from: { data: "cluster" }, encode: { update: {
          x: { scale: "inner", field: "series" }, width: { scale: "inner", band: 0.94 }, y: { scale: "y", field: "v" }, y2: { scale: "y", value: 0 },
          fill: { scale: "colour", field: "series" }, tooltip: { field: "tip" } } } }] },
      ...(rule == null ? [] : [{ type: "rule", encode: { update: { x: { value: 0 }, x2: { signal: "width" }, y: { scale: "y", value: rule },
        stroke: { value: colour("ink") }, strokeDash: { value: [4, 3] }, strokeWidth: { value: 0.8 } } } }]),
      ...paperMarks(true),
    ],
  });
}

// Diamonds where the paper's values are.
function paperMarks(inner) {
  return [{ type: "symbol", from: { data: "marks" }, encode: { update: {
    x: inner ? { signal: "scale('x', datum.x) + scale('inner', datum.series) + bandwidth('inner') / 2" } : { scale: "x", field: "x", band: 0.5 },
    y: { scale: "y", field: "v" }, shape: { value: "diamond" }, size: { value: 70 }, fill: { value: colour("ground") },
    stroke: { value: colour("ink") }, strokeWidth: { value: 1.4 }, tooltip: { field: "tip" } } } }];
}

// Bars of parts, one above the other: rows {x, series, v} and, where several bars share an x, {bar}.
function stackedBars({ rows, xs, series, bars = [""], axis, height = 240, width = WIDTH, total, marks = [], horizontal = false }) {
  const along = horizontal ? "y" : "x", across = horizontal ? "x" : "y";
  const spec = base(width, height, [], {
    scales: [{ name: along, type: "band", domain: xs, range: horizontal ? "height" : "width", paddingInner: bars.length > 1 ? 0.25 : 0.3, paddingOuter: 0.1 },
             { name: "inner", type: "band", domain: bars, range: { signal: `[0, bandwidth('${along}')]` }, padding: bars.length > 1 ? 0.06 : 0 },
             { name: across, type: "linear", range: horizontal ? "width" : "height", nice: total == null, zero: true,
               domain: total == null ? { fields: [{ data: "table", field: "to" }, { data: "marks", field: "v" }] } : [0, total] },
             { name: "colour", type: "ordinal", domain: series, range: seriesColours(series.length) }],
    axes: horizontal
      ? [{ orient: "bottom", scale: "x", title: axis, grid: true, tickCount: 8, domain: false, ticks: false, labelPadding: 5 },
         { orient: "left", scale: "y", ticks: false, domain: false, labelPadding: 6, zindex: 1 }]
      : [valueAxis(axis), { ...bandAxis("x", xs, width), zindex: 1 }],
    legends: legend(series),
    marks: [{ type: "rect", from: { data: "table" }, encode: { update: {
      [along]: { signal: `scale('${along}', datum.x) + scale('inner', datum.bar)` }, [horizontal ? "height" : "width"]: { scale: "inner", band: 1 },
      [across]: { scale: across, field: "from" }, [across + "2"]: { scale: across, field: "to" }, fill: { scale: "colour", field: "series" },
      tooltip: { field: "tip" } } } }, ...(horizontal ? [] : paperMarks(false))],
  });
  spec.data = [{ name: "table", values: rows.map(r => ({ bar: "", ...r })), transform: [
    { type: "stack", groupby: ["x", "bar"], field: "v", sort: { field: "order" }, as: ["from", "to"] }] }, { name: "marks", values: marks }];
  return spec;
}

// Bars with their parts drawn inside, from zero, narrower: the first of the series is the whole.
function nestedBars({ rows, xs, series, axis, height = 240, width = WIDTH, marks = [] }) {
  return base(width, height, rows, {
    more: [{ name: "marks", values: marks }],
    scales: [{ name: "x", type: "band", domain: xs, range: "width", paddingInner: 0.3, paddingOuter: 0.1 },
             { name: "y", type: "linear", range: "height", nice: true, zero: true, domain: { fields: [{ data: "table", field: "v" }, { data: "marks", field: "v" }] } },
             { name: "inset", type: "ordinal", domain: series, range: series.map((_, i) => Math.min(0.42, 0.22 * i)) },
             { name: "colour", type: "ordinal", domain: series, range: seriesColours(series.length) }],
    axes: [valueAxis(axis), { ...bandAxis("x", xs, width), zindex: 1 }],
    legends: legend(series),
    marks: [{ type: "rect", from: { data: "table" }, encode: { update: {
      x: { signal: "scale('x', datum.x) + bandwidth('x') * scale('inset', datum.series)" },
      width: { signal: "bandwidth('x') * (1 - 2 * scale('inset', datum.series))" },
      y: { scale: "y", field: "v" }, y2: { scale: "y", value: 0 }, fill: { scale: "colour", field: "series" }, tooltip: { field: "tip" } } } }, ...paperMarks(false)],
  });
}

// Lines over steps: rows {x, series, v}. zero: the scale begins there.
function lines({ rows, xs, series, axis, height = 240, width = 560, marks = [], zero = true }) {
  return base(width, height, rows, {
    more: [{ name: "marks", values: marks }],
    scales: [{ name: "x", type: "band", domain: xs, range: "width" },
             { name: "y", type: "linear", range: "height", nice: true, zero, domain: { fields: [{ data: "table", field: "v" }, { data: "marks", field: "v" }] } },
             { name: "colour", type: "ordinal", domain: series, range: seriesColours(series.length) }],
    axes: [valueAxis(axis), { ...bandAxis("x", xs, width), zindex: 1 }],
    legends: legend(series, { symbolType: "circle" }),
    marks: [{ type: "group", from: { facet: { data: "table", name: "line", groupby: "series" } }, marks: [
      { type: "line", from: { data: "line" }, encode: { update: { x: { scale: "x", field: "x", band: 0.5 }, y: { scale: "y", field: "v" },
        stroke: { scale: "colour", field: "series" }, strokeWidth: { value: 2 } } } },
      { type: "symbol", from: { data: "line" }, encode: { update: { x: { scale: "x", field: "x", band: 0.5 }, y: { scale: "y", field: "v" },
        fill: { scale: "colour", field: "series" }, tooltip: { field: "tip" } } } }] }, ...paperMarks(false)],
  });
}

// A small chart for each of some names, with lines over steps: rows {panel, x, series, v}.
function panels({ rows, names, xs, series, axis, columns = 5 }) {
  const spec = base(0, 0, rows, {
    autosize: "pad",
    scales: [{ name: "x", type: "point", domain: xs, range: [0, 170], padding: 0.4 },
             { name: "y", type: "linear", range: [150, 0], nice: true, zero: true, domain: { data: "table", field: "v" } },
             { name: "colour", type: "ordinal", domain: series, range: seriesColours(series.length) }],
    legends: [{ fill: "colour", symbolType: "circle", title: axis, titleColor: colour("ink") }],
    marks: [{ type: "group", from: { facet: { data: "table", name: "panel", groupby: "panel" } },
      encode: { update: { width: { value: 170 }, height: { value: 150 } } },
      title: { text: { signal: "parent.panel" }, fontSize: 12, font: FONT, color: colour("ink"), offset: 4 },
      axes: [{ orient: "left", scale: "y", grid: true, gridScale: "x", tickCount: 5, domain: false, ticks: false, labelPadding: 5 }, { orient: "bottom", scale: "x", ticks: false, labelPadding: 4, labelFontSize: 9.5 }],
      marks: [{ type: "group", from: { facet: { data: "panel", name: "line", groupby: "series" } }, marks: [
        { type: "line", from: { data: "line" }, encode: { update: { x: { scale: "x", field: "x" }, y: { scale: "y", field: "v" }, stroke: { scale: "colour", field: "series" }, strokeWidth: { value: 1.6 } } } },
        { type: "symbol", from: { data: "line" }, encode: { update: { x: { scale: "x", field: "x" }, y: { scale: "y", field: "v" }, size: { value: 22 }, fill: { scale: "colour", field: "series" },
          tooltip: { field: "tip" } } } }] }] }],
  });
  return { ...spec, layout: { columns: Math.min(columns, names.length), padding: { column: 18, row: 18 }, bounds: "full", align: "each" } };
}

// One row for each name: a bar for the mean, a dot for each of the rows {name, v}. around: where bars begin.
function ranking({ means, rows, axis, around, format }) {
  const names = means.map(m => m.name);
  return base(WIDTH, 20 * names.length + 4, means, {
    more: [{ name: "dots", values: rows }],
    scales: [{ name: "y", type: "band", domain: names, range: "height", padding: 0.3 },
             { name: "x", type: "linear", range: "width", nice: true, zero: around === 0, domain: { fields: [{ data: "dots", field: "v" }, { data: "table", field: "v" }, { signal: `[${around}]` }] } }],
    axes: [{ orient: "bottom", scale: "x", title: axis, grid: true, tickCount: 10, domain: false, ticks: false, labelPadding: 5 },
           { orient: "left", scale: "y", ticks: false, domain: false, labelPadding: 8, zindex: 1 }],
    marks: [
      { type: "rect", from: { data: "table" }, encode: { update: { y: { scale: "y", field: "name" }, height: { scale: "y", band: 1 },
        x: { scale: "x", field: "v" }, x2: { scale: "x", value: around }, fill: { value: colour("c1") }, fillOpacity: { value: 0.85 }, tooltip: { field: "tip" } } } },
      { type: "symbol", from: { data: "dots" }, encode: { update: { y: { scale: "y", field: "name", band: 0.5 }, x: { scale: "x", field: "v" },
        size: { value: 26 }, fill: { value: colour("c2") }, stroke: { value: colour("ground") }, strokeWidth: { value: 0.6 }, tooltip: { field: "tip" } } } },
      { type: "rule", encode: { update: { x: { scale: "x", value: around }, y: { value: 0 }, y2: { signal: "height" }, stroke: { value: colour("ink") }, strokeWidth: { value: 0.8 } } } },
    ],
  });
}

// Values as coloured cells: rows {x, y, v, text, tip}; steps: the eight borders between nine colours.
function heatmap({ rows, xs, ys, steps, width = WIDTH }) {
  return base(width, 21 * ys.length, rows, {
    scales: [{ name: "x", type: "band", domain: xs, range: "width", padding: 0.02 }, { name: "y", type: "band", domain: ys, range: "height", padding: 0.06 },
             { name: "colour", type: "threshold", domain: steps, range: [1, 2, 3, 4, 5, 6, 7, 8, 9].map(i => colour("d" + i)) },
             { name: "inkOf", type: "threshold", domain: [steps[0], steps[7]], range: [colour("ground"), colour("ink"), colour("ground")] }],
    axes: [{ ...bandAxis("x", xs, width), orient: "top", labelAlign: undefined, ...(Math.max(...xs.map(x => x.length)) * 6.2 > width / xs.length
             ? { labelAngle: -50, labelAlign: "left", labelBaseline: "middle" } : {}), domain: false },
           { orient: "left", scale: "y", ticks: false, domain: false, labelPadding: 6 }],
    marks: [{ type: "rect", from: { data: "table" }, encode: { update: { x: { scale: "x", field: "x" }, width: { scale: "x", band: 1 }, y: { scale: "y", field: "y" },
              height: { scale: "y", band: 1 }, fill: { scale: "colour", field: "v" }, tooltip: { field: "tip" } } } },
            { type: "text", from: { data: "table" }, interactive: false, encode: { update: { x: { scale: "x", field: "x", band: 0.5 }, y: { scale: "y", field: "y", band: 0.5 },
              align: { value: "center" }, baseline: { value: "middle" }, fontSize: { value: xs.length > 20 ? 9 : 11 }, text: { field: "text" }, fill: { scale: "inkOf", field: "v" } } } }],
  });
}

// Round numbers of a scale of powers: 1, 2 and 5 times those of ten, or, of a long one, these alone.
function powers(values) {
  const from = Math.floor(Math.log10(Math.min(...values))), to = Math.ceil(Math.log10(Math.max(...values))), steps = to - from > 2 ? [1] : [1, 2, 5];
  return Array.from({ length: to - from + 1 }, (_, i) => steps.map(s => s * 10 ** (from + i))).flat();
}

// Points {x, y, name, tip}; with labels when asked, a diagonal when both axes have one unit.
function scatter({ rows, xTitle, yTitle, log = false, diagonal = false, label = false, width = 560, height = 420, rules = [] }) {
  const scale = (name, field, range) => ({ name, type: log ? "log" : "linear", range, nice: true, zero: false,
    domain: { fields: [...(diagonal ? ["x", "y"] : [field]).map(f => ({ data: "table", field: f })), { signal: `[${rules.filter(r => r[0] === name).map(r => r[1])}]` }] } });
  const axis = (orient, name, title) => ({ orient, scale: name, title, grid: true, domain: false, ticks: false, labelPadding: 5, ...(log ? { format: "~s", values: powers(rows.flatMap(r => [r.x, r.y])) } : { tickCount: 8 }) });
  return base(width, height, rows, {
    autosize: "pad", // a label may stand beyond the frame
    scales: [scale("x", "x", "width"), scale("y", "y", "height")],
    axes: [axis("bottom", "x", xTitle), axis("left", "y", yTitle)],
    marks: [
      ...(diagonal ? [{ type: "rule", encode: { update: { x: { value: 0 }, y: { signal: "height" }, x2: { signal: "width" }, y2: { value: 0 },
        stroke: { value: colour("soft") }, strokeDash: { value: [4, 3] } } } }] : []),
      ...rules.map(([name, at]) => ({ type: "rule", encode: { update: { [name]: { scale: name, value: at },
        ...(name === "x" ? { y: { value: 0 }, y2: { signal: "height" } } : { x: { value: 0 }, x2: { signal: "width" } }), stroke: { value: colour("soft") }, strokeWidth: { value: 0.8 } } } })),
      { type: "symbol", name: "points", from: { data: "table" }, encode: { update: { x: { scale: "x", field: "x" }, y: { scale: "y", field: "y" }, size: { value: label ? 55 : 34 },
        fill: { value: colour("c1") }, fillOpacity: { value: label ? 1 : 0.65 }, tooltip: { field: "tip" } } } },
      ...(label ? [{ type: "text", from: { data: "points" }, interactive: false, encode: { update: { text: { field: "datum.name" }, fontSize: { value: 10.5 } } },
        transform: [{ type: "label", size: { signal: "[width, height]" }, padding: 40, offset: [4], anchor: ["right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left"] }] }] : []),
    ],
  });
}

// ---- drawing ----

const views = {}; // by the chart's id, for whoever looks from outside
const drawings = []; // promises of what is being drawn

function tip(handler, event, item, value) {
  const box = document.getElementById("tip");
  box.hidden = value == null || value === "";
  if (box.hidden) return;
  box.textContent = value;
  box.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)) + "px";
}

// The drawing for a paper: colours written in.
async function svgText(view) {
  const text = await view.toSVG();
  return text.replace(/var\(--(\w+)\)/g, (_, name) => palette.light[name]);
}

function save(name, url) {
  el("a", { download: name, href: url }).click();
}

async function saveSvg(view, name) {
  save(name + ".svg", "data:image/svg+xml;charset=utf-8," + encodeURIComponent(await svgText(view)));
}

// The drawing as a picture of three times its size, which is fine enough for print.
async function pngUrl(view) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(await svgText(view));
  await image.decode();
  const canvas = el("canvas", { width: image.width * 3, height: image.height * 3 }), c = canvas.getContext("2d");
  c.fillStyle = "#fff";
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

function csvField(v) {
  const text = v == null ? "" : String(v);
  return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function csvText(rows) {
  const names = unique(rows.flatMap(r => Object.keys(r))).filter(n => n !== "tip" && n !== "order" && n !== "text");
  return [names, ...rows.map(r => names.map(n => r[n]))].map(line => line.map(csvField).join(",")).join("\n") + "\n";
}

// A chart with its caption, a heading when its element is named, and what it can be saved as. draw(spec, rows, caption) draws it, also
// again when a choice has changed.
function chart(id, caption, heading) {
  const plot = el("div", { class: "plot", role: "img", "aria-label": caption, tabindex: "0" });
  const words = el(heading || "span", { class: "caption" }, caption);
  let view = null, table = [];
  const tool = (name, act) => el("button", { type: "button", title: `save as ${name}`, onclick: () => act(view) }, name);
  const figure = el("figure", { id }, el("figcaption", null, words, el("span", { class: "tools" },
    tool("SVG", v => saveSvg(v, id)), tool("PNG", async v => save(id + ".png", await pngUrl(v))),
    tool("CSV", () => save(id + ".csv", "data:text/csv;charset=utf-8," + encodeURIComponent(csvText(table)))))), plot);
  const draw = (spec, rows, text) => {
    if (view) view.finalize();
    table = rows;
    if (text) {
      words.textContent = text;
      plot.setAttribute("aria-label", text);
    }
    view = new vega.View(vega.parse(spec, null, { ast: true }), { renderer: "svg", container: plot, expr: vega.interpret, hover: true, tooltip: tip });
    views[id] = view;
    drawings.push(view.runAsync());
  };
  return { figure, draw };
}

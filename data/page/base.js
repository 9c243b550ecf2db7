// What all pages share: making elements, numbers as people read them, tables, the theme, and moving between pages. Whatever comes from
// the data becomes text of an element and never markup, so that names may hold any character.
const data = JSON.parse(document.getElementById("data").textContent);

// An element with attributes ("class", "onclick" ...) and children: elements, texts, lists of them, null.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value != null) e.setAttribute(key, value);
  for (const child of children.flat(Infinity))
    if (child != null && child !== "") e.append(child);
  return e;
}

// ---- numbers ----

const MINUS = "\u2212", NONE = "\u2013";

function fixed(v, digits) {
  return v.toFixed(digits).replace(/^-(?=0*\.?0*$)/, "").replace("-", MINUS); // no minus before a zero
}

// Three or four digits that count; exact for integers of any size.
function short(v) {
  if (v == null || !isFinite(v)) return NONE;
  const a = Math.abs(v);
  if (Number.isInteger(v)) return v.toLocaleString("en").replace("-", MINUS);
  if (a >= 1000) return Math.round(v).toLocaleString("en").replace("-", MINUS);
  if (a < 0.001) return v.toExponential(2).replace(/-/g, MINUS);
  return fixed(v, a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3);
}

const UNITS = [[1, "J"], [1e-3, "mJ"], [1e-6, "µJ"], [1e-9, "nJ"]];
const styles = {
  count: short,
  number: short,
  factor: v => fixed(v, 3),
  percent: v => fixed(v, 1) + "%",
  joules: v => {
    const [scale, unit] = UNITS.find(([s]) => Math.abs(v) >= s) || UNITS[UNITS.length - 1];
    return (v / scale).toPrecision(3) + " " + unit;
  },
};

function shown(v, style) {
  return v == null || !isFinite(v) ? NONE : styles[style](v);
}

function geomean(values) {
  const some = values.filter(v => v != null && v > 0);
  return some.length ? Math.exp(some.reduce((sum, v) => sum + Math.log(v), 0) / some.length) : null;
}

function unique(list) {
  return [...new Set(list)];
}

// Names made apart: several of the same get a number.
function apart(names) {
  const seen = {};
  return names.map(n => ((seen["=" + n] = (seen["=" + n] || 0) + 1) > 1 ? `${n} (${seen["=" + n]})` : n));
}

// ---- tables ----

// Rows of values under columns {title, get, style, class, cell}; a click on a title sorts.
function table(columns, rows, options = {}) {
  const body = el("tbody");
  const line = row => el("tr", options.row ? options.row(row) : null, columns.map(c => {
    const v = c.get(row);
    const text = c.cell ? c.cell(row, v) : c.style ? shown(v, c.style) : v;
    return el("td", { class: c.style ? c.class : "text " + (c.class || ""), "data-title": options.stack ? c.title : null }, text == null ? "" : text instanceof Node ? text : String(text));
  }));
  const fill = sorted => body.replaceChildren(...sorted.map(line));
  fill(rows);
  const heads = columns.map(c => el("th", { class: c.style ? null : "text", scope: "col" }, el("button", { type: "button", onclick: () => {
    const th = heads[columns.indexOf(c)], down = th.getAttribute("aria-sort") === "descending" || (!th.hasAttribute("aria-sort") && !c.style);
    heads.forEach(h => h.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", down ? "ascending" : "descending");
    const order = (a, b) => {
      const x = c.get(a), y = c.get(b);
      if (x == null || y == null) return (x == null) - (y == null);
      return (typeof x === "number" ? x - y : String(x).localeCompare(String(y))) * (down ? 1 : -1);
    };
    fill([...rows].sort(order));
  } }, c.title)));
  return el("div", { class: "scroll" }, el("table", { class: options.stack ? "wide stack" : options.wide ? "wide" : null }, el("thead", null, el("tr", null, heads)), body));
}

function tiles(list) {
  return el("ul", { class: "tiles" }, list.filter(Boolean).map(([value, words]) => el("li", null, el("b", null, value), el("span", null, words))));
}

// A labelled choice of [value, words]; change is called with the value chosen.
function choice(label, options, chosen, change) {
  const pick = el("select", { onchange: e => change(options[e.target.selectedIndex][0]) },
    options.map(([value, words]) => el("option", { selected: value === chosen }, words)));
  return el("label", null, label, pick);
}

// ---- pages ----

const pages = []; // {id, title, build}: build(section) fills it; a page whose data is not there is left out

function page(id, title, there, build) {
  if (there) pages.push({ id, title, build });
}

// Shows the page in which the target of the address is.
function show() {
  const id = decodeURIComponent(location.hash.slice(1)), target = id && document.getElementById(id);
  const wanted = target ? target.closest("section") : null;
  const current = wanted || document.querySelector("section");
  for (const s of document.querySelectorAll("section")) s.hidden = s !== current;
  for (const a of document.querySelectorAll("nav a"))
    if (current && a.getAttribute("href") === "#" + current.id) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  if (target && target !== current) target.scrollIntoView();
  else scrollTo(0, 0);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
}

function go(step) {
  const now = pages.findIndex(p => !document.getElementById(p.id).hidden), next = pages[now + step];
  if (next) location.hash = next.id;
}

const keys = [
  ["1 \u2026 9", "a page by its number", e => e.key >= "1" && e.key <= "9" && pages[e.key - 1], e => (location.hash = pages[e.key - 1].id)],
  ["\u2190 \u2192", "the page before, the next one", e => e.key === "ArrowLeft" || e.key === "ArrowRight", e => go(e.key === "ArrowLeft" ? -1 : 1)],
  ["t", "light or dark", e => e.key === "t", () => document.getElementById("theme").click()],
  ["?", "this list; Esc closes it", e => e.key === "?", () => document.getElementById("keys").showModal()],
];

function listen() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.getElementById("keys").append(el("dl", null, keys.map(([key, words]) => [el("dt", null, key), el("dd", null, words)])),
    el("form", { method: "dialog" }, el("button", null, "Close")));
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const found = keys.find(k => k[2](e));
    if (found) found[3](e);
  });
  addEventListener("hashchange", show);
}

// Puts the pages together.
document.head.append(paletteStyle());
document.title = data.title;
document.getElementById("title").textContent = data.title;
const main = document.getElementById("main");
main.replaceChildren();
for (const p of pages) {
  const section = el("section", { id: p.id, "aria-label": p.title });
  main.append(section);
  document.querySelector("nav").append(el("a", { href: "#" + p.id }, p.title));
  try {
    p.build(section);
  } catch (e) { // a file that is not quite what it seemed: the other pages are still of use
    console.error(e);
    section.append(el("p", { class: "status failed" }, `The rest of this page could not be drawn: ${e.message}`));
  }
}
listen();
show();
// For tests: what is drawn, and when all of it is.
globalThis.reprise = { views, data, svgText, pngUrl, ready: Promise.all(drawings) };

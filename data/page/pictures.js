// What approximation does to results that are pictures: exact, approximated and their difference, side by side.
const pictureFiles = sourcesOf("pictures");

page("pictures", "Pictures", pictureFiles.length, section => {
  section.append(el("h2", null, "Exact, approximated, difference"),
    el("p", null, "Results of annotated workloads, both on the scale of the exact one; the difference goes from black, where there is none, to white, where it is largest."));
  pictureFiles.flatMap(s => s.value.pictures).forEach(p => section.append(
    el("h3", null, `${p.workload}, ${p.size}`),
    el("p", { class: "soft" }, `${[p.mech, ...p.settings].join(", ")}: RMSE ${fixed(100 * p.rmse_over_mean, 2)}% of the mean, at most ${short(p.max)}`),
    el("a", { href: p.png, download: `${p.workload}.png` }, el("img", { src: p.png, alt: `${p.workload}: exact, approximated, difference`, style: "max-width: 100%" }))));
});

// Where the time went: each boot as one bar, cut at its phases.

/** @param {ReportDocument} report */
function splitsSection(report) {
  if (report.phases.length === 0) return null;
  const before = report.before;
  const boots = before ? [before, report] : [report];
  const longest = Math.max(...boots.map((boot) => extentOf(boot)[1] - extentOf(boot)[0]), 1);
  const bars = el("div", { class: before ? "bars two" : "bars" });
  if (before) {
    bars.append(...bar(before, longest, "before"), el("span"), bridge(before, report, longest));
    bars.append(...bar(report, longest, "after"), el("span"));
  } else {
    bars.append(...bar(report, longest, ""));
  }
  bars.append(ruler(longest));
  return section("splits", "where the time goes", "", bars, before ? null : phaseTable(report));
}

/** One boot: its label, if any, and its bar. @param {Boot} boot @param {number} longest @param {string} label */
function bar(boot, longest, label) {
  const [start, end] = extentOf(boot);
  const place = (/** @type {Part} */ part) => ({
    left: `${((part.start_ns - start) / longest) * 100}%`,
    width: `${((part.end_ns - part.start_ns) / longest) * 100}%`,
  });
  const title = (/** @type {Part} */ part, /** @type {string} */ name) =>
    `${name}: ${duration(part.end_ns - part.start_ns)}, ${share(part.end_ns - part.start_ns, end - start)}`;
  const segments = boot.phases.map((phase) =>
    el("div", { class: "segment", title: title(phase, phase.title), style: { ...place(phase), "--c": phaseColor(phase.name) } },
      el("span", {}, phase.title), el("b", {}, duration(phase.end_ns - phase.start_ns))));
  const parts = boot.phases.flatMap((phase) => phase.parts.map((part) =>
    el("div", { class: "part", title: title(part, part.name), style: { ...place(part), "--c": phaseColor(phase.name) } },
      el("span", {}, part.name))));
  // The parts lie on the outside, so that the phases of two boots face each other.
  const lines = [el("div", { class: "segments" }, ...segments), el("div", { class: "parts" }, ...parts)];
  const node = el("div", { class: "bar" }, ...(label === "before" ? lines.reverse() : lines));
  // A label that does not fit is worse than none: the table has all numbers.
  new ResizeObserver(() => {
    for (const box of [...segments, ...parts]) {
      box.classList.remove("tight");
      box.classList.toggle("tight", box.scrollWidth > box.clientWidth + 1);
    }
  }).observe(node);
  return label ? [el("p", { class: `bar-label ${label}` }, label, " ", el("b", {}, duration(end - start))), node] : [node];
}

/** Ties each phase of the upper bar to the same phase of the lower one.
 * @param {Boot} before @param {Boot} after @param {number} longest */
function bridge(before, after, longest) {
  const shape = svg("svg", { class: "bridge", viewBox: "0 0 1000 40", preserveAspectRatio: "none", "aria-hidden": "true" });
  const x = (/** @type {Boot} */ boot, /** @type {number} */ ns) => ((ns - extentOf(boot)[0]) / longest) * 1000;
  for (const phase of before.phases) {
    const now = after.phases.find((p) => p.name === phase.name);
    if (!now) continue;
    const points = [[x(before, phase.start_ns), 0], [x(before, phase.end_ns), 0],
      [x(after, now.end_ns), 40], [x(after, now.start_ns), 40]];
    const polygon = svg("polygon", { points: points.map((p) => p.join(",")).join(" ") });
    polygon.style.fill = phaseColor(phase.name);
    shape.append(polygon);
  }
  return shape;
}

/** Ticks under the bars. @param {number} longest */
function ruler(longest) {
  const step = tickStep(longest / 7);
  const ruler = el("div", { class: "ruler", "aria-hidden": "true" });
  for (let tick = 0; tick <= longest; tick += step) {
    const mark = el("span", {}, tick === 0 ? "0" : moment(tick, step));
    mark.style.left = `${(tick / longest) * 100}%`;
    ruler.append(mark);
  }
  return ruler;
}

/** @param {ReportDocument} report */
function phaseTable(report) {
  const [start, end] = extentOf(report);
  const row = (/** @type {Part} */ part, /** @type {Node} */ name) => {
    const ns = part.end_ns - part.start_ns;
    return [name, duration(ns), share(ns, end - start), part.instructions === null ? "–" : count(part.instructions)];
  };
  const rows = report.phases.flatMap((phase) => [
    row(phase, phaseName(phase.name, phase.title)),
    ...phase.parts.filter((part) => part.end_ns - part.start_ns >= (end - start) / 500)
      .map((part) => row(part, el("span", { class: "part-name" }, part.name))),
  ]);
  return table([["phase", ""], ["time", "number"], ["share", "number"], ["instructions", "number wide"]], rows);
}

/** A phase's name with its colour. @param {string | null} phase @param {string} title */
function phaseName(phase, title) {
  return el("span", { class: "phase", style: { "--c": phaseColor(phase) } }, title);
}

/** What shrank, what grew, what only moved. @param {ReportDocument} report */
function comparisonSection(report) {
  const comparison = report.comparison;
  if (!comparison || !report.before) return null;
  const byPhase = table(
    [["phase", ""], ["before", "number"], ["after", "number"], ["change", "number"]],
    [...comparison.phases, { ...comparison.total, name: "to ready" }].map((delta) => {
      const phase = [...report.phases, ...(report.before?.phases ?? [])].find((p) => p.title === delta.name);
      return [phase ? phaseName(phase.name, phase.title) : el("strong", {}, delta.name), side(delta.before_ns), side(delta.after_ns), signed(delta.delta_ns)];
    }));
  const least = Math.max(1, (comparison.total.before_ns ?? 0) / 5000);
  const parts = comparison.parts.filter((delta) => Math.abs(delta.delta_ns) >= least).slice(0, 16);
  const moved = comparison.moved.map((m) => el("li", {}, cameBack(m)));
  return section("comparison", "what changed", "", byPhase,
    parts.length > 0 && el("h3", {}, "place by place"), parts.length > 0 && diverging(parts),
    moved.length > 0 && el("h3", {}, "what only moved"), moved.length > 0 && el("ul", { class: "moved" }, ...moved));
}

/** @param {number | null} ns */
function side(ns) {
  return ns === null ? "–" : duration(ns);
}

/** @param {number} ns */
function signed(ns) {
  return el("span", { class: ns < 0 ? "good" : ns > 0 ? "bad" : "" }, change(ns));
}

/** Bars to the left for what shrank, to the right for what grew.
 * @param {Delta[]} deltas */
function diverging(deltas) {
  const most = Math.max(...deltas.map((delta) => Math.abs(delta.delta_ns)));
  const rows = deltas.map((delta) => {
    const width = `${(Math.abs(delta.delta_ns) / most) * 50}%`;
    const fill = el("i", { class: delta.delta_ns < 0 ? "shrank" : "grew", style: { width } });
    return [delta.name, el("div", { class: "diverging" }, fill), side(delta.before_ns), side(delta.after_ns), signed(delta.delta_ns)];
  });
  return table([["where", "text"], ["", "graph"], ["before", "number wide"], ["after", "number wide"], ["change", "number"]], rows);
}

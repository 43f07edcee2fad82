// The sections besides the bars and the timeline.

/** @param {ReportDocument} report */
function headline(report) {
  const ready = report.ready_ns;
  const old = report.before?.ready_ns ?? null;
  const [start, end] = extentOf(report);
  const number = ready === null
    ? el("p", { class: "headline" }, el("strong", { class: "bad" }, "not ready"), el("span", {}, ` seen for ${duration(end - start)}`))
    : el("p", { class: "headline" }, ...bigNumber(ready), el("span", {}, " to ready"));
  const name = report.target || "this boot";
  return el("header", {},
    el("p", { class: "brand" }, el("span", {}, "bootlap"), el("span", { class: "label", title: timeNote(report.time) }, `${report.time || "unlabelled"} time`)),
    el("h1", {}, name), number,
    report.before && ready !== null && old !== null ? ratioLine(old, ready) : null,
    el("p", { class: "facts" }, ...facts(report).map((fact) => el("span", {}, fact))));
}

/** @param {number} ns */
function bigNumber(ns) {
  const [value, unit] = duration(ns).split(" ");
  return [el("strong", {}, value), el("em", {}, unit)];
}

/** @param {number} old @param {number} now */
function ratioLine(old, now) {
  const faster = now <= old;
  const ratio = faster ? times(old, now) : times(now, old);
  return el("p", { class: "ratio" },
    el("b", { class: faster ? "good" : "bad" }, now === old ? "as fast as before" : `${ratio} ${faster ? "faster" : "slower"}`),
    el("span", {}, `${duration(old)} → ${duration(now)}`));
}

/** @param {string} time */
function timeNote(time) {
  if (time === "simulated") return "Time of an emulated machine that counts instructions: exact and repeatable, and not the time of a board.";
  if (time === "measured") return "Wall-clock time.";
  return "The kind of time is not known.";
}

/** @param {ReportDocument} report @returns {string[]} */
function facts(report) {
  const list = [];
  if (report.instructions !== null) list.push(`${count(report.instructions)} instructions`);
  if (report.identical === true) list.push("booted twice, bit for bit the same");
  if (report.identical === false) list.push("booted twice, not the same");
  if (report.before && report.before.time !== report.time) list.push(`before is ${report.before.time} time: the two do not compare`);
  if (report.machine) list.push(report.machine);
  return list;
}

const SHOWN_COSTS = 5;

/** The largest costs, each with where it lies and what removes it.
 * @param {ReportDocument} report @param {Timeline} timeline */
function costsSection(report, timeline) {
  if (report.costs.length === 0) return null;
  const [start, end] = extentOf(report);
  const items = report.costs.map((cost) => {
    const line = el("i", { style: {
      left: `${((cost.start_ns - start) / (end - start)) * 100}%`,
      width: `${((cost.end_ns - cost.start_ns) / (end - start)) * 100}%`,
    } });
    const finding = cost.finding === null ? null : report.findings[cost.finding];
    const waiting = cost.idle_share !== null && cost.idle_share >= 0.05;
    return el("li", { style: { "--c": phaseColor(cost.phase) } },
      el("button", { class: "time", type: "button", title: "show it in the timeline", on: { click: () => timeline.visit(cost.start_ns, cost.end_ns) } }, duration(cost.duration_ns)),
      el("div", {},
        el("p", { class: "name" }, el("b", {}, cost.name), el("span", { class: "phase" }, phaseTitle(report, cost.phase)),
          waiting && el("span", { class: "pill warn" }, `${percent(cost.idle_share)} waiting`)),
        el("div", { class: "where", "aria-hidden": "true" }, line),
        el("p", { class: "why" }, cost.why),
        finding && remedy(report, finding)));
  });
  const rest = items.slice(SHOWN_COSTS);
  return section("costs", "largest costs", "", el("ol", { class: "costs" }, ...items.slice(0, SHOWN_COSTS)),
    rest.length > 0 && el("details", { class: "more" }, el("summary", {}, `${rest.length} more`), el("ol", { class: "costs" }, ...rest)));
}

/** @param {ReportDocument} report @param {any} finding */
function remedy(report, finding) {
  const how = finding.recipe === null ? finding.title : el("code", {}, `bootlap try ${report.target} ${finding.recipe}`);
  return el("p", { class: "remedy" }, how, " ", el("span", { class: "good" }, saving(finding)));
}

/** @param {any} finding */
function saving(finding) {
  const predicted = finding.saving_kind === "predicted-board" ? " of a real board, predicted" : "";
  return `saves ${duration(finding.saving_ns)}${predicted}`;
}

/** @param {ReportDocument} report @param {Timeline} timeline */
function findingsSection(report, timeline) {
  if (report.findings.length === 0) return null;
  const entry = (/** @type {any} */ finding) => el("details", { class: "finding" },
    el("summary", {}, el("span", { class: "good" }, saving(finding)), el("span", {}, finding.title)),
    el("dl", {}, ...[["why", finding.why], ["saving", finding.saving_basis], ["fix", finding.fix]]
      .filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
    finding.recipe !== null && el("dt", {}, "recipe"),
    finding.recipe !== null && el("dd", {}, el("code", {}, `bootlap try ${report.target} ${finding.recipe}`)),
    el("dt", {}, "rule"), el("dd", {}, finding.rule)),
    ...finding.evidence.map(evidenceOf),
    finding.at_ns && el("button", { type: "button", on: { click: () => timeline.visit(finding.at_ns[0], finding.at_ns[1]) } }, "show in the timeline"));
  return section("findings", "what to change", "", ...report.findings.map(entry));
}

/** @param {ReportDocument} report */
function trialsSection(report) {
  if (report.trials.length === 0) return null;
  const ends = report.trials.flatMap((trial) => [...trial.interval_ns, 0]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const rows = report.trials.map((trial) => [
    el("div", {}, el("b", {}, trial.recipe), ...account(trial)),
    duration(trial.before_ns), duration(trial.after_ns),
    el("span", { class: trial.verdict === "faster" ? "good" : trial.verdict === "slower" ? "bad" : "" }, duration(trial.saved_ns)),
    interval(trial, low, high),
    el("span", { class: `pill ${trial.verdict}` , title: `p = ${trial.p.toFixed(3)}` }, trial.verdict),
  ]);
  return section("trials", "what was tried",
    "Median boots without and with each recipe; the line is the 95 % interval of the saving.",
    table([["recipe", "text"], ["before", "number"], ["after", "number"], ["saved", "number"], ["95 % interval", "graph"], ["verdict", ""]], rows));
}

/** Where a trial's time went. @param {any} trial */
function account(trial) {
  const lines = [];
  const phases = trial.phases.filter((/** @type {Delta} */ delta) => delta.delta_ns !== 0);
  const boots = `${trial.samples[0]} + ${trial.samples[1]} boots`;
  lines.push([boots, ...phases.map((/** @type {Delta} */ d) => `${d.name} ${change(d.delta_ns)}`)].join(" · "));
  const [without, within] = trial.not_ready;
  if (without + within > 0) lines.push(`never ready: ${without} boots without, ${within} with the recipe`);
  for (const moved of trial.moved) lines.push(cameBack(moved));
  return lines.map((line) => el("p", { class: "account" }, line));
}

/** A saving that only moved. @param {Moved} moved */
function cameBack(moved) {
  return `${change(-moved.saved_ns)} in ${moved.from} came back as ${change(moved.grew_ns)} in ${moved.to}`;
}

/** The saving's interval on a scale that all trials share.
 * @param {any} trial @param {number} low @param {number} high */
function interval(trial, low, high) {
  const x = (/** @type {number} */ ns) => 4 + ((ns - low) / Math.max(1, high - low)) * 112;
  const [from, to] = [x(trial.interval_ns[0]), x(trial.interval_ns[1])];
  const text = `${duration(trial.interval_ns[0])} to ${duration(trial.interval_ns[1])}`;
  return el("figure", { class: "interval" },
    svg("svg", { viewBox: "0 0 120 16", role: "img", "aria-label": text },
      svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 16 }),
      svg("line", { class: "range", x1: from, x2: Math.max(to, from + 1), y1: 8, y2: 8 }),
      svg("circle", { class: trial.verdict, cx: x(trial.saved_ns), cy: 8, r: 3 })),
    el("figcaption", {}, text));
}

/** @param {ReportDocument} report @param {Timeline} timeline */
function gapsSection(report, timeline) {
  if (report.gaps.length === 0) return null;
  const sum = report.gaps.reduce((total, gap) => total + gap.end_ns - gap.start_ns, 0);
  const rows = report.gaps.slice(0, 20).map((gap) => [
    el("button", { class: "link", type: "button", title: "show it in the timeline", on: { click: () => timeline.visit(gap.start_ns, gap.end_ns) } }, duration(gap.end_ns - gap.start_ns)),
    moment(gap.start_ns, 1e6), phaseName(gap.phase, phaseTitle(report, gap.phase)),
    gap.idle_share === null ? "–" : percent(gap.idle_share),
    el("div", { class: "lines" }, el("code", {}, gap.before.trim() || "(nothing)"), el("code", {}, gap.after.trim() || "(nothing)")),
  ]);
  const n = report.gaps.length;
  return section("gaps", "silences",
    `${n === 1 ? "One stretch" : `${n} stretches`} in which the console said nothing, ${duration(sum)} in all.`,
    table([["time", "number"], ["at", "number"], ["in", ""], ["waiting", "number wide"], ["between the lines", "text"]], rows),
    n > 20 && el("p", { class: "note" }, `The longest 20 of ${n}.`));
}

/** @param {ReportDocument} report */
function noticesSection(report) {
  const assumed = report.clocks.filter((clock) => clock.how === "assumed")
    .map((clock) => el("li", { class: "notice" }, el("b", {}, "assumed clock"), ` The place of the clock ${clock.kind} is assumed, not known.`));
  const notices = report.notices.map((notice) => el("li", { class: notice.severity },
    el("b", {}, notice.code), notice.count > 1 && ` ×${notice.count}`, ` ${notice.remedy}`, ...notice.first.map(evidenceOf)));
  if (assumed.length + notices.length === 0) return null;
  return section("notices", "notices", "What could not be used, or had to be assumed.",
    el("ul", { class: "notices" }, ...assumed, ...notices));
}

/** What all of this rests on. @param {ReportDocument} report */
function basisSection(report) {
  const files = report.files.map((file) => [file.name, file.source, count(file.total), count(file.used), count(file.skipped)]);
  const clocks = report.clocks.map((clock) => [clock.kind, clock.simulated ? "simulated" : "measured", clock.how,
    clock.offset_ns === null ? "–" : change(clock.offset_ns), clock.err_ns === null ? "–" : `± ${duration(clock.err_ns)}`]);
  const facts = [["run", report.run], ["machine", report.machine], ["mode", report.mode], ["console, SHA-256", report.console_sha256], ["made by", report.tool]];
  return section("basis", "what this rests on", "",
    el("dl", {}, ...facts.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
    files.length > 0 && table([["evidence", "text"], ["read as", ""], ["lines", "number"], ["used", "number"], ["skipped", "number"]], files),
    clocks.length > 0 && table([["clock", ""], ["time", ""], ["placed by", ""], ["offset", "number"], ["error", "number"]], clocks));
}

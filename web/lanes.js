// Which span stands in which row of the timeline, and which one is where.

/** @typedef {{name: string, start: number, end: number, open: boolean, color: string,
 *   kind: "block" | "line" | "silence", span: Span | null, facts: [string, string][]}} Item */
/** @typedef {{title: string, rows: Item[][], beside: boolean}} Lane
 *   `beside`: labels may stand to the right of their item. */

/** @param {ReportDocument} report @returns {Lane[]} */
function lanesOf(report) {
  const end = extentOf(report)[1];
  const lanes = [phaseLane(report)];
  for (const [track, title, color] of TRACKS) {
    const items = report.spans
      .filter((span) => span.track === track && span.start_ns !== null)
      .map((span) => spanItem(span, color, end));
    const console = track === "console";
    const rows = console ? [items, report.gaps.map(silenceItem).sort((a, b) => a.start - b.start)] : stack(items);
    lanes.push({ title, rows: rows.filter((row) => row.length > 0), beside: console });
  }
  return lanes.filter((lane) => lane.rows.length > 0);
}

/** Kind of lane, its title, its colour. */
const TRACKS = [
  ["signal", "pins", "--firmware"],
  ["firmware", "firmware", "--firmware"],
  ["bootloader", "boot loader", "--bootloader"],
  ["kernel", "kernel", "--kernel"],
  ["initcall", "initcalls", "--initcall"],
  ["function", "functions", "--kernel"],
  ["userspace", "user space", "--userspace"],
  ["unit", "units", "--userspace"],
  ["process", "processes", "--application"],
  ["syscall", "system calls", "--initramfs"],
  ["console", "console", "--console"],
];

/** @param {ReportDocument} report @returns {Lane} */
function phaseLane(report) {
  const phases = report.phases.map((phase) => ({
    name: phase.title, color: `--${phase.name}`, start: phase.start_ns, end: phase.end_ns, open: false,
    kind: /** @type {const} */ ("block"), span: null, facts: instructionFact(phase.instructions),
  }));
  return { title: "phases", rows: phases.length > 0 ? [phases] : [], beside: false };
}

/** @param {Span} span @param {string} color @param {number} cut @returns {Item} */
function spanItem(span, color, cut) {
  const start = /** @type {number} */ (span.start_ns);
  const console = span.track === "console";
  return {
    name: span.name, color, start, end: span.end_ns ?? Math.max(cut, start), open: span.end_ns === null,
    kind: console ? "line" : "block", span,
    facts: [...instructionFact(span.instructions), ...span.args],
  };
}

/** @param {any} gap @returns {Item} */
function silenceItem(gap) {
  const waiting = gap.idle_share === null ? [] : [["waiting", percent(gap.idle_share)]];
  return {
    name: `silence, ${duration(gap.end_ns - gap.start_ns)}`, color: "--console",
    start: gap.start_ns, end: gap.end_ns, open: false, kind: "silence", span: null,
    facts: /** @type {[string, string][]} */ ([...waiting, ["after", gap.before], ["until", gap.after]]),
  };
}

/** @param {number | null} n @returns {[string, string][]} */
function instructionFact(n) {
  return n === null ? [] : [["instructions", count(n)]];
}

/** Rows without overlap; what lies within another item comes under it.
 * @param {Item[]} items @returns {Item[][]} */
function stack(items) {
  const sorted = [...items].sort((a, b) => a.start - b.start || b.end - a.end);
  /** @type {Item[][]} */
  const rows = [];
  const deepest = 12;
  for (const item of sorted) {
    let row = rows.findIndex((row) => row[row.length - 1].end <= item.start);
    // Beyond that depth items share the last row rather than fill the page.
    if (row < 0) row = Math.min(rows.length, deepest - 1);
    (rows[row] ??= []).push(item);
  }
  return rows;
}

/** The index of the first item that ends behind `time`; rows are sorted.
 * @param {Item[]} row @param {number} time */
function firstVisible(row, time) {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle].end < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The item of `row` nearest to `time`, if within `slack`.
 * @param {Item[]} row @param {number} time @param {number} slack @returns {Item | null} */
function itemAt(row, time, slack) {
  let best = null;
  let distance = slack + 1;
  for (let at = Math.max(0, firstVisible(row, time - slack) - 1); at < row.length; at++) {
    const item = row[at];
    if (item.start > time + slack) break;
    const away = Math.max(item.start - time, time - item.end, 0);
    if (away < distance) [best, distance] = [item, away];
  }
  return best;
}

// The document (docs/schema/report.json) and what the views need of it.

/** @typedef {{file: string, start: number, end: number, line: number, text: string | null}} Evidence */
/** @typedef {{name: string, start_ns: number, end_ns: number, instructions: number | null}} Part */
/** @typedef {Part & {title: string, parts: Part[]}} Phase */
/** @typedef {{track: string, name: string, start_ns: number | null, end_ns: number | null,
 *   err_ns: number, instructions: number | null, clock: number, args: [string, string][],
 *   evidence: Evidence}} Span */
/** @typedef {{name: string, before_ns: number | null, after_ns: number | null, delta_ns: number}} Delta */
/** @typedef {{from: string, to: string, ns: number, saved_ns: number, grew_ns: number}} Moved */
/** @typedef {{run: string, target: string, machine: string, mode: string, time: string,
 *   identical: boolean | null, ready_ns: number | null, instructions: number | null,
 *   console_sha256: string, extent: {start_ns: number, end_ns: number, ready: boolean} | null,
 *   phases: Phase[]}} Boot */
/** @typedef {Boot & {format: number, tool: string, costs: any[], gaps: any[], findings: any[],
 *   trials: any[], notices: any[], spans: Span[], marks: any[], clocks: any[], files: any[],
 *   before: Boot | null,
 *   comparison: {total: Delta, phases: Delta[], parts: Delta[],
 *     moved: Moved[]} | null}} ReportDocument */

/** The newest format that this viewer was written for. */
const FORMAT = 1;

/** @returns {ReportDocument} */
function loadReport() {
  const data = document.getElementById("document")?.textContent ?? "";
  const report = JSON.parse(data);
  if (report.format > FORMAT) throw new Error(`this page's data has format ${report.format}, its viewer knows ${FORMAT}`);
  return report;
}

/** Where a boot begins and ends. @param {Boot} boot @returns {[number, number]} */
function extentOf(boot) {
  if (boot.extent) return [boot.extent.start_ns, boot.extent.end_ns];
  const starts = boot.phases.map((p) => p.start_ns);
  const ends = boot.phases.map((p) => p.end_ns);
  return [Math.min(0, ...starts), Math.max(boot.ready_ns ?? 0, ...ends)];
}

/** A phase's colour: a custom property of the page. @param {string | null} phase */
function phaseColor(phase) {
  const known = ["firmware", "bootloader", "kernel", "initramfs", "userspace", "application"];
  return `var(--${known.includes(phase ?? "") ? phase : "firmware"})`;
}

/** @param {ReportDocument} report @param {string | null} name */
function phaseTitle(report, name) {
  return report.phases.find((phase) => phase.name === name)?.title ?? name ?? "";
}

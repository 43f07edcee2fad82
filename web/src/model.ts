// What a page holds: docs/schema/report.json without spans (the head), and
// beside it the spans as columns, which pack.ts unpacks.

export interface Place { file: string; start: number; end: number; line: number; text: string | null }
export interface Part { name: string; start_ns: number; end_ns: number; instructions: number | null }
export interface Phase extends Part { title: string; parts: Part[] }
export interface Delta { name: string; before_ns: number | null; after_ns: number | null; delta_ns: number }
export interface Moved { from: string; to: string; ns: number; saved_ns: number; grew_ns: number }
export interface Extent {
  start_ns: number; end_ns: number; ready: boolean;
  /** What the end is; null for the last event. */
  end: string | null; last_ns: number;
}
export interface Comparison { total: Delta; phases: Delta[]; parts: Delta[]; moved: Moved[] }

export interface Cost {
  name: string; start_ns: number; end_ns: number; duration_ns: number;
  /** Whether it is known when it was; where not, its ends only tell how long. */
  placed: boolean;
  phase: string | null; idle_share: number | null; why: string; finding: number | null;
}
export interface Gap {
  start_ns: number; end_ns: number; phase: string | null; idle_share: number | null; before: string; after: string;
}
export interface Finding {
  rule: string; title: string; why: string; fix: string; recipe: string | null; at_ns: [number, number] | null;
  risk: string; saving_ns: number; predicted_saving_ns: number | null; same_time_as: number | null;
  saving_kind: "this-boot" | "predicted-board" | "unknown"; saving_is_bound: boolean; takes_ns: number; saving_basis: string; evidence: Place[];
}
export interface Trial {
  recipe: string; before_ns: number; after_ns: number; saved_ns: number; interval_ns: [number, number];
  margin_ns: number; p: number; verdict: "faster" | "slower" | "equivalent" | "unknown";
  samples: [number, number]; not_ready: [number, number]; phases: Delta[]; moved: Moved[];
}
/** Steps from a start to an end, on one axis of time. */
export interface Waterfall {
  axis: string; before_ns: number; after_ns: number; steps: { recipe: string; saved_ns: number }[]; left_out: string[];
}
export interface Notice { code: string; severity: "info" | "notice" | "data-loss" | "error"; count: number; remedy: string; first: Place[] }
export interface Mark { milestone: string | null; name: string; at_ns: number | null; evidence: Place }
export interface Clock {
  kind: string; simulated: boolean; offset_ns: number | null; err_ns: number | null;
  how: "reference" | "measured" | "shared-event" | "declared" | "assumed" | "unrelated";
}
export interface EvidenceFile { name: string; source: string; total: number; used: number; skipped: number }
export interface Counter { name: string; unit: string; at_ns: number[]; values: number[]; clock: number }
export interface Track { kind: string; name: string }
/** What only grows, and what had come together by some moments; `whole`: it grows at these only, so sums are exact. */
export interface Total { name: string; unit: string; whole: boolean; at: Float64Array; sum: Float64Array }

/** A step of what the end of the boot waited for; `span` is its place among the spans, null if it has none. */
export interface Step {
  name: string; track: string; start_ns: number; end_ns: number;
  /** What passed since the step before was done, and what took most of that, if something did. */
  gap_ns: number; during: string | null;
  link: string | null; span: number | null;
}
export interface CriticalPath { to: string | null; begin_ns: number | null; end_ns: number; last_gap_ns: number; steps: Step[] }

/** A time in two groups of boots, and what a test says of it. */
export interface GroupRow {
  name: string; before_ns: number | null; after_ns: number | null; shift_ns: number | null; interval_ns: [number, number] | null;
  p: number | null; verdict: Trial["verdict"] | null; values_ns?: [(number | null)[], (number | null)[]];
}
export interface GroupSide { name: string; path: string; time: string; failed: number; typical: string | null; boots: { name: string }[] }
/** Groups of boots, of which this page shows the most typical ones. */
export interface Groups {
  headline: string; before: GroupSide; after: GroupSide; end: string; end_name: string | null; bounds: string; total: GroupRow | null; phases: GroupRow[];
  notes: { code: string; weight: string; text: string }[];
}

/** What disks were asked for; as crates/analysis/src/disks.rs. */
export interface Asked {
  reads: number; read_bytes: number; again_bytes: number; writes: number; written_bytes: number; flushes: number; waited_ns: number;
}
export interface Disks extends Asked { phases: (Asked & { phase: string })[] }

/** What was booted, how, and its splits. */
export interface Facts {
  run: string; target: string; machine: string; mode: string; time: string; identical: boolean | null;
  ready_ns: number | null; instructions: number | null; console_sha256: string;
  /** Whether somebody said what ready looks like. */
  awaited: boolean; extent: Extent | null; phases: Phase[];
}

export interface Head extends Facts {
  format: number; tool: string;
  costs: Cost[]; gaps: Gap[]; findings: Finding[]; trials: Trial[]; steps?: boolean; waterfalls?: Waterfall[]; notices: Notice[]; marks: Mark[];
  clocks: Clock[]; files: EvidenceFile[]; before: Facts | null; comparison: Comparison | null;
  counters: Counter[]; tracks: Track[]; totals: Total[];
  /** Where a lab has seen its disks. */
  disks?: Disks | null;
  /** The groups that this boot and the one before are typical of. */
  groups: Groups | null;
  /** What the end of the boot waited for; null where nothing is linked. */
  path: CriticalPath | null;
  /** Spans that are left out, because nothing relates their clock to the others. */
  unplaced: number;
}

/** How the end of a span is known. */
export const END_KNOWN = 0;
export const END_OPEN = 1;
export const END_UNKNOWN = 2;

/** Spans as columns, in order of start, the longer first among equals.
 * Times are ns on the reference clock, as the head's. */
export interface Spans {
  readonly count: number;
  readonly start: Float64Array;
  /** The start again where the end is open or unknown. */
  readonly end: Float64Array;
  readonly endKind: Uint8Array;
  /** Index into `head.tracks`. */
  readonly track: Uint32Array;
  /** Index into `head.clocks`. */
  readonly clock: Uint16Array;
  /** NaN if not counted. */
  readonly instructions: Float64Array;
  /** ± ns. */
  readonly err: Float64Array;
  name(i: number): string;
  args(i: number): [string, string][];
  evidence(i: number): { file: number; start: number; end: number; line: number };
}

export const WAITS_ON = 0;
export const SPAWNS = 1;
export const AFTER = 2;

/** Which span led to which. */
export interface Links {
  readonly count: number;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly kind: Uint8Array;
  /** Indices of links that end at span `i`. */
  into(i: number): number[];
  /** Indices of links that begin at span `i`. */
  outOf(i: number): number[];
}

/** The raw files, decoded lossily. Files are indices into `head.files`. */
export interface Evidence {
  /** Null if the file was not kept. */
  text(file: number, start: number, end: number): string | null;
  lineCount(file: number): number;
  /** Lines count from 0 here. */
  line(file: number, n: number): string;
  /** The line that holds this byte, from 0. */
  lineAt(file: number, byte: number): number;
}

export interface Boot { head: Head; spans: Spans; links: Links; evidence: Promise<Evidence> }

/** A span of one of the page's boots. */
export interface Selection { boot: number; span: number }

/** The newest format that this viewer was written for. */
export const FORMAT = 1;

/** Where a boot begins and ends, ns. */
export function extentOf(boot: Pick<Facts, "extent" | "phases" | "ready_ns">): [number, number] {
  if (boot.extent) return [boot.extent.start_ns, boot.extent.end_ns];
  const starts = boot.phases.map((phase) => phase.start_ns);
  const ends = boot.phases.map((phase) => phase.end_ns);
  return [Math.min(0, ...starts), Math.max(boot.ready_ns ?? 0, ...ends)];
}

const PHASES = ["firmware", "bootloader", "kernel", "initramfs", "userspace", "application"];

/** A phase's colour: a custom property of the page. */
export function phaseColor(phase: string | null): string {
  return `var(--${phase !== null && PHASES.includes(phase) ? phase : "firmware"})`;
}

export function phaseTitle(head: Facts, name: string | null): string {
  return head.phases.find((phase) => phase.name === name)?.title ?? name ?? "";
}

/** How long a span took, ns; null if its end is not known. */
export function took(spans: Spans, i: number): number | null {
  return spans.endKind[i] === END_KNOWN ? (spans.end[i] ?? 0) - (spans.start[i] ?? 0) : null;
}

/** What sections and panels can ask the timeline for. */
export interface Navigation {
  visit(startNs: number, endNs: number, boot?: number): void;
  select(selection: Selection | null): void;
  /** Selects a span, brings it into view and the timeline into sight. */
  show(selection: Selection): void;
  /** Opens a piece of advice, by its place in the head's list. */
  advice(index: number): void;
}

/** What every section gets: the boots, the first one's head, the timeline. */
export interface Page { boots: Boot[]; head: Head; go: Navigation }

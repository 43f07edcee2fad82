// What the timeline needs of a boot: the part of pack.ts's Boot that it reads.
// Times are nanoseconds on the boot's reference clock.

/** What happened, in order of start, the longer first among equals. */
export interface TimelineSpans {
  readonly count: number;
  readonly start: Float64Array;
  /** Equals the start where the end is not known (see endKind). */
  readonly end: Float64Array;
  readonly endKind: Uint8Array;
  readonly track: Uint32Array;
  readonly clock: Uint16Array;
  readonly instructions: Float64Array;
  /** ± ns. */
  readonly err: Float64Array;
  name(i: number): string;
  args(i: number): [string, string][];
}

/** Values of TimelineSpans.endKind. */
export const END = { known: 0, open: 1, unknown: 2 } as const;

export interface TimelineLinks {
  readonly count: number;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly kind: Uint8Array;
  /** Indices of the links that lead to a span. */
  into(i: number): number[];
  outOf(i: number): number[];
}

/** Values of TimelineLinks.kind. */
export const LINK = { waitsOn: 0, spawns: 1, after: 2 } as const;

export interface TimelinePart {
  readonly name: string;
  readonly start_ns: number;
  readonly end_ns: number;
}

export interface TimelinePhase extends TimelinePart {
  readonly title: string;
  readonly parts: readonly TimelinePart[];
}

export interface TimelineGap {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly before: string;
  readonly after: string;
  readonly idle_share?: number | null;
}

export interface TimelineMark {
  readonly milestone?: string | null;
  readonly name: string;
  readonly at_ns?: number | null;
}

export interface TimelineFinding {
  readonly title: string;
  readonly saving_ns: number;
  readonly at_ns?: readonly number[] | null;
}

export interface TimelineCounter {
  readonly name: string;
  readonly unit: string;
  readonly at_ns: ArrayLike<number>;
  /** Each holds up to the next sample. */
  readonly values: ArrayLike<number>;
  readonly clock: number;
}

export interface TimelineHead {
  readonly ready_ns?: number | null;
  readonly extent?: { readonly start_ns: number; readonly end_ns: number; readonly ready: boolean } | null;
  readonly phases: readonly TimelinePhase[];
  readonly gaps: readonly TimelineGap[];
  readonly findings: readonly TimelineFinding[];
  readonly marks: readonly TimelineMark[];
  readonly counters: readonly TimelineCounter[];
  readonly clocks: readonly { readonly how: string }[];
  readonly tracks: readonly { readonly kind: string; readonly name: string }[];
}

export interface TimelineBoot {
  readonly head: TimelineHead;
  readonly spans: TimelineSpans;
  readonly links: TimelineLinks;
}

/** A span of boot 0 (the report's) or 1 (the one before). */
export interface Selection {
  boot: number;
  span: number;
}

/** Something in the timeline that is no span; `index` is its place in the
 * head's list, `part` that of a phase's part. */
export interface Thing {
  kind: "phase" | "part" | "gap" | "mark" | "finding";
  boot: number;
  index: number;
  part?: number;
}

/** An interval of time, in ns. */
export interface View {
  start: number;
  end: number;
}

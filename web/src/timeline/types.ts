// What the timeline needs of a boot, and its own small types.
// Times are nanoseconds on the boot's reference clock unless said otherwise.

import type { Boot, Head } from "../model.ts";

/** The part of a boot that the timeline shows: names and times. Names that
 * stand in the evidence are empty until it is there. */
export interface TimelineBoot extends Pick<Boot, "spans" | "links">, Partial<Pick<Boot, "evidence">> {
  readonly head: Pick<Head, "ready_ns" | "extent" | "phases" | "gaps" | "findings" | "marks" | "counters" | "clocks" | "tracks"> & Partial<Pick<Head, "path">>;
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

// Two boots on one axis: the moments at which they can be aligned, and what
// grew or shrank from one to the other.

import { change } from "../format.ts";
import type { Placed } from "./boot.ts";

export interface Alignment {
  /** Stable: what stands in the page's address. */
  key: string;
  title: string;
  /** When it is, in each boot. */
  at: number[];
}

/** Moments that all boots passed; the first is where they are aligned at first. */
export function alignments(boots: readonly Placed[]): Alignment[] {
  const list: Alignment[] = [];
  const starts = boots.map((placed) => placed.extent.start);
  list.push({ key: "start", title: starts.every((ns) => ns === 0) ? "power-on" : "the start", at: starts });
  const [first] = boots;
  const named = (placed: Placed, key: string) =>
    placed.boot.head.marks.find((mark) => mark.at_ns !== null && (mark.milestone ?? mark.name) === key)?.at_ns ?? null;
  for (const mark of [...(first?.boot.head.marks ?? [])].sort((a, b) => (a.at_ns ?? 0) - (b.at_ns ?? 0))) {
    const key = mark.milestone ?? mark.name;
    if (mark.milestone === "power-on" || list.some((one) => one.key === key)) continue;
    const at = boots.map((placed) => (key === "ready" ? placed.boot.head.ready_ns ?? named(placed, key) : named(placed, key)));
    if (at.every((ns): ns is number => ns !== null)) list.push({ key, title: mark.name, at: at as number[] });
  }
  const ready = boots.map((placed) => placed.boot.head.ready_ns ?? null);
  if (ready.every((ns) => ns !== null) && !list.some((one) => one.key === "ready")) {
    list.push({ key: "ready", title: "ready", at: ready as number[] });
  }
  return list;
}

/** Moves the boots so that this moment is the same for all; the report's own
 * boot (index 0) keeps its times. */
export function align(boots: readonly Placed[], alignment: Alignment): void {
  const own = boots.findIndex((placed) => placed.index === 0);
  boots.forEach((placed, i) => {
    placed.shift = alignment.at[own]! - alignment.at[i]!;
  });
}

export interface Bridge {
  title: string;
  name: string;
  /** On the shared axis: start and end in the upper and the lower boot. */
  upper: [number, number];
  lower: [number, number];
  /** Lower minus upper, ns. */
  delta: number;
  verdict: "good" | "bad" | "same";
  text: string;
}

/** What became of each phase that both boots have. Changes below a thousandth
 * of the longer boot are none. */
export function bridges(upper: Placed, lower: Placed): Bridge[] {
  const least = Math.max(upper.extent.end - upper.extent.start, lower.extent.end - lower.extent.start) / 1000;
  return upper.boot.head.phases.flatMap((was) => {
    const now = lower.boot.head.phases.find((phase) => phase.name === was.name);
    if (!now) return [];
    const delta = now.end_ns - now.start_ns - (was.end_ns - was.start_ns);
    const verdict = Math.abs(delta) < least ? "same" : delta < 0 ? "good" : "bad";
    return [{
      title: was.title, name: was.name, delta, verdict,
      upper: [was.start_ns + upper.shift, was.end_ns + upper.shift],
      lower: [now.start_ns + lower.shift, now.end_ns + lower.shift],
      text: verdict === "same" ? "as before" : change(delta),
    } satisfies Bridge];
  });
}

// One boot as the timeline sees it: its spans with ends that can be drawn, how
// far it reaches, and where it stands on the shared axis.

import { visible } from "../dom.ts";
import { END_OPEN, extentOf, SPAWNS } from "../model.ts";
import type { TimelineBoot, View } from "./types.ts";

export class Placed {
  /** What to add to this boot's times to bring them onto the shared axis. */
  shift = 0;
  /** Ends to draw: of spans still open at the cut, the last moment seen. */
  readonly end: Float64Array;
  /** From power-on to ready, or to the last event; the boot's own clock. */
  readonly extent: View;
  /** All that was recorded. */
  readonly all: View;
  private readonly assumed: boolean[];
  private readonly labels = new Map<number, string>();

  constructor(readonly boot: TimelineBoot, readonly index: number) {
    const { spans, head } = boot;
    const [start, end] = extentOf(head);
    this.extent = { start, end: Math.max(end, start + 1) };
    let [first, last, open] = [this.extent.start, this.extent.end, false];
    for (let i = 0; i < spans.count; i++) {
      if (spans.start[i]! < first) first = spans.start[i]!;
      if (spans.end[i]! > last) last = spans.end[i]!;
      if (spans.start[i]! > last) last = spans.start[i]!;
      if (spans.endKind[i] === END_OPEN) open = true;
    }
    this.all = { start: first, end: last };
    this.end = spans.end;
    if (open) {
      this.end = spans.end.slice();
      for (let i = 0; i < spans.count; i++) if (spans.endKind[i] === END_OPEN) this.end[i] = last;
    }
    this.assumed = head.clocks.map((clock) => clock.how === "assumed");
  }

  /** A span's name as one short line that can be drawn. A name may be a
   * megabyte of console: it is looked at once, not in every frame. */
  label(span: number): string {
    let label = this.labels.get(span);
    if (label === undefined) {
      label = visible(this.boot.spans.name(span).slice(0, 300).trim()) || "(blank)";
      if (this.labels.size > 20_000) this.labels.clear();
      this.labels.set(span, label);
    }
    return label;
  }

  /** Names are others now: the evidence has come. */
  forgetLabels(): void {
    this.labels.clear();
  }

  /** Whether nothing but an assumption relates this span's clock to the axis. */
  isAssumed(span: number): boolean {
    return this.assumed[this.boot.spans.clock[span]!] ?? false;
  }

  get anyAssumed(): boolean {
    return this.assumed.some(Boolean);
  }

  /** The span that started this one; −1 if none is known. */
  parent(span: number): number {
    const { links } = this.boot;
    for (const link of links.into(span)) if (links.kind[link] === SPAWNS) return links.from[link]!;
    return -1;
  }
}

/** The whole boot, and all that was recorded, with a little room. */
export function bounds(boots: readonly Placed[]): [View, View] {
  const around = (views: View[]): View => {
    const start = Math.min(...views.map((view) => view.start));
    const end = Math.max(...views.map((view) => view.end));
    const room = Math.max(1000, (end - start) * 0.012);
    return { start: start - room, end: end + room };
  };
  const moved = (view: View, shift: number) => ({ start: view.start + shift, end: view.end + shift });
  const home = around(boots.map((placed) => moved(placed.extent, placed.shift)));
  return [home, around([home, ...boots.map((placed) => moved(placed.all, placed.shift))])];
}

// All that a frame shows: what the painters read and the timeline changes.

import type { Selection } from "../model.ts";
import type { Placed } from "./boot.ts";
import type { Lane } from "./lanes.ts";
import type { Layout } from "./layout.ts";
import type { Measure } from "./measure.ts";
import { Scale } from "./scale.ts";
import type { Found } from "./search.ts";
import type { Thing, View } from "./types.ts";

/** Something drawn above the lanes that can be pointed at, in CSS pixels. */
export interface Target {
  x: number;
  y: number;
  width: number;
  height: number;
  thing: Thing;
}

export interface Scene {
  /** From top to bottom; index 0 is the report's own boot. */
  boots: Placed[];
  lanes: Lane[];
  layout: Layout;
  /** On the shared axis. */
  view: View;
  /** How far the lanes are scrolled up, px. */
  scroll: number;
  /** Of the canvas, px. */
  width: number;
  height: number;
  /** Room for the lanes' names at the left, and for the axis at the top. */
  gutter: number;
  head: number;
  selected: Selection | null;
  /** Under the pointer. */
  hovered: Selection | null;
  thing: Thing | null;
  /** Of each boot, by index; null if nothing is searched. */
  found: Found[] | null;
  measure: Measure | null;
  /** Where the pointer is, on the shared axis. */
  cursor: number | null;
  /** What the last frame drew above the lanes. */
  targets: Target[];
}

export function scaleOf(scene: Scene): Scale {
  return new Scale(scene.view, scene.gutter, scene.width - scene.gutter);
}

/** A finding, mark or gap: when it is on the shared axis, and its name. */
export function intervalOf(scene: Scene, thing: Thing): { start: number; end: number; name: string } | null {
  const placed = scene.boots.find((one) => one.index === thing.boot);
  if (!placed) return null;
  const { head } = placed.boot;
  const made = (start: number, end: number, name: string) => ({ start: start + placed.shift, end: end + placed.shift, name });
  switch (thing.kind) {
    case "phase": {
      const phase = head.phases[thing.index];
      return phase ? made(phase.start_ns, phase.end_ns, phase.title) : null;
    }
    case "part": {
      const part = head.phases[thing.index]?.parts[thing.part ?? 0];
      return part ? made(part.start_ns, part.end_ns, part.name) : null;
    }
    case "gap": {
      const gap = head.gaps[thing.index];
      return gap ? made(gap.start_ns, gap.end_ns, "silence on the console") : null;
    }
    case "mark": {
      if (thing.index < 0) return head.ready_ns === null ? null : made(head.ready_ns, head.ready_ns, "ready");
      const mark = head.marks[thing.index];
      return mark && mark.at_ns !== null ? made(mark.at_ns, mark.at_ns, mark.name) : null;
    }
    case "finding": {
      const finding = head.findings[thing.index];
      return finding?.at_ns ? made(finding.at_ns[0], finding.at_ns[1], finding.title) : null;
    }
  }
}

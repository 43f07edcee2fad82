// What is under the pointer.

import type { CounterLane, Lane, SpanLane } from "./lanes.ts";
import { segmentAt, type Segment } from "./layout.ts";
import { edgeNear, nearest } from "./measure.ts";
import { scrollThumb } from "./paint/frame.ts";
import { AXIS } from "./paint/head.ts";
import { lowerBound } from "./pyramid.ts";
import type { Row } from "./rows.ts";
import { scaleOf, type Scene } from "./scene.ts";
import type { Thing } from "./types.ts";

export type Hit =
  | { type: "span"; boot: number; span: number }
  | { type: "thing"; thing: Thing }
  | { type: "strip"; lane: SpanLane; ns: number }
  | { type: "chart"; lane: CounterLane; ns: number }
  | { type: "title"; lane: Lane }
  | { type: "axis" }
  | { type: "scrollbar" };

/** So near counts as on it, px. */
const SLACK = 4;

export function hitAt(scene: Scene, x: number, y: number): Hit | null {
  for (const target of [...scene.targets].reverse()) {
    if (x >= target.x && x <= target.x + target.width && y >= target.y && y <= target.y + target.height) {
      return { type: "thing", thing: target.thing };
    }
  }
  if (y < AXIS) return { type: "axis" };
  if (y < scene.head) return null;
  const thumb = scrollThumb(scene);
  if (thumb && x >= thumb.x - 2) return { type: "scrollbar" };
  const found = segmentAt(scene.layout, y - scene.head + scene.scroll);
  if (!found) return null;
  const { segment, row } = found;
  if (x < scene.gutter) return inGutter(segment, row);
  const ns = scaleOf(scene).ns(x);
  return inLane(scene, segment, row, ns);
}

function inGutter(segment: Segment, row: number): Hit | null {
  if (segment.mode === "bridge" || segment.mode === "parts") return null;
  const label = segment.mode === "rows" ? segment.lane.label(row) : null;
  if (label) return { type: "span", boot: segment.lane.placed.index, span: label.span };
  return { type: "title", lane: segment.lane };
}

function inLane(scene: Scene, segment: Segment, row: number, ns: number): Hit | null {
  const { placed } = segment.lane;
  const own = ns - placed.shift;
  const perPixel = scaleOf(scene).perPixel;
  const boot = placed.index;
  const { head } = placed.boot;
  const within = ({ start_ns, end_ns }: { start_ns: number; end_ns: number }) =>
    own >= start_ns - perPixel && own <= end_ns + perPixel;
  switch (segment.mode) {
    case "bridge":
      return null;
    case "counter":
      return { type: "chart", lane: segment.lane, ns: own };
    case "phases": {
      const index = head.phases.findIndex(within);
      return index < 0 ? null : { type: "thing", thing: { kind: "phase", boot, index } };
    }
    case "parts": {
      const at = segment.lane.parts[row]?.find(({ phase, part }) => within(head.phases[phase]!.parts[part]!));
      return at ? { type: "thing", thing: { kind: "part", boot, index: at.phase, part: at.part } } : null;
    }
    case "strip":
    case "rows": {
      const span = segment.mode === "rows" ? spanNear(segment.lane.row(row), own, perPixel) : -1;
      if (span >= 0) return { type: "span", boot, span };
      if (segment.lane.kind === "console") {
        const index = head.gaps.findIndex(within);
        if (index >= 0) return { type: "thing", thing: { kind: "gap", boot, index } };
      }
      return segment.mode === "strip" ? { type: "strip", lane: segment.lane, ns: own } : null;
    }
  }
}

/** The span at a moment, or the nearest to it; where several share a pixel,
 * the longest of them. −1 if none is near. */
export function spanNear(row: Row, ns: number, perPixel: number): number {
  const slack = SLACK * perPixel;
  const from = row.firstEndingAt(ns - slack);
  const to = lowerBound(row.start, ns + slack);
  if (to <= from) return -1;
  // The pixel itself, before its surroundings.
  const first = row.firstEndingAt(ns - perPixel / 2);
  const last = lowerBound(row.start, ns + perPixel / 2);
  const at = last > first ? row.longest(first, last) : row.longest(from, to);
  return row.ids[at]!;
}

/** The moment at a point, moved to the edge of a span or a mark if one is near. */
export function snapped(scene: Scene, x: number, y: number): number {
  const scale = scaleOf(scene);
  const ns = scale.ns(x);
  const slack = 7 * scale.perPixel;
  const found = y >= scene.head ? segmentAt(scene.layout, y - scene.head + scene.scroll) : null;
  if (found?.segment.mode === "rows") {
    const { lane } = found.segment;
    const edge = edgeNear(lane.row(found.row), ns - lane.placed.shift, slack);
    if (edge !== null) return edge + lane.placed.shift;
  }
  const moments: number[] = [];
  for (const { boot: { head }, shift } of scene.boots) {
    for (const mark of head.marks) if (mark.at_ns !== null) moments.push(mark.at_ns + shift);
    if (head.ready_ns !== null) moments.push(head.ready_ns + shift);
    for (const phase of head.phases) moments.push(phase.start_ns + shift, phase.end_ns + shift);
  }
  return nearest(moments, ns, slack) ?? ns;
}

// Where each lane stands from top to bottom: segments of equal rows, so that
// ten thousand rows cost no more than one.

import { type CounterLane, type Lane, type PhaseLane, type SpanLane } from "./lanes.ts";

export const ROW = 18;
const TALL_ROW = 36;
const HIGH_ROW = 26;
const PHASE = 28;
const PART = 18;
export const BRIDGE = 34;
const COUNTER = 52;
const LANE_GAP = 7;
const CHILD_GAP = 3;

interface Base {
  y: number;
  rows: number;
  rowHeight: number;
}

export type Segment =
  | (Base & { mode: "phases" | "parts"; lane: PhaseLane })
  | (Base & { mode: "bridge"; lane: PhaseLane; upper: PhaseLane })
  | (Base & { mode: "strip" | "rows"; lane: SpanLane })
  | (Base & { mode: "counter"; lane: CounterLane });

export interface Layout {
  segments: Segment[];
  height: number;
}

type Unplaced = Segment extends infer S ? (S extends Segment ? Omit<S, "y"> : never) : never;

/** Lanes must be in the order in which they are shown. */
export function layOut(lanes: readonly Lane[]): Layout {
  const segments: Segment[] = [];
  let y = 4;
  const add = (segment: Unplaced) => {
    segments.push({ ...segment, y } as Segment);
    y += segment.rows * segment.rowHeight;
  };
  const phases = lanes.filter((lane): lane is PhaseLane => lane.type === "phases");
  for (const lane of lanes) {
    if (lane.type === "phases") {
      const upper = phases.length > 1 && lane === phases[0];
      // The phases of two boots face each other.
      const parts = lane.collapsed ? [] : [{ mode: "parts", lane, rows: lane.parts.length, rowHeight: PART } as const];
      const block = { mode: "phases", lane, rows: 1, rowHeight: PHASE } as const;
      for (const segment of upper ? [...parts, block] : [block, ...parts]) if (segment.rows > 0) add(segment);
      if (upper) add({ mode: "bridge", lane: phases[1]!, upper: lane, rows: 1, rowHeight: BRIDGE });
      else y += LANE_GAP;
    } else if (lane.type === "counters") {
      add({ mode: "counter", lane, rows: 1, rowHeight: lane.collapsed ? ROW : COUNTER });
      y += LANE_GAP;
    } else if (lane.ids.length > 0) {
      addSpans(lane, add);
      for (const child of lane.collapsed ? [] : lane.children) {
        if (child.ids.length === 0) continue;
        y += CHILD_GAP;
        addSpans(child, add);
      }
      y += LANE_GAP;
    }
  }
  return { segments, height: y };
}

function addSpans(lane: SpanLane, add: (segment: Unplaced) => void): void {
  const group = lane.children.length > 0;
  if (lane.collapsed || lane.isNamed || group) add({ mode: "strip", lane, rows: 1, rowHeight: ROW });
  if (!lane.collapsed && !group) add({ mode: "rows", lane, rows: lane.rowCount, rowHeight: !lane.isTall ? ROW : lane.rowCount === 1 ? TALL_ROW : HIGH_ROW });
}

/** The same in no more than `height`, for paper, which does not scroll: the lanes that take
 * most are closed until it fits. Those that are open on the screen stay so. */
export function layOutWithin(lanes: readonly Lane[], height: number): Layout {
  const closed: Lane[] = [];
  let layout = layOut(lanes);
  while (layout.height > height) {
    const lane = highest(layout) ?? lanes.find((one) => one.type === "spans" && one.children.length > 0 && !one.collapsed);
    if (!lane) break;
    lane.collapsed = true;
    closed.push(lane);
    layout = layOut(lanes);
  }
  for (const lane of closed) lane.collapsed = false;
  return layout;
}

/** The open lane whose rows take the most; null where none has more than closed ones. */
function highest(layout: Layout): Lane | null {
  let found: { lane: Lane; height: number } | null = null;
  for (const { mode, lane, rows, rowHeight } of layout.segments) {
    const height = rows * rowHeight;
    if (mode === "rows" && height > ROW && height > (found?.height ?? 0)) found = { lane, height };
  }
  return found?.lane ?? null;
}

/** The segments that lie in `from..to`. */
export function segmentsIn(layout: Layout, from: number, to: number): Segment[] {
  return layout.segments.filter((s) => s.y < to && s.y + s.rows * s.rowHeight > from);
}

/** The segment at a height, and the row of it. */
export function segmentAt(layout: Layout, y: number): { segment: Segment; row: number } | null {
  for (const segment of layout.segments) {
    const row = Math.floor((y - segment.y) / segment.rowHeight);
    if (row >= 0 && row < segment.rows) return { segment, row };
  }
  return null;
}

/** Where a span's row stands: its own, or the strip that it is part of. */
export function placeOf(layout: Layout, lane: SpanLane, span: number): { y: number; height: number; exact: boolean } | null {
  const rows = layout.segments.find((s) => s.mode === "rows" && s.lane === lane);
  if (rows) {
    const row = lane.rowOf(span);
    if (row >= 0) return { y: rows.y + row * rows.rowHeight, height: rows.rowHeight, exact: true };
  }
  const strip = layout.segments.find((s) => s.mode === "strip" && (s.lane === lane || s.lane === lane.parent));
  return strip ? { y: strip.y, height: strip.rowHeight, exact: false } : null;
}

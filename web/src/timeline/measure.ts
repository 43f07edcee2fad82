// Measuring between two points: moments near the edge of a span or a mark
// become that edge, so that a distance is exact.

import { lowerBound } from "./pyramid.ts";
import type { Row } from "./rows.ts";

export interface Measure {
  /** On the shared axis, ns; `to` may lie before `from`. */
  from: number;
  to: number;
  /** Whether `to` still follows the pointer. */
  open: boolean;
}

/** The edge in `row` nearest to `ns`, if one is within `slack`; else null. */
export function edgeNear(row: Row, ns: number, slack: number): number | null {
  let best: number | null = null;
  for (const edges of [row.start, row.end]) {
    const next = lowerBound(edges, ns);
    for (const at of [next - 1, next]) {
      const edge = edges[at];
      if (edge === undefined || Math.abs(edge - ns) > slack) continue;
      if (best === null || Math.abs(edge - ns) < Math.abs(best - ns)) best = edge;
    }
  }
  return best;
}

/** The nearest of some moments, if one is within `slack`; else null. */
export function nearest(moments: Iterable<number>, ns: number, slack: number): number | null {
  let best: number | null = null;
  for (const moment of moments) {
    if (Math.abs(moment - ns) <= slack && (best === null || Math.abs(moment - ns) < Math.abs(best - ns))) best = moment;
  }
  return best;
}

// What of a row is too narrow to be a box: for each column of pixels, how much
// of its time is covered. Costs a few steps per column, however many spans.

import { gallop } from "../pyramid.ts";
import type { Row } from "../rows.ts";

/** Time on the row's clock at the left edge, per column of pixels, and how many. */
export interface Columns {
  from: number;
  per: number;
  count: number;
}

/** A column is covered by this share, a search found something in it, and the
 * spans in it are these (places in the row). */
export type Paint = (column: number, coverage: number, matched: boolean, from: number, to: number) => void;
/** The span at this place of the row is wide enough for a box. */
export type Box = (at: number) => void;

/** Spans of `boxWidth` columns or more become boxes, the others columns.
 * `sums` are the search's matches before each span, if there is a search. */
export function scanRow(row: Row, columns: Columns, boxWidth: number, sums: Uint32Array | null, paint: Paint, box: Box): void {
  const { start, end, count } = row;
  const { from, per } = columns;
  const until = from + per * columns.count;
  const wide = boxWidth * per;
  const match = (a: number, b: number) => sums === null || sums[b]! > sums[a]!;
  let at = row.firstEndingAt(from);
  while (at < count && start[at]! < until) {
    if (end[at]! - start[at]! >= wide) {
      box(at++);
      continue;
    }
    const column = Math.max(0, Math.floor((start[at]! - from) / per));
    const [left, right] = [from + column * per, from + (column + 1) * per];
    let next = Math.max(at + 1, gallop(start, right, at));
    // Only the last that starts in a column can be wide.
    if (next - at > 1 && end[next - 1]! - start[next - 1]! >= wide) next--;
    const before = start[at]! < left ? at + 1 : at;
    paint(column, Math.min(1, (row.covered(right, next) - row.covered(left, before)) / per), match(at, next), at, next);
    const last = end[next - 1]!;
    if (last > right) {
      // It reaches into columns in which nothing starts, or the next one does.
      const matched = match(next - 1, next);
      const stop = Math.min(columns.count, (last - from) / per);
      for (let c = column + 1; c < stop; c++) paint(c, Math.min(1, stop - c), matched, next - 1, next);
    }
    at = next;
  }
}

// The time of a span that no span within it, in the same lane, accounts for.

import { END_KNOWN, type Spans } from "../model.ts";

/** Spans looked at: one that holds more is a lane of its own, not a call. */
const MOST = 50_000;

/** Self time, ns; null if the end is unknown or there is too much within.
 * Spans are in order of start, so what lies within comes next. */
export function selfTime(spans: Spans, span: number): number | null {
  if (spans.endKind[span] !== END_KNOWN) return null;
  const end = spans.end[span]!;
  let own = end - spans.start[span]!;
  let covered = spans.start[span]!;
  for (let i = span + 1; i < spans.count && spans.start[i]! < end; i++) {
    if (i - span > MOST) return null;
    if (spans.track[i] !== spans.track[span]) continue;
    const from = Math.max(covered, spans.start[i]!);
    const to = Math.min(end, spans.end[i]!);
    if (to > from) {
      own -= to - from;
      covered = to;
    }
  }
  return own;
}

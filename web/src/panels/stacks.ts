// Function calls summed up by stack: what a flame graph shows. Who called whom
// is seen from the times of one lane, as crates/analysis/src/functions.rs does.

import { END_KNOWN, type Boot } from "../model.ts";
import type { View } from "../timeline/types.ts";

const EVER: View = { start: -Infinity, end: Infinity };

export interface Frame {
  name: string;
  /** Time in it and in what it called, ns. */
  total: number;
  /** Time of its own, ns. */
  self: number;
  calls: number;
  children: Map<string, Frame>;
  parent: Frame | null;
  /** Distance from the root. */
  depth: number;
}

function frame(name: string, parent: Frame | null): Frame {
  return { name, total: 0, self: 0, calls: 0, children: new Map(), parent, depth: parent ? parent.depth + 1 : 0 };
}

/** Deeper calls count as their caller's own: no kernel nests like that, broken
 * evidence may. */
const DEEPEST = 200;

interface Open { frame: Frame; end: number }

/** Sums up, in steps: each `next()` of the generator takes a few ms, so that
 * the page stays alive with a million calls. Of a range of time, what lies within it. */
export function* stacksOf(boot: Boot, kind: string, range: View = EVER): Generator<void, Frame> {
  const { spans, head } = boot;
  const root = frame("all", null);
  const lanes = new Map<number, { root: Frame; open: Open[] }>();
  const tracks = head.tracks.flatMap((track, at) => (track.kind === kind ? [at] : []));
  for (let i = 0; i < spans.count; i++) {
    if (i % 20_000 === 19_999) yield;
    const track = spans.track[i]!;
    if (head.tracks[track]?.kind !== kind || spans.endKind[i] !== END_KNOWN) continue;
    let lane = lanes.get(track);
    if (!lane) {
      const name = head.tracks[track]!.name || kind;
      // One lane needs no name of its own.
      lane = { root: tracks.length > 1 ? child(root, name) : root, open: [] };
      lanes.set(track, lane);
    }
    const [start, end] = [Math.max(spans.start[i]!, range.start), Math.min(spans.end[i]!, range.end)];
    // A moment within it is a call; what only touches it is none.
    if (end < start || (end === start && spans.end[i]! > spans.start[i]!)) continue;
    while (lane.open.length > 0 && lane.open[lane.open.length - 1]!.end <= start) lane.open.pop();
    if (lane.open.length >= DEEPEST) continue;
    const outer = lane.open[lane.open.length - 1];
    // What ends after its caller was cut by it: the rest has no one's stack.
    const ns = Math.min(end, outer?.end ?? end) - start;
    const caller = outer?.frame ?? lane.root;
    const called = child(caller, spans.name(i));
    called.total += ns;
    called.self += ns;
    called.calls++;
    for (let f: Frame | null = caller; f && !outer; f = f.parent) f.total += ns;
    if (outer) caller.self -= ns;
    lane.open.push({ frame: called, end: start + ns });
  }
  return root;
}

function child(parent: Frame, name: string): Frame {
  let found = parent.children.get(name);
  if (!found) parent.children.set(name, (found = frame(name, parent)));
  return found;
}

/** A frame's place in the picture. */
export interface Box { frame: Frame; left: number; right: number; depth: number }

/** Frames below `root` that are at least `smallest` wide, of a picture that is
 * 1 wide; the largest on the left. What leads to `root` lies below it. */
export function layout(root: Frame, smallest: number): Box[] {
  const boxes: Box[] = [];
  for (let f: Frame | null = root; f; f = f.parent) boxes.unshift({ frame: f, left: 0, right: 1, depth: f.depth });
  const place = (frame: Frame, left: number) => {
    const scale = 1 / Math.max(1, root.total);
    const children = [...frame.children.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
    for (const child of children) {
      const right = left + child.total * scale;
      if (right - left < smallest) break;
      boxes.push({ frame: child, left, right, depth: child.depth });
      place(child, left);
      left = right;
    }
  };
  place(root, 0);
  return boxes;
}

/** Share of the picture that frames with a matching name take; what lies
 * within a match is not counted twice. */
export function matched(root: Frame, matches: (name: string) => boolean): number {
  let ns = 0;
  const look = (frame: Frame) => {
    if (matches(frame.name)) ns += frame.total;
    else for (const child of frame.children.values()) look(child);
  };
  for (const child of root.children.values()) look(child);
  return ns / Math.max(1, root.total);
}

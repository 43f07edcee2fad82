// Which span stands in which row: rows never hold two spans at one time, and
// what lies within another span comes under it.

import { lowerBound, Peaks } from "./pyramid.ts";

/** Spans that follow one another. */
export class Row {
  /** Time covered by the spans before each. */
  private busy: Float64Array | null = null;
  private peaks: Peaks | null = null;
  private found: { of: unknown; sums: Uint32Array } | null = null;

  constructor(readonly ids: Uint32Array, readonly start: Float64Array, readonly end: Float64Array) {}

  get count(): number {
    return this.ids.length;
  }

  /** The first span that is not over before `ns`. */
  firstEndingAt(ns: number): number {
    return lowerBound(this.end, ns);
  }

  /** Time covered before `ns`, if `next` is the first span that starts at or after it. */
  covered(ns: number, next: number): number {
    this.busy ??= this.sum();
    const over = next > 0 ? Math.max(0, this.end[next - 1]! - ns) : 0;
    return this.busy[next]! - over;
  }

  /** Time covered in `from..to`. */
  coveredIn(from: number, to: number): number {
    return this.covered(to, lowerBound(this.start, to)) - this.covered(from, lowerBound(this.start, from));
  }

  /** The longest of the spans `from..to` (positions); −1 if there are none. */
  longest(from: number, to: number): number {
    this.peaks ??= new Peaks(this.end.map((end, i) => end - this.start[i]!));
    return this.peaks.largest(from, to);
  }

  /** How long the longest of the spans `from..to` takes, ns. */
  longestTime(from: number, to: number): number {
    const at = to - from === 1 ? from : this.longest(from, to);
    return at < 0 ? 0 : this.end[at]! - this.start[at]!;
  }

  /** How many of the first n spans a search found, for each n. */
  matches(found: Uint8Array): Uint32Array {
    if (this.found?.of !== found) this.found = { of: found, sums: matchSums(this.ids, found) };
    return this.found.sums;
  }

  private sum(): Float64Array {
    const sums = new Float64Array(this.count + 1);
    for (let i = 0; i < this.count; i++) sums[i + 1] = sums[i]! + (this.end[i]! - this.start[i]!);
    return sums;
  }
}

export function matchSums(ids: Uint32Array, found: Uint8Array): Uint32Array {
  const sums = new Uint32Array(ids.length + 1);
  for (let i = 0; i < ids.length; i++) sums[i + 1] = sums[i]! + found[ids[i]!]!;
  return sums;
}

export interface Packing {
  /** The row of each span, in the order of `ids`. */
  row: Uint32Array;
  rows: number;
}

/** Puts each span into the first row that is free. `ids` must be in order of
 * start, the longer first among equals: so a span lands right under the one
 * that it lies within. */
export function pack(ids: Uint32Array, start: Float64Array, end: Float64Array): Packing {
  const row = new Uint32Array(ids.length);
  const free = new FreeRows();
  let rows = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    row[i] = free.take(start[id]!, end[id]!);
    if (row[i]! >= rows) rows = row[i]! + 1;
  }
  return { row, rows };
}

/** When each row becomes free, as a tree of the earliest: the first free row is
 * found in as many steps as the tree is deep. */
class FreeRows {
  private leaves = 16;
  private tree = new Float64Array(32).fill(-Infinity);

  take(start: number, end: number): number {
    while (this.tree[1]! > start) this.grow();
    let node = 1;
    while (node < this.leaves) node = 2 * node + (this.tree[2 * node]! <= start ? 0 : 1);
    const row = node - this.leaves;
    this.tree[node] = end;
    for (node >>= 1; node > 0; node >>= 1) {
      this.tree[node] = Math.min(this.tree[2 * node]!, this.tree[2 * node + 1]!);
    }
    return row;
  }

  private grow(): void {
    const old = this.tree.slice(this.leaves);
    this.leaves *= 2;
    this.tree = new Float64Array(2 * this.leaves).fill(-Infinity);
    this.tree.set(old, this.leaves);
    for (let node = this.leaves - 1; node > 0; node--) {
      this.tree[node] = Math.min(this.tree[2 * node]!, this.tree[2 * node + 1]!);
    }
  }
}

/** The rows of a packing. */
export function split(ids: Uint32Array, packing: Packing, start: Float64Array, end: Float64Array): Row[] {
  const counts = new Uint32Array(packing.rows);
  for (let i = 0; i < ids.length; i++) counts[packing.row[i]!]!++;
  const rows = Array.from(counts, (n) => new Row(new Uint32Array(n), new Float64Array(n), new Float64Array(n)));
  counts.fill(0);
  for (let i = 0; i < ids.length; i++) {
    const at = packing.row[i]!;
    const n = counts[at]!++;
    const row = rows[at]!;
    row.ids[n] = ids[i]!;
    row.start[n] = start[ids[i]!]!;
    row.end[n] = end[ids[i]!]!;
  }
  return rows;
}

/** `ids` as a tree in the order in which it is read: children under their
 * parent, in order of start. `parentOf` gives a span or −1. */
export function treeOrder(ids: Uint32Array, parentOf: (id: number) => number): { order: Uint32Array; depth: Uint8Array } {
  const known = new Map<number, number>();
  ids.forEach((id, i) => known.set(id, i));
  const children: number[][] = ids.length > 0 ? Array.from({ length: ids.length }, () => []) : [];
  const roots: number[] = [];
  ids.forEach((id, i) => {
    const parent = known.get(parentOf(id));
    if (parent === undefined || parent === i) roots.push(i);
    else children[parent]!.push(i);
  });
  const order = new Uint32Array(ids.length);
  const depth = new Uint8Array(ids.length);
  const seen = new Uint8Array(ids.length);
  let n = 0;
  const walk = (first: number) => {
    const stack: [number, number][] = [[first, 0]];
    while (stack.length > 0) {
      const [i, deep] = stack.pop()!;
      if (seen[i]) continue;
      seen[i] = 1;
      order[n] = ids[i]!;
      depth[n++] = Math.min(255, deep);
      const under = children[i]!;
      for (let k = under.length - 1; k >= 0; k--) stack.push([under[k]!, deep + 1]);
    }
  };
  roots.forEach(walk);
  // Evidence can name two processes as each other's parent: they are shown all the same.
  for (let i = 0; i < ids.length; i++) if (!seen[i]) walk(i);
  return { order, depth };
}

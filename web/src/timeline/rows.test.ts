import { expect, test } from "vitest";
import { nestedCalls, random } from "../../test/harness/synthetic.ts";
import { pack, split, treeOrder } from "./rows.ts";

/** Spans at random, in order of start, the longer first among equals. */
function spansAtRandom(count: number, seed: number): { ids: Uint32Array; start: Float64Array; end: Float64Array } {
  const next = random(seed);
  const list = Array.from({ length: count }, () => {
    const start = Math.floor(next() * 500);
    return [start, start + Math.floor(next() ** 3 * 120)] as const;
  }).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  return {
    ids: Uint32Array.from(list.keys()), start: Float64Array.from(list, (s) => s[0]), end: Float64Array.from(list, (s) => s[1]),
  };
}

test("rows never hold two spans at one time, and no span is lost", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { ids, start, end } = spansAtRandom(1 + seed * 9, seed);
    const packing = pack(ids, start, end);
    const rows = split(ids, packing, start, end);
    expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(ids.length);
    for (const row of rows) {
      for (let i = 1; i < row.count; i++) expect(row.start[i]).toBeGreaterThanOrEqual(row.end[i - 1]!);
    }
  }
});

test("a span takes the first row that is free, so as few rows as ever run at once", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { ids, start, end } = spansAtRandom(200, seed + 100);
    const { row, rows } = pack(ids, start, end);
    const free: number[] = [];
    ids.forEach((id, i) => {
      let at = free.findIndex((ns) => ns <= start[id]!);
      if (at < 0) at = free.length;
      free[at] = end[id]!;
      expect(row[i]).toBe(at);
    });
    expect(rows).toBe(free.length);
  }
});

test("what lies within a span stands under it", () => {
  const spans = nestedCalls(3000, 1e6, 5).sort((a, b) => a.start - b.start || b.end! - a.end!);
  const start = Float64Array.from(spans, (s) => s.start);
  const end = Float64Array.from(spans, (s) => s.end!);
  const nested = spans.map((_, i) => i).filter((i) => spans[i]!.name.startsWith("fn_"));
  const { row } = pack(Uint32Array.from(nested), start, end);
  const open: number[] = [];
  nested.forEach((id, i) => {
    while (open.length > 0 && end[open.at(-1)!]! <= start[id]!) open.pop();
    expect(row[i]).toBe(open.length);
    open.push(id);
  });
});

test("covered time and the longest span are what counting says", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { ids, start, end } = spansAtRandom(300, seed + 7);
    for (const row of split(ids, pack(ids, start, end), start, end)) {
      const next = random(seed);
      for (let k = 0; k < 20; k++) {
        const [from, to] = [next() * 600, next() * 600].sort((a, b) => a - b) as [number, number];
        let covered = 0;
        for (let i = 0; i < row.count; i++) covered += Math.max(0, Math.min(row.end[i]!, to) - Math.max(row.start[i]!, from));
        expect(row.coveredIn(from, to)).toBeCloseTo(covered, 6);
      }
      const times = Array.from(row.end, (e, i) => e - row.start[i]!);
      expect(row.longestTime(0, row.count)).toBe(Math.max(...times));
    }
  }
});

test("children stand under their parent, in order of start; circles end", () => {
  const parents = new Map([[1, 0], [2, 0], [3, 1], [5, 6], [6, 5]]);
  const { order, depth } = treeOrder(Uint32Array.of(0, 1, 2, 3, 4, 5, 6), (id) => parents.get(id) ?? -1);
  expect([...order]).toEqual([0, 1, 3, 2, 4, 5, 6]);
  expect([...depth]).toEqual([0, 1, 2, 1, 0, 0, 1]);
});

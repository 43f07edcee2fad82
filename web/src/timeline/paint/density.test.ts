import { expect, test } from "vitest";
import { random } from "../../../test/harness/synthetic.ts";
import { Row } from "../rows.ts";
import { scanRow } from "./density.ts";

/** Spans one behind the other at random, with gaps and moments among them. */
function rowAtRandom(count: number, seed: number): Row {
  const next = random(seed);
  const [start, end] = [new Float64Array(count), new Float64Array(count)];
  let at = 0;
  for (let i = 0; i < count; i++) {
    at += next() < 0.5 ? 0 : next() * 30;
    start[i] = at;
    at += next() < 0.2 ? 0 : next() ** 4 * 90;
    end[i] = at;
  }
  return new Row(Uint32Array.from(start.keys()), start, end);
}

test("columns hold the share that is covered, wide spans become boxes, none is missed", () => {
  for (let seed = 1; seed <= 80; seed++) {
    const row = rowAtRandom(200, seed);
    const next = random(seed + 500);
    const last = row.end[row.count - 1]!;
    const [from, per, count] = [next() * last * 0.7 - 20, 0.5 + next() * 20, 100];
    const columns = new Float64Array(count).fill(-1);
    const boxes: number[] = [];
    scanRow(row, { from, per, count }, 4, null, (column, coverage) => { columns[column] = coverage; }, (at) => boxes.push(at));
    const wide = (i: number) => row.end[i]! - row.start[i]! >= 4 * per;
    const inView = [...row.start.keys()].filter((i) => row.end[i]! >= from && row.start[i]! < from + per * count);
    expect(boxes).toEqual(inView.filter(wide));
    for (const i of inView) if (!wide(i)) expect(columns[Math.max(0, Math.floor((row.start[i]! - from) / per))]).toBeGreaterThanOrEqual(0);
    columns.forEach((coverage, c) => {
      const [left, right] = [from + c * per, from + (c + 1) * per];
      let all = 0;
      let narrow = 0;
      for (let i = 0; i < row.count; i++) {
        const share = Math.max(0, Math.min(row.end[i]!, right) - Math.max(row.start[i]!, left)) / per;
        all += share;
        if (!wide(i)) narrow += share;
      }
      // A box that reaches into a column may be counted in it: it is drawn over it.
      if (coverage >= 0) expect(coverage).toBeLessThanOrEqual(Math.min(1, all) + 1e-6);
      expect(Math.max(0, coverage)).toBeGreaterThanOrEqual(Math.min(1, narrow) - 1e-6);
    });
  }
});

test("a search's matches are seen in the columns that they are in", () => {
  const row = rowAtRandom(2000, 9);
  const found = new Uint8Array(2000);
  for (let i = 0; i < 2000; i += 371) found[i] = 1;
  const marked = new Set<number>();
  const per = row.end[1999]! / 150;
  const boxes: number[] = [];
  scanRow(row, { from: 0, per, count: 151 }, 4, row.matches(found), (column, _, matched) => { if (matched) marked.add(column); }, (at) => boxes.push(at));
  for (let i = 0; i < 2000; i += 371) if (!boxes.includes(i)) expect(marked.has(Math.floor(row.start[i]! / per))).toBe(true);
});

test("a frame costs as many steps as it has columns", () => {
  const count = 200_000;
  const start = Float64Array.from({ length: count }, (_, i) => i * 10);
  const row = new Row(Uint32Array.from(start.keys()), start, start.map((ns) => ns + 9));
  let calls = 0;
  scanRow(row, { from: 0, per: count / 10, count: 100 }, 4, null, () => calls++, () => calls++);
  expect(calls).toBeLessThanOrEqual(200);
});

import { expect, test } from "vitest";
import { random } from "../../test/harness/synthetic.ts";
import { gallop, Load, lowerBound, Peaks } from "./pyramid.ts";

test("the largest of any range is found", () => {
  for (const size of [0, 1, 15, 16, 17, 300, 5000]) {
    const next = random(size + 1);
    const values = Float64Array.from({ length: size }, () => Math.floor(next() * 50));
    const peaks = new Peaks(values);
    for (let k = 0; k < 200; k++) {
      const [from, to] = [Math.floor(next() * (size + 1)), Math.floor(next() * (size + 1))].sort((a, b) => a - b) as [number, number];
      let best = -1;
      for (let i = from; i < to; i++) if (best < 0 || values[i]! > values[best]!) best = i;
      expect(peaks.largest(from, to)).toBe(best);
    }
  }
});

test("how many run at a time is what counting says", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const next = random(seed);
    const spans = Array.from({ length: 150 }, () => {
      const start = Math.floor(next() * 1000) - 100;
      return [start, start + Math.floor(next() * 90)] as const;
    }).sort((a, b) => a[0] - b[0]);
    const load = Load.of(Uint32Array.from(spans.keys()), Float64Array.from(spans, (s) => s[0]), Float64Array.from(spans, (s) => s[1]));
    for (let k = 0; k < 60; k++) {
      const from = Math.floor(next() * 1100) - 150;
      const to = from + 1 + Math.floor(next() * 200);
      const run = spans.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, to) - Math.max(a, from)), 0);
      expect(load.mean(from, to)).toBeCloseTo(run / (to - from), 6);
      expect(load.begun(from, to)).toBe(spans.filter(([a]) => a >= from && a < to).length);
    }
    const most = Math.max(...spans.map(([at], i) => spans.filter(([a, b], k) => (a <= at && b > at && k <= i) || k === i).length));
    expect(load.peak).toBe(most);
  }
});

test("galloping finds what searching finds", () => {
  const next = random(3);
  const values = Float64Array.from({ length: 400 }, () => Math.floor(next() * 100)).sort();
  for (let k = 0; k < 500; k++) {
    const wanted = Math.floor(next() * 110) - 5;
    const from = Math.floor(next() * 401);
    expect(gallop(values, wanted, from)).toBe(Math.max(from, lowerBound(values, wanted)));
  }
});

test("lanes together are what their spans are together", () => {
  const next = random(11);
  const start = Float64Array.from({ length: 300 }, () => Math.floor(next() * 1000)).sort();
  const end = start.map((at) => at + Math.floor(next() * 50));
  const all = Uint32Array.from(start.keys());
  for (const lanes of [1, 2, 3, 7]) {
    const loads = Array.from({ length: lanes }, (_, lane) => Load.of(all.filter((id) => id % lanes === lane), start, end));
    expect(Load.together(start, loads)).toEqual(Load.of(all, start, end));
  }
});

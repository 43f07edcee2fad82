import { expect, test } from "vitest";
import { random } from "../../test/harness/synthetic.ts";
import { clamp, CLOSEST_NS, panned, Scale, tickLabel, ticks, zoomed } from "./scale.ts";

const LIMITS = { start: -1e9, end: 9e9 };

test("a moment and its pixel are each other's", () => {
  const scale = new Scale({ start: -5e8, end: 3e9 }, 176, 1000);
  for (const ns of [-5e8, 0, 123_456_789, 3e9]) expect(scale.ns(scale.x(ns))).toBeCloseTo(ns, 3);
  expect(scale.x(-5e8)).toBe(176);
  expect(scale.x(3e9)).toBe(1176);
});

test("zooming keeps the moment under the pointer where it is", () => {
  const view = { start: 1e9, end: 2e9 };
  for (const fixed of [1.1e9, 1.5e9, 1.99e9]) {
    const next = zoomed(view, 0.3, fixed, LIMITS);
    expect((fixed - next.start) / (next.end - next.start)).toBeCloseTo((fixed - 1e9) / 1e9, 9);
  }
});

test("no movement leaves the limits or gets too close", () => {
  const next = random(1);
  let view = { start: 0, end: 1e9 };
  for (let i = 0; i < 2000; i++) {
    view = next() < 0.5 ? panned(view, (next() - 0.5) * 4e9, LIMITS) : zoomed(view, 0.05 + next() * 3, view.start + next() * 1e9, LIMITS);
    expect(view.start).toBeGreaterThanOrEqual(LIMITS.start - 1e-3);
    expect(view.end).toBeLessThanOrEqual(LIMITS.end + 1e-3);
    expect(view.end - view.start).toBeGreaterThanOrEqual(CLOSEST_NS * 0.999);
  }
  expect(clamp({ start: 5, end: 5 }, LIMITS).end).toBeGreaterThan(5);
});

test("ticks are round, in sight, far enough apart, and their labels differ", () => {
  const next = random(2);
  for (let i = 0; i < 300; i++) {
    const length = 10 ** (2.5 + next() * 9);
    const start = (next() - 0.3) * 1e10;
    const { step, major, minor } = ticks({ start, end: start + length }, 1000, 100);
    expect((step / length) * 1000).toBeGreaterThanOrEqual(99.9);
    expect([1, 2, 5]).toContain(Number(String(step)[0]));
    expect(major.length).toBeGreaterThanOrEqual(1);
    expect(major.length + minor.length).toBeLessThan(120);
    for (const ns of [...major, ...minor]) {
      expect(ns).toBeGreaterThanOrEqual(start - 1);
      expect(ns).toBeLessThanOrEqual(start + length + 1);
    }
    const labels = major.map((ns) => tickLabel(ns, step));
    expect(new Set(labels).size).toBe(labels.length);
  }
});

test("labels are short and in the unit of the step", () => {
  expect(tickLabel(0, 1e9)).toBe("0");
  expect(tickLabel(15e8, 5e8)).toBe("1.5 s");
  expect(tickLabel(2e9, 1e9)).toBe("2 s");
  expect(tickLabel(1_795_266_246_500_000_000, 5e8)).toBe("13:04:06.5");
  expect(tickLabel(-3e8, 1e8)).toBe("−0.3 s");
  expect(tickLabel(12e6, 2e6)).toBe("12 ms");
  expect(tickLabel(12_500, 500)).toBe("12.5 µs");
  expect(tickLabel(1_234_567_890, 10)).toBe("1.23456789 s");
});

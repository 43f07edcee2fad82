import { expect, it } from "vitest";
import { Chain } from "./chain.ts";
import { AFTER, END_KNOWN, type CriticalPath, type Links, type Spans } from "./model.ts";

/** Spans `[from, to]` in s, and which comes after which. */
function chain(times: [number, number][], after: [number, number][], last: number): Chain {
  const spans = {
    count: times.length, start: Float64Array.from(times, ([from]) => from * 1e9), end: Float64Array.from(times, ([, to]) => to * 1e9),
    endKind: new Uint8Array(times.length).fill(END_KNOWN), err: new Float64Array(times.length),
  } as unknown as Spans;
  const links = {
    count: after.length, from: Uint32Array.from(after, ([from]) => from), to: Uint32Array.from(after, ([, to]) => to),
    kind: new Uint8Array(after.length).fill(AFTER),
  } as unknown as Links;
  return new Chain(spans, links, { steps: [{ span: last }] } as unknown as CriticalPath);
}

// 0 and 1 run side by side; 2 waits for both, 3 for 2; 4 is waited for by nobody.
const boot = () => chain([[0, 4], [0, 3], [4.5, 6], [6, 7], [4, 9]], [[0, 2], [1, 2], [2, 3], [0, 4]], 3);

it("saves what the next chain allows, and no more", () => {
  expect(boot().saved(0, 0.5e9)).toBe(0.5e9);
  expect(boot().saved(0, 3e9)).toBe(1e9);
  expect(boot().saved(1, 1e9)).toBe(0);
});

it("passes a saving on through all that follows, to the last itself", () => {
  expect(boot().saved(2, 1e9)).toBe(1e9);
  expect(boot().saved(3, 0.25e9)).toBe(0.25e9);
});

it("knows how late everything may be", () => {
  const slacks = boot().slacks();
  expect([0, 1, 2, 3].map((span) => slacks.get(span))).toEqual([0, 1e9, 0, 0]);
  expect(slacks.has(4)).toBe(false);
});

it("is not held up by what was not over", () => {
  expect(chain([[0, 4], [1, 2]], [[0, 1]], 1).saved(0, 3e9)).toBe(0);
});

it("passes a saving on through what began at the same moment, in whatever order it stands", () => {
  // 0 is done first, then 2, which takes no time, and then 1, which stands before it.
  const boot = chain([[0, 4], [5, 6], [5, 5]], [[0, 2], [2, 1]], 1);
  expect(boot.saved(0, 3e9)).toBe(3e9);
  expect([...boot.slacks()].sort()).toEqual([[0, 0], [1, 0], [2, 0]]);
});

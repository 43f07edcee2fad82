import { describe, expect, it } from "vitest";
import { synthetic } from "../../test/synthetic.ts";
import { bottomUp, topDown, type Branch } from "./calls.ts";
import { stacksOf, type Frame } from "./stacks.ts";

function root(spans: [number, string, number, number][], lanes = 1): Frame {
  const tracks: [string, string][] = [["function", "cpu 0"], ["function", "cpu 1"]];
  const steps = stacksOf(synthetic({ tracks: tracks.slice(0, lanes), spans }), "function");
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const plain = (branches: Branch[]): unknown[] =>
  branches.map(({ name, ns, calls, branches }) => [name, ns, calls, ...plain(branches())]);

describe("trees of calls", () => {
  const calls = root([[0, "main", 0, 100], [0, "probe", 10, 40], [0, "msleep", 20, 30], [0, "msleep", 60, 90]]);

  it("go from callers to what they call", () => {
    expect(plain(topDown(calls))).toEqual([
      ["main", 100, 1, ["msleep", 30, 1], ["probe", 30, 1, ["msleep", 10, 1]]],
    ]);
  });

  it("go from what took the time to its callers", () => {
    expect(plain(bottomUp(calls))).toEqual([
      ["main", 40, 1],
      ["msleep", 40, 2, ["main", 30, 1], ["probe", 10, 1, ["main", 10, 1]]],
      ["probe", 20, 1, ["main", 20, 1]],
    ]);
  });

  it("give every ns of the root once, whatever calls itself", () => {
    const deep = root([[0, "f", 0, 50], [0, "f", 10, 40], [0, "g", 15, 20], [1, "g", 0, 7]], 2);
    const sum = (branches: Branch[]) => branches.reduce((ns, branch) => ns + branch.ns, 0);
    expect(sum(bottomUp(deep))).toBe(deep.total);
    expect(sum(topDown(deep))).toBe(deep.total);
    const [f] = bottomUp(deep);
    expect(plain([f!])).toEqual([["f", 45, 2, ["f", 25, 1, ["cpu 0", 25, 1]], ["cpu 0", 20, 1]]]);
  });
});

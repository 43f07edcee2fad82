import { describe, expect, it } from "vitest";
import { synthetic } from "../../test/synthetic.ts";
import { layout, matched, stacksOf, type Frame } from "./stacks.ts";

function sum(steps: Generator<void, Frame>): Frame {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const boot = synthetic({
  tracks: [["function", "cpu 0"]],
  spans: [
    [0, "main", 0, 100], [0, "probe", 10, 40], [0, "msleep", 20, 30], [0, "probe", 50, 70], [0, "main", 100, 150],
  ],
});

describe("stacks", () => {
  it("sums calls of the same stack", () => {
    const root = sum(stacksOf(boot, "function"));
    const main = root.children.get("main")!;
    const probe = main.children.get("probe")!;
    expect([root.total, main.total, main.calls, main.self]).toEqual([150, 150, 2, 100]);
    expect([probe.total, probe.calls, probe.self]).toEqual([50, 2, 40]);
    expect(probe.children.get("msleep")!.total).toBe(10);
  });

  it("sums what lies within a range", () => {
    const root = sum(stacksOf(boot, "function", { start: 25, end: 120 }));
    const main = root.children.get("main")!;
    const probe = main.children.get("probe")!;
    expect([root.total, main.total, main.calls]).toEqual([95, 95, 2]);
    expect([probe.total, probe.calls, probe.children.get("msleep")!.total]).toEqual([35, 2, 5]);
    expect(sum(stacksOf(boot, "function", { start: 200, end: 300 })).total).toBe(0);
  });

  it("keeps threads apart", () => {
    const two = synthetic({
      tracks: [["function", "init"], ["function", "kthreadd"], ["initcall", ""]],
      spans: [[0, "a", 0, 10], [1, "b", 2, 5], [2, "c", 3, 4]],
    });
    const root = sum(stacksOf(two, "function"));
    expect([...root.children.keys()]).toEqual(["init", "kthreadd"]);
    expect(root.total).toBe(13);
  });

  it("cuts a callee that outlives its caller", () => {
    const odd = synthetic({ tracks: [["function", ""]], spans: [[0, "a", 0, 10], [0, "b", 5, 30]] });
    const root = sum(stacksOf(odd, "function"));
    expect(root.total).toBe(10);
    expect(root.children.get("a")!.self).toBe(5);
  });

  it("lays out the large and leaves out the small", () => {
    const root = sum(stacksOf(boot, "function"));
    const boxes = layout(root, 0.1);
    expect(boxes.map((box) => box.frame.name)).toEqual(["all", "main", "probe"]);
    const zoomed = layout(root.children.get("main")!.children.get("probe")!, 0.1);
    expect(zoomed.map((box) => [box.frame.name, box.left, box.right])).toEqual([
      ["all", 0, 1], ["main", 0, 1], ["probe", 0, 1], ["msleep", 0, 0.2],
    ]);
  });

  it("counts a match within a match once", () => {
    const root = sum(stacksOf(boot, "function"));
    expect(matched(root, (name) => name !== "main")).toBeCloseTo(50 / 150);
  });
});

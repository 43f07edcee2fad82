import { expect, it } from "vitest";
import { synthetic } from "../../test/synthetic.ts";
import { selfTime } from "./self.ts";

it("leaves out what lies within, once", () => {
  const { spans } = synthetic({
    tracks: [["function", ""], ["function", "other"]],
    spans: [[0, "a", 0, 100], [0, "b", 10, 50], [0, "c", 20, 30], [1, "d", 60, 90], [0, "e", 95, 120], [0, "f", 99, null]],
  });
  expect([0, 1, 2, 3, 4, 5].map((i) => selfTime(spans, i))).toEqual([55, 30, 10, 30, 25, null]);
});

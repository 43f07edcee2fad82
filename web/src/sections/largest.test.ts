import { expect, it } from "vitest";
import { synthetic } from "../../test/synthetic.ts";
import { longest } from "./largest.ts";

it("finds the longest, however many there are", () => {
  const spans: [number, string, number, number | null][] = [];
  for (let i = 0; i < 5000; i++) spans.push([0, `s${i}`, i, i + ((i * 7919) % 5000)]);
  spans.push([0, "unknown", 6000, null]);
  const boot = synthetic({ tracks: [["initcall", ""]], spans });
  const lengths = longest(boot.spans, 5, () => true).map((i) => boot.spans.end[i]! - boot.spans.start[i]!);
  expect(lengths).toEqual([4999, 4998, 4997, 4996, 4995]);
});

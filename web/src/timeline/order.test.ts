import { expect, test } from "vitest";
import { random } from "../../test/harness/synthetic.ts";
import { firstOf, moved } from "./order.ts";

const lanes = ["phases", "kernel", "unit", "console"].map((key) => ({ key }));
const keys = (first: string[]) => firstOf(lanes, first).map((lane) => lane.key);

test("what was moved stands where it was put, and the address holds as little as need be", () => {
  expect(moved(lanes, [], "console", "kernel")).toEqual(["phases", "console"]);
  expect(moved(lanes, [], "console", "phases")).toEqual(["console"]);
  expect(moved(lanes, [], "kernel", null)).toEqual(["phases", "unit", "console"]);
  expect(moved(lanes, ["console"], "console", null)).toEqual([]);
  // A lane that another boot had is in no place.
  expect(keys(["process", "unit"])).toEqual(["unit", "phases", "kernel", "console"]);
});

test("any order can be made, move by move", () => {
  const next = random(7);
  let [first, wanted]: [string[], string[]] = [[], lanes.map((lane) => lane.key)];
  for (let move = 0; move < 200; move++) {
    const key = wanted[Math.floor(next() * wanted.length)]!;
    const others = wanted.filter((one) => one !== key);
    const before = others[Math.floor(next() * (others.length + 1))] ?? null;
    first = moved(lanes, first, key, before);
    others.splice(before === null ? others.length : others.indexOf(before), 0, key);
    wanted = others;
    expect(keys(first)).toEqual(wanted);
  }
});

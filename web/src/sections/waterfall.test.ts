import { expect, it } from "vitest";
import { missing } from "./waterfall.ts";

const axis = (name: string, ...recipes: string[]) => ({
  axis: name, before_ns: 9, after_ns: 1, left_out: [], steps: recipes.map((recipe) => ({ recipe, saved_ns: 1 })),
});

it("names once what others kept and this one did not", () => {
  const board = axis("board", "quiet", "delay");
  const all = [board, axis("pc", "none", "delay"), axis("other", "none", "quiet", "touched")];
  expect(all.map((one) => missing(one, all))).toEqual([["none", "touched"], ["quiet", "touched"], ["delay"]]);
});

it("misses nothing where it is alone", () => {
  const board = axis("board", "quiet");
  expect(missing(board, [board])).toEqual([]);
});

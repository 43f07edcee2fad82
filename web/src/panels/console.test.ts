import { expect, it } from "vitest";
import { commonFolder } from "./console.ts";

it("finds the folder that all files are in", () => {
  expect(["a/b/c.log", "a/b/d.log"].map((path, _, all) => path.slice(commonFolder(all)))).toEqual(["c.log", "d.log"]);
  expect([["console"], ["/x/y"], ["/x/y", "z"], ["/a/b", "/a/c/d"], []].map(commonFolder)).toEqual([0, 3, 0, 3, 0]);
});

import { expect, it } from "vitest";
import { formatHash, parseHash } from "./hash.ts";

it("comes back", () => {
  for (const address of [
    { timeline: "", theme: "auto", dock: "" }, { timeline: "v1_2~qa%26b", theme: "dark", dock: "right512" }, { timeline: "s3", theme: "light", dock: "bottom" },
  ] as const) {
    expect(parseHash(`#${formatHash(address)}`)).toEqual({ ...address, find: "" });
  }
});

it("takes a search, and nothing strange", () => {
  expect(parseHash("#find=auto%20boot")).toEqual({ timeline: "", theme: "auto", find: "auto boot", dock: "" });
  expect(parseHash("#find=%E0%A4%A").find).toBe("");
  expect(parseHash("#theme=pink&v1_2")).toEqual({ timeline: "v1_2", theme: "auto", find: "", dock: "" });
});

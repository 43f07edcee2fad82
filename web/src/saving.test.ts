import { expect, it } from "vitest";
import type { Finding } from "./model.ts";
import { saving } from "./saving.ts";

it("says of a bound that it is one, and of what kind of time", () => {
  const finding = (more: Partial<Finding>) => ({ saving_ns: 2e9, predicted_saving_ns: null, saving_kind: "this-boot", saving_is_bound: false, takes_ns: 0, ...more } as Finding);
  expect(saving(finding({}))).toBe("saves 2.000 s");
  expect(saving(finding({ saving_is_bound: true }))).toBe("saves up to 2.000 s");
  expect(saving(finding({ saving_is_bound: true, predicted_saving_ns: 1e9 }))).toBe("saves up to 1.000 s of a real board, predicted");
  expect(saving(finding({ saving_kind: "unknown" }))).toBe("to be tried");
  expect(saving(finding({ saving_kind: "unknown", takes_ns: 9e9 }))).toBe("takes 9.000 s, to be tried");
});

import { expect, it } from "vitest";
import { BytesEvidence } from "./evidence.ts";

it("ends lines as consoles do, and as GRUB does", () => {
  const text = new TextEncoder().encode("a\r\nb\r\r\n\r\n\rc\n\rd");
  const evidence = new BytesEvidence([text.length]);
  evidence.fill(text);
  const all = Array.from({ length: evidence.lineCount(0) }, (_, n) => evidence.line(0, n));
  expect(all).toEqual(["a", "b", "", "c", "d"]);
});

import { expect, it } from "vitest";
import { visible } from "./dom.ts";

it("shows what would act", () => {
  expect(visible("\x1b[31mred\x1b[0m\tx\x00\x7f")).toBe("red x\u2400\u2421");
  expect(visible("\u202eabc\u2066\u200b")).toBe("\ufffdabc\ufffd\ufffd");
  expect(visible("</script><img onerror=alert(1)>")).toBe("</script><img onerror=alert(1)>");
  expect(visible("Grüße, 世界 🚀")).toBe("Grüße, 世界 🚀");
});

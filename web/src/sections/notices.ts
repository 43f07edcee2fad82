// What of the evidence could not be used, or had to be assumed.

import { el, section } from "../dom.ts";
import type { Page } from "../model.ts";
import { evidenceFigure } from "./evidence.ts";

export function notices({ boots, head }: Page): HTMLElement | null {
  const assumed = head.clocks.filter((clock) => clock.how === "assumed").map((clock) =>
    el("li", { class: "notice" }, el("b", {}, "assumed clock"),
      ` The place of the clock ${clock.kind} is assumed, not known.`));
  const list = head.notices.map((notice) => el("li", { class: notice.severity },
    el("b", {}, notice.code), notice.count > 1 && ` ×${notice.count}`, ` ${notice.remedy}`,
    notice.first.map((place) => evidenceFigure(boots[0]!, place))));
  if (assumed.length + list.length === 0) return null;
  return section("notices", "notices", "What could not be used, or had to be assumed.",
    el("ul", { class: "notices" }, assumed, list));
}

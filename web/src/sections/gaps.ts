// Silences: stretches in which the console said nothing.

import { button, el, section, table } from "../dom.ts";
import { duration, moment, percent } from "../format.ts";
import { phaseTitle, type Gap, type Page } from "../model.ts";
import { phaseName } from "./splits.ts";

const SHOWN = 20;

export function gaps({ head, go }: Page): HTMLElement | null {
  const n = head.gaps.length;
  if (n === 0) return null;
  const sum = head.gaps.reduce((total, gap) => total + gap.end_ns - gap.start_ns, 0);
  const row = (gap: Gap) => [
    button(duration(gap.end_ns - gap.start_ns), "show it in the timeline", () => go.visit(gap.start_ns, gap.end_ns), "link"),
    moment(gap.start_ns, 1e6), gap.phase !== null && phaseName(gap.phase, phaseTitle(head, gap.phase)),
    gap.idle_share === null ? "–" : percent(gap.idle_share),
    el("div", { class: "lines" }, el("code", {}, gap.before.trim() || "(nothing)"), el("code", {}, gap.after.trim() || "(nothing)")),
  ];
  return section("gaps", "silences",
    `${n === 1 ? "One stretch" : `${n} stretches`} in which the console said nothing, ${duration(sum)} in all.`,
    table([["time", "number"], ["at", "number"], ["in", ""], ["waiting", "number wide"], ["between the lines", "text"]],
      head.gaps.slice(0, SHOWN).map(row)),
    n > SHOWN && el("p", { class: "after-table" }, `The longest ${SHOWN} of ${n}.`));
}

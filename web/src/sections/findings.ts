// What to change: every piece of advice with the lines that show it.

import { button, el, facts, prose, section, type Child } from "../dom.ts";
import { shellWord } from "../format.ts";
import type { Boot, Finding, Page, Place } from "../model.ts";
import { saving } from "../saving.ts";
import { evidenceFigure } from "./evidence.ts";

/** So many lines of evidence stand open. */
const FIRST = 3;

export function findings({ boots, head, go }: Page): HTMLElement | null {
  if (head.findings.length === 0) return null;
  const entry = (finding: Finding, at: number) => {
    const details: [string, Child][] = [["why", words(finding.why)], ["saving", words(basis(finding))], ["fix", words(finding.fix)], ["risk", words(finding.risk)],
      ["recipe", finding.recipe !== null && el("code", {}, `bootlap try ${shellWord(head.target)} ${shellWord(finding.recipe)}`)],
      ["rule", finding.rule]];
    const interval = finding.at_ns;
    return el("details", { class: "finding", id: `finding-${at}` },
      el("summary", {}, el("span", { class: "good" }, saving(finding)), el("span", {}, finding.title)),
      facts(details.filter(([, value]) => value)),
      places(boots[0]!, finding.evidence),
      interval && button("show in the timeline", "", () => go.visit(interval[0], interval[1])));
  };
  return section("findings", "what to change", "", head.findings.map(entry));
}

/** The lines that show it; what they are shows in the first ones. */
function places(boot: Boot, all: Place[]): Child[] {
  const figures = all.map((place) => evidenceFigure(boot, place));
  const more = figures.splice(FIRST);
  return [...figures, more.length > 0 && el("details", { class: "more" }, el("summary", {}, `${more.length} more`), more)];
}

function words(text: string): Child {
  return text && el("span", {}, prose(text));
}

/** How the saving was computed, and whether another finding claims the same time. */
function basis(finding: Finding): string {
  const shared = finding.same_time_as;
  return finding.saving_basis + (shared === null ? "" : `; ${shared + 1} claims the same time: do not add the two`);
}

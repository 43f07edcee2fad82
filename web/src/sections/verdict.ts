// The first screen: the time, how sure it is and against what; the largest costs with what
// removes each; and the boot as a bar.

import { button, el, prose } from "../dom.ts";
import { duration, shellWord } from "../format.ts";
import { phaseColor, phaseTitle, type Cost, type Finding, type Page } from "../model.ts";
import { saving } from "../saving.ts";
import { headline } from "./headline.ts";
import { phaseBars } from "./splits.ts";

const COSTS = 3;

export function verdict(page: Page): HTMLElement {
  const costs = page.head.costs.slice(0, COSTS);
  return el("section", { id: "verdict", "aria-label": "the verdict" },
    el("div", { class: "verdict" }, headline(page),
      costs.length > 0 && el("ol", { class: "top-costs", "aria-label": "the largest costs" }, costs.map((cost) => card(page, cost)))),
    phaseBars(page));
}

/** A cost, and the one thing to do about it. */
function card(page: Page, cost: Cost): HTMLElement {
  const { head, go } = page;
  const finding = cost.finding === null ? null : head.findings[cost.finding] ?? null;
  const what = [el("b", {}, duration(cost.duration_ns)), " ", cost.name];
  return el("li", { style: { "--c": phaseColor(cost.phase) } },
    cost.placed
      ? button(what, `${cost.why}; show it in the timeline`, () => go.visit(cost.start_ns, cost.end_ns), "cost")
      : el("span", { class: "cost" }, what),
    cost.phase !== null && el("span", { class: "phase-name" }, phaseTitle(head, cost.phase)),
    finding && cost.finding !== null ? remedy(page, finding, cost.finding) : el("p", { class: "why" }, cost.why));
}

function remedy({ head, go }: Page, finding: Finding, at: number): HTMLElement {
  const fix = button(finding.title, finding.fix, () => go.advice(at), "link");
  const command = finding.recipe !== null && `bootlap try ${shellWord(head.target)} ${shellWord(finding.recipe)}`;
  return el("div", { class: "fix" }, el("p", {}, fix, " ", el("span", { class: "good" }, saving(finding))),
    command ? copied(command) : el("p", { class: "why" }, prose(finding.fix)));
}

/** A command to copy. */
function copied(command: string): HTMLElement {
  const node = button("copy", "copy the command", () => {
    void navigator.clipboard.writeText(command).then(() => { node.textContent = "copied"; }, () => { node.textContent = "no"; });
  }, "copy");
  return el("p", { class: "command" }, el("code", {}, command), node);
}

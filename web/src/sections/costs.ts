// The largest costs, each with where it lies and what removes it.

import { button, el, section } from "../dom.ts";
import { duration, percent, shellWord } from "../format.ts";
import { extentOf, phaseColor, phaseTitle, type Cost, type Finding, type Head, type Page } from "../model.ts";
import { saving } from "../saving.ts";

const SHOWN = 5;

export function costs({ head, go }: Page): HTMLElement | null {
  if (head.costs.length === 0) return null;
  const [start, end] = extentOf(head);
  const where = (cost: Cost) => el("div", { class: "where", "aria-hidden": "true" }, el("i", { style: {
    left: `${((cost.start_ns - start) / (end - start)) * 100}%`,
    width: `${((cost.end_ns - cost.start_ns) / (end - start)) * 100}%`,
  } }));
  const time = (cost: Cost) => cost.placed
    ? button(duration(cost.duration_ns), "show it in the timeline", () => go.visit(cost.start_ns, cost.end_ns), "time")
    : el("span", { class: "time" }, duration(cost.duration_ns));
  const entry = (cost: Cost) => {
    const finding = cost.finding === null ? null : head.findings[cost.finding];
    const waiting = cost.idle_share !== null && cost.idle_share >= 0.05;
    return el("li", { style: { "--c": phaseColor(cost.phase) } },
      time(cost),
      el("div", {},
        el("p", { class: "name" }, el("b", {}, cost.name), cost.phase !== null && el("span", { class: "phase" }, phaseTitle(head, cost.phase)),
          waiting && el("span", { class: "pill warn" }, `${percent(cost.idle_share ?? 0)} waiting`)),
        cost.placed && where(cost),
        el("p", { class: "why" }, cost.why),
        finding && remedy(head, finding)));
  };
  const items = head.costs.map(entry);
  const rest = items.slice(SHOWN);
  return section("costs", "largest costs", "", el("ol", { class: "costs" }, items.slice(0, SHOWN)),
    rest.length > 0 && el("details", { class: "more" }, el("summary", {}, `${rest.length} more`),
      el("ol", { class: "costs" }, rest)));
}

function remedy(head: Head, finding: Finding): HTMLElement {
  const how = finding.recipe === null ? finding.title : el("code", {}, `bootlap try ${shellWord(head.target)} ${shellWord(finding.recipe)}`);
  return el("p", { class: "remedy" }, how, " ", el("span", { class: "good" }, saving(finding)));
}

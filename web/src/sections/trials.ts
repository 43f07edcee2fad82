// What was tried: each recipe measured against the baseline.

import { el, section, svg, table } from "../dom.ts";
import { change, duration } from "../format.ts";
import type { Page, Trial } from "../model.ts";
import { cameBack } from "./comparison.ts";
import { waterfalls } from "./waterfall.ts";

export function trials({ head }: Page): HTMLElement | null {
  if (head.trials.length === 0) return null;
  const ends = head.trials.flatMap((trial) => [...trial.interval_ns, 0]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const rows = head.trials.map((trial) => [
    el("div", {}, el("b", {}, trial.recipe), account(trial).map((line) => el("p", { class: "account" }, line))),
    duration(trial.before_ns), duration(trial.after_ns),
    el("span", { class: trial.verdict === "faster" ? "good" : trial.verdict === "slower" ? "bad" : "" },
      duration(trial.saved_ns)),
    interval(trial, low, high),
    el("span", { class: `pill ${trial.verdict}`, title: `p = ${trial.p.toFixed(3)}` }, trial.verdict),
  ]);
  const basis = head.steps ? "without and with each step, on top of those before it that helped"
    : "without and with each recipe";
  return section("trials", "what was tried",
    `Median boots ${basis}; the line is the 95 % interval of the saving.`,
    waterfalls(head.waterfalls ?? []),
    table([["recipe", "text"], ["before", "number"], ["after", "number"], ["saved", "number"],
      ["95 % interval", "graph"], ["verdict", ""]], rows));
}

/** Where a trial's time went. */
function account(trial: Trial): string[] {
  const phases = trial.phases.filter((delta) => delta.delta_ns !== 0);
  const boots = `${trial.samples[0]} + ${trial.samples[1]} boots`;
  const lines = [[boots, ...phases.map((delta) => `${delta.name} ${change(delta.delta_ns)}`)].join(" · ")];
  const [without, within] = trial.not_ready;
  if (without + within > 0) lines.push(`never ready: ${without} boots without, ${within} with the recipe`);
  return [...lines, ...trial.moved.map(cameBack)];
}

/** The saving's interval on a scale that all trials share. */
function interval(trial: Trial, low: number, high: number): HTMLElement {
  const x = (ns: number) => 4 + ((ns - low) / Math.max(1, high - low)) * 112;
  const [from, to] = [x(trial.interval_ns[0]), x(trial.interval_ns[1])];
  const text = `${duration(trial.interval_ns[0])} to ${duration(trial.interval_ns[1])}`;
  return el("figure", { class: "interval" },
    svg("svg", { viewBox: "0 0 120 16", role: "img", "aria-label": text },
      svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 16 }),
      svg("line", { class: "range", x1: from, x2: Math.max(to, from + 1), y1: 8, y2: 8 }),
      svg("circle", { class: trial.verdict, cx: x(trial.saved_ns), cy: 8, r: 3 })),
    el("figcaption", {}, text));
}

// From the start to the tuned boot: one bar for each step, where it stands; beside it
// the same on other axes of time, each on a scale of its own.

import { el, table, type Child } from "../dom.ts";
import { change, duration } from "../format.ts";
import type { Waterfall } from "../model.ts";

export function waterfalls(all: Waterfall[]): Child {
  if (all.length === 0) return null;
  return el("div", { class: "waterfalls" }, all.map((one) => waterfall(one, all)));
}

/** What was kept of steps that were made on top of each other. What was kept elsewhere
 * and not here stands below them, so that sets are seen to differ. */
function waterfall(one: Waterfall, all: Waterfall[]): HTMLElement {
  const whole = Math.max(one.before_ns, one.after_ns, 1);
  const bar = (kind: string, from: number, to: number) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const share = (ns: number) => `${Math.max(0, Math.min(100, (ns / whole) * 100))}%`;
    const style = { "margin-left": share(low), width: share(high - low) };
    return el("div", { class: "fall" }, el("i", { class: kind, style }));
  };
  let at = one.before_ns;
  const steps = one.steps.map(({ recipe, saved_ns }) => {
    const from = at;
    at -= saved_ns;
    const better = saved_ns >= 0;
    return [recipe, bar(better ? "shrank" : "grew", from, at),
      el("span", { class: better ? "good" : "bad" }, change(-saved_ns))];
  });
  const rows: Child[][] = [
    [el("b", {}, "before"), bar("whole", 0, one.before_ns), duration(one.before_ns)],
    ...steps,
    ...missing(one, all).map((recipe) => [el("span", { class: "account" }, recipe), "",
      el("span", { class: "account" }, one.left_out.includes(recipe) ? "left out" : "—")]),
    [el("b", {}, "after"), bar("whole", 0, one.after_ns), el("b", {}, duration(one.after_ns))],
  ];
  return el("div", { class: "waterfall" },
    table([["step", "text"], ["", "graph"], ["time", "number"]], rows, all.length > 1 ? one.axis : undefined));
}

/** What others kept and this one did not. */
export function missing(one: Waterfall, all: Waterfall[]): string[] {
  const names = all.flatMap((other) => other.steps.map((step) => step.recipe));
  const own = new Set(one.steps.map((step) => step.recipe));
  return [...new Set(names)].filter((name) => !own.has(name));
}

// From the start to the tuned boot: one bar for each step, where it stands.

import { el, table, type Child } from "../dom.ts";
import { change, duration } from "../format.ts";
import type { Trial } from "../model.ts";

/** What was kept of steps that were made on top of each other; the others
 * left no trace in the boot. */
export function waterfall(trials: Trial[]): Child {
  const kept = trials.filter((trial) => trial.verdict === "faster");
  const [first, last] = [kept[0], kept.at(-1)];
  if (!first || !last) return null;
  const whole = Math.max(...kept.flatMap((trial) => [trial.before_ns, trial.after_ns]));
  const bar = (kind: string, from: number, to: number) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const share = (ns: number) => `${Math.max(0, (ns / whole) * 100)}%`;
    const style = { "margin-left": share(low), width: share(high - low) };
    return el("div", { class: "fall" }, el("i", { class: kind, style }));
  };
  const rows: Child[][] = [
    [el("b", {}, "before"), bar("whole", 0, first.before_ns), duration(first.before_ns)],
    ...kept.map((trial) => [trial.recipe, bar("shrank", trial.before_ns, trial.after_ns),
      el("span", { class: "good" }, change(-trial.saved_ns))]),
    [el("b", {}, "after"), bar("whole", 0, last.after_ns), el("b", {}, duration(last.after_ns))],
  ];
  return el("div", { class: "waterfall" },
    table([["step", "text"], ["", "graph"], ["time", "number"]], rows));
}

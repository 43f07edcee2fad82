// Two groups of boots: the verdict on them, and each boot as a dot, in all and phase by phase.

import { el, prose, section, svg, table, type Child } from "../dom.ts";
import { change, duration, percent } from "../format.ts";
import { phaseColor, type GroupRow, type GroupSide, type Groups, type Page } from "../model.ts";
import { phaseName } from "./splits.ts";

const WIDTH = 260;
const HEIGHT = 30;
const EDGE = 6;

export function groups({ head }: Page): HTMLElement | null {
  const { groups } = head;
  if (!groups) return null;
  const rows = [...(groups.total ? [groups.total] : []), ...groups.phases];
  const ready = groups.end === "milestone" && groups.end_name === "ready";
  const named = (name: string): Child => {
    const phase = head.phases.find((one) => one.title === name);
    return phase ? phaseName(phase.name, name) : el("b", {}, name === "total" && ready ? "to ready" : name);
  };
  const color = (name: string) => phaseColor(head.phases.find((one) => one.title === name)?.name ?? null);
  return section("groups", groups.headline, `${of(groups.before)}; ${of(groups.after)}; ${groups.bounds}.`,
    rows.length > 0 && table([["", "text"], ["each boot", "graph"], ["before", "number"], ["after", "number"], ["change", "number"], ["95 % interval", "number wide"], ["verdict", ""]],
      rows.map((row) => [named(row.name), dots(row, groups, color(row.name)), duration0(row.before_ns), duration0(row.after_ns),
        row.shift_ns === null ? "–" : el("span", { class: row.verdict === "faster" ? "good" : row.verdict === "slower" ? "bad" : "" }, change(row.shift_ns)),
        row.interval_ns ? `${change(row.interval_ns[0])} to ${change(row.interval_ns[1])}` : "–",
        row.verdict && el("span", { class: `pill ${row.verdict}`, title: row.p === null ? null : `p = ${row.p.toFixed(4)}` }, row.verdict)])),
    groups.notes.length > 0 && el("ul", { class: "notices" }, groups.notes.map(({ weight, text }) =>
      el("li", { class: weight === "failure" ? "error" : weight === "warning" ? "notice" : "info" }, prose(text)))));
}

function of(side: GroupSide): string {
  const lost = side.failed > 0 ? `, ${side.failed} never ready` : "";
  return `${side.name}: ${side.boots.length} ${side.boots.length === 1 ? "boot" : "boots"} of ${side.path}${lost}`;
}

function duration0(ns: number | null): string {
  return ns === null ? "–" : duration(ns);
}

/** A row of dots for each group on one scale, with the medians as lines. */
function dots(row: GroupRow, { before, after }: Groups, color: string): Child {
  const values = row.values_ns;
  if (!values) return null;
  const all = values.flat().filter((ns): ns is number => ns !== null);
  if (all.length === 0) return null;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  // A scale of its own; what differs by nothing stands in the middle.
  const x = (ns: number) => (high === low ? WIDTH / 2 : EDGE + ((ns - low) / (high - low)) * (WIDTH - 2 * EDGE));
  const strip = (side: number, boots: GroupSide["boots"], median: number | null) => {
    const y = side === 0 ? 8 : 22;
    return [
      median !== null && svg("line", { class: "median", x1: x(median), x2: x(median), y1: y - 6, y2: y + 6 }),
      ...values[side]!.map((ns, at) => ns !== null && svg("circle", { cx: x(ns), cy: y, r: 3.2, class: side === 0 ? "was" : "is" },
        svg("title", {}, `${boots[at]?.name ?? ""}: ${duration(ns)}`))),
    ];
  };
  const spread = high > low ? `, from ${duration(low)} to ${duration(high)}` : "";
  return svg("svg", {
    class: "dots", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", style: { "--c": color },
    "aria-label": `${row.name}: ${values[0].length} boots before, ${values[1].length} after${spread}`
      + (row.before_ns !== null && row.after_ns !== null ? `; medians ${duration(row.before_ns)} and ${duration(row.after_ns)}, ${percent(row.after_ns / Math.max(1, row.before_ns) - 1)}` : ""),
  }, ...strip(0, before.boots, row.before_ns), ...strip(1, after.boots, row.after_ns));
}

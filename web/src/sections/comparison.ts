// Two boots: what shrank, what grew, and what only moved. A name that either
// boot knows the time of is a button: it brings both timelines there.

import { el, nodes, section, table, type Child } from "../dom.ts";
import { change, duration } from "../format.ts";
import type { Comparison, Delta, Head, Moved, Page } from "../model.ts";
import { Places } from "./places.ts";
import { phaseName } from "./splits.ts";

/** Changes below this share of the old boot are not listed. */
const SMALLEST = 1 / 5000;
const SHOWN = 16;

export function comparison(page: Page): HTMLElement | null {
  const { head, boots } = page;
  const { comparison } = head;
  if (!comparison || !head.before) return null;
  const places = new Places(page);
  const body = el("div", {}, contents(head, comparison, places));
  // Names can stand in the evidence: with it more of them are buttons.
  void Promise.all(boots.map((boot) => boot.evidence)).then(() => {
    places.forget();
    body.replaceChildren(...nodes(contents(head, comparison, places)));
  });
  return section("comparison", "what changed", "", body);
}

function contents(head: Head, comparison: Comparison, places: Places): Child[] {
  const phases = [...head.phases, ...(head.before?.phases ?? [])];
  const { total } = comparison;
  const ready = head.ready_ns !== null && (head.before?.ready_ns ?? null) !== null;
  // Of what only says how long things took, there is none.
  const totals = total.before_ns !== null || total.after_ns !== null ? [{ ...total, name: ready ? "to ready" : "seen" }] : [];
  const rows = [...comparison.phases, ...totals].map((delta) => {
    const phase = phases.find((p) => p.title === delta.name);
    const name = phase ? places.link(delta.name, phaseName(phase.name, phase.title)) : el("strong", {}, delta.name);
    return [name, side(delta.before_ns), side(delta.after_ns), signed(delta.delta_ns)];
  });
  const least = Math.max(1, (total.before_ns ?? 0) * SMALLEST);
  const parts = comparison.parts.filter((delta) => Math.abs(delta.delta_ns) >= least);
  const moved = comparison.moved.map((moved) => el("li", {}, movedNodes(moved, places)));
  return [
    rows.length > 0 && table([["phase", ""], ["before", "number"], ["after", "number"], ["change", "number"]], rows),
    ...list("what shrank", parts.filter((delta) => delta.delta_ns < 0), parts, places),
    ...list("what grew", parts.filter((delta) => delta.delta_ns > 0), parts, places),
    moved.length > 0 && el("h3", {}, "what only moved"), moved.length > 0 && el("ul", { class: "moved" }, moved),
  ];
}

/** Bars on one scale: to the left what shrank, to the right what grew. */
function list(title: string, deltas: Delta[], all: Delta[], places: Places): Child[] {
  if (deltas.length === 0) return [];
  const most = Math.max(...all.map((delta) => Math.abs(delta.delta_ns)));
  const row = (delta: Delta) => {
    const width = `${(Math.abs(delta.delta_ns) / most) * 50}%`;
    const fill = el("i", { class: delta.delta_ns < 0 ? "shrank" : "grew", style: { width } });
    return [places.link(delta.name, delta.name), el("div", { class: "diverging" }, fill),
      side(delta.before_ns), side(delta.after_ns), signed(delta.delta_ns)];
  };
  const rest = deltas.length - SHOWN;
  return [el("h3", {}, title),
    table([["where", "text"], ["", "graph"], ["before", "number wide"], ["after", "number wide"], ["change", "number"]],
      deltas.slice(0, SHOWN).map(row)),
    rest > 0 && el("p", { class: "after-table" }, `and ${rest} smaller ${rest === 1 ? "one" : "ones"}`)];
}

/** A saving that only moved, with both places to click. */
function movedNodes(moved: Moved, places: Places): Child[] {
  return [`${change(-moved.saved_ns)} in `, places.link(moved.from, moved.from),
    ` came back as ${change(moved.grew_ns)} in `, places.link(moved.to, moved.to)];
}

/** A saving that only moved, in words. */
export function cameBack(moved: Moved): string {
  return `${change(-moved.saved_ns)} in ${moved.from} came back as ${change(moved.grew_ns)} in ${moved.to}`;
}

function side(ns: number | null): string {
  return ns === null ? "–" : duration(ns);
}

function signed(ns: number): HTMLElement {
  return el("span", { class: ns < 0 ? "good" : ns > 0 ? "bad" : "" }, change(ns));
}


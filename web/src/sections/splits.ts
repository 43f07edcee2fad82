// Where the time went: each boot as one bar, cut at its phases.

import { button, el, section, svg, table } from "../dom.ts";
import { count, duration, moment, share, tickStep } from "../format.ts";
import { extentOf, phaseColor, type Facts, type Head, type Page, type Part } from "../model.ts";

/** Silences at least so long, as a share of the boot, are labelled. */
const SILENCE = 0.02;

/** The phases as a table; with a boot before they stand in what changed. */
export function splits({ head }: Page): HTMLElement | null {
  if (head.phases.length === 0 || head.before) return null;
  return section("splits", "where the time goes", "", phaseTable(head));
}

/** Each boot as one bar, cut at its phases, over the same ruler. */
export function phaseBars({ head, go }: Page): HTMLElement | null {
  if (head.phases.length === 0) return null;
  const before = head.before;
  const lengths = [head, before].map((boot) => (boot ? extentOf(boot)[1] - extentOf(boot)[0] : 0));
  const longest = Math.max(...lengths, 1);
  const bars = el("div", { class: before ? "bars two" : "bars" });
  if (before) {
    bars.append(...bar(before, longest, "before"), el("span"), bridge(before, head, longest));
    bars.append(...bar(head, longest, "after"), el("span"));
  } else {
    bars.append(...bar(head, longest, ""), silences(head, longest, go) ?? "");
  }
  bars.append(ruler(longest));
  return bars;
}

/** Silences under the bar, each with the line after which nothing came. */
function silences({ gaps, ...head }: Head, longest: number, go: Page["go"]): HTMLElement | null {
  const [start] = extentOf(head);
  const shown = gaps.filter((gap) => gap.end_ns - gap.start_ns >= longest * SILENCE);
  if (shown.length === 0) return null;
  const boxes = shown.map((gap) => {
    const after = gap.before.trim().slice(0, 80);
    const silent = `silent ${duration(gap.end_ns - gap.start_ns)}`;
    const text = after ? `${silent} after “${after}”` : silent;
    // The whole of it where there is room, else the time alone, else nothing but its place.
    const words = [el("span", { class: "long" }, text), el("span", { class: "short" }, silent)];
    const node = button(words, text, () => go.visit(gap.start_ns, gap.end_ns), "silence");
    node.setAttribute("aria-label", text);
    node.style.setProperty("left", `${((gap.start_ns - start) / longest) * 100}%`);
    node.style.setProperty("width", `${((gap.end_ns - gap.start_ns) / longest) * 100}%`);
    return node;
  });
  const node = el("div", { class: "silences" }, boxes);
  new ResizeObserver(() => {
    const room = boxes.map((box) => box.clientWidth);
    const needs = boxes.map((box) => [...box.children].map((word) => (word as HTMLElement).scrollWidth + 12));
    boxes.forEach((box, at) => {
      const fits = needs[at]!.findIndex((width) => width <= room[at]!);
      box.dataset["shows"] = ["long", "short"][fits] ?? "none";
    });
  }).observe(node);
  return node;
}

/** One boot: its label, if any, and its bar. */
function bar(boot: Facts, longest: number, label: string): HTMLElement[] {
  const [start, end] = extentOf(boot);
  const box = (kind: string, phase: string, part: Part, name: string, ...inside: HTMLElement[]) => {
    const ns = part.end_ns - part.start_ns;
    return el("div", {
      class: kind, title: `${name}: ${duration(ns)}, ${share(ns, end - start)}`,
      style: {
        left: `${((part.start_ns - start) / longest) * 100}%`, width: `${(ns / longest) * 100}%`,
        "--c": phaseColor(phase),
      },
    }, inside);
  };
  const segments = boot.phases.map((phase) => box("segment", phase.name, phase, phase.title,
    el("span", {}, phase.title), el("b", {}, duration(phase.end_ns - phase.start_ns))));
  const parts = boot.phases.flatMap((phase) => phase.parts.map((part) =>
    box("part", phase.name, part, part.name, el("span", {}, part.name))));
  // The parts lie on the outside, so that the phases of two boots face each other.
  const lines = [el("div", { class: "segments" }, segments), el("div", { class: "parts" }, parts)];
  const node = el("div", { class: "bar" }, label === "before" ? lines.reverse() : lines);
  hideWhatDoesNotFit(node, [...segments, ...parts]);
  const total = el("b", {}, duration(end - start));
  return label ? [el("p", { class: `bar-label ${label}` }, label, " ", total), node] : [node];
}

/** A label that does not fit is worse than none: the table has all numbers. */
function hideWhatDoesNotFit(node: HTMLElement, boxes: HTMLElement[]): void {
  new ResizeObserver(() => {
    for (const box of boxes) box.classList.remove("tight");
    // All sizes are read before anything is changed: one layout, not one each.
    const tight = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
    boxes.forEach((box, at) => box.classList.toggle("tight", tight[at]));
  }).observe(node);
}

/** Ties each phase of the upper bar to the same phase of the lower one. */
function bridge(before: Facts, after: Facts, longest: number): SVGElement {
  const shape = svg("svg", {
    class: "bridge", viewBox: "0 0 1000 40", preserveAspectRatio: "none", "aria-hidden": "true",
  });
  const x = (boot: Facts, ns: number) => ((ns - extentOf(boot)[0]) / longest) * 1000;
  for (const phase of before.phases) {
    const now = after.phases.find((p) => p.name === phase.name);
    if (!now) continue;
    const points = [[x(before, phase.start_ns), 0], [x(before, phase.end_ns), 0],
      [x(after, now.end_ns), 40], [x(after, now.start_ns), 40]];
    const polygon = svg("polygon", { points: points.map((p) => p.join(",")).join(" ") });
    polygon.style.fill = phaseColor(phase.name);
    shape.append(polygon);
  }
  return shape;
}

/** Ticks under the bars. */
function ruler(longest: number): HTMLElement {
  const step = tickStep(longest / (innerWidth < 640 ? 4 : 9));
  const ruler = el("div", { class: "ruler", "aria-hidden": "true" });
  for (let tick = 0; tick <= longest; tick += step) {
    // At the right edge there is room for a number only before its tick.
    const kind = tick / longest > 0.85 ? "last" : null;
    ruler.append(el("span", { class: kind, style: { left: `${(tick / longest) * 100}%` } }, tick === 0 ? "0" : moment(tick, step)));
  }
  return ruler;
}

/** Parts in the table at once; a boot of a distribution has fifty. */
const PARTS = 8;

function phaseTable(boot: Facts): HTMLElement {
  const [start, end] = extentOf(boot);
  const length = (part: Part) => part.end_ns - part.start_ns;
  const row = (part: Part, name: HTMLElement) => {
    const instructions = part.instructions === null ? "–" : count(part.instructions);
    return [name, duration(length(part)), share(length(part), end - start), instructions];
  };
  const worth = boot.phases.flatMap((phase) => phase.parts).filter((part) => length(part) >= (end - start) / 500);
  const largest = new Set([...worth].sort((a, b) => length(b) - length(a)).slice(0, PARTS));
  const rows = (shown: (part: Part) => boolean) => boot.phases.flatMap((phase) => [
    row(phase, phaseName(phase.name, phase.title)),
    ...phase.parts.filter(shown).map((part) => row(part, el("span", { class: "part-name" }, part.name))),
  ]);
  const columns: [string, string][] = [["phase", ""], ["time", "number"], ["share", "number"], ["instructions", "number wide"]];
  const short = table(columns, rows((part) => largest.has(part)));
  if (worth.length <= PARTS) return short;
  return el("div", { class: "short-and-all" }, short, el("details", { class: "more" },
    el("summary", {}, `all ${worth.length} parts, in their order`), table(columns, rows((part) => worth.includes(part)))));
}

/** A phase's name with its colour. */
export function phaseName(phase: string | null, title: string): HTMLElement {
  return el("span", { class: "phase", style: { "--c": phaseColor(phase) } }, title);
}

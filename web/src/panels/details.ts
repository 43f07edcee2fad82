// What is known of the selected span: times, what it waited for and what
// waited for it, its facts, and the line that it was read from.

import { button, el, facts, reachable, type Child } from "../dom.ts";
import { count, duration, moment } from "../format.ts";
import { AFTER, END_OPEN, SPAWNS, took, type Boot, type Selection } from "../model.ts";
import { lineNode } from "../sections/evidence.ts";
import { worth } from "../sections/path.ts";
import type { View } from "../timeline/types.ts";
import { rangeNodes } from "./range.ts";
import { selfTime } from "./self.ts";
import type { About } from "./thing.ts";

/** Lines shown before and behind the evidence. */
const AROUND = 2;
/** More lines than this of the evidence itself stay in the console. */
const LINES = 12;
const LINKS = 12;
/** Of a longer line what surrounds the name is shown: some files are one line. */
const LONG = 600;
const BESIDE = 100;
/** Lanes in which what lies within a span is called by it; units and processes
 * merely run at the same time. */
const NESTING = new Set(["function", "initcall"]);

export class DetailsPanel {
  readonly element: HTMLElement;
  private readonly body = reachable(el("div", { class: "details-body" }));
  private readonly boots: Boot[];
  private selected: Selection | null = null;
  private readonly onSelect: (selection: Selection) => void;
  private readonly worth: (boot: number) => (span: number) => [string, Child][];

  constructor(boots: Boot[], onSelect: (selection: Selection) => void) {
    this.boots = boots;
    this.onSelect = onSelect;
    const known = new Map<number, (span: number) => [string, Child][]>();
    this.worth = (n) => {
      const boot = boots[n]!;
      if (!known.has(n)) known.set(n, worth(boot.head, boot));
      return known.get(n)!;
    };
    this.element = el("section", { class: "panel details", "aria-label": "the selected span" }, this.body);
    this.show(null);
    // Names can stand in the evidence: what was selected before that is there.
    void Promise.all(boots.map((boot) => boot.evidence)).then(() => this.selected && this.show(this.selected));
  }

  show(selection: Selection | null): void {
    const boot = selection && this.boots[selection.boot];
    this.selected = selection;
    this.element.classList.toggle("empty", !boot);
    if (!selection || !boot || selection.span >= boot.spans.count) {
      this.body.replaceChildren(el("h3", {}, "nothing selected"),
        el("p", { class: "why" }, "Select something in the timeline to see how long it took, what it waited for, and the line that says so."));
      return;
    }
    this.body.replaceChildren(...this.nodes(boot, selection));
  }

  /** A phase, a silence, a mark: what is no span. */
  showThing(about: About): void {
    this.selected = null;
    this.element.classList.remove("empty");
    this.body.replaceChildren(el("h3", {}, about.name), facts(about.facts.filter(([, value]) => value)));
  }

  /** What happened in a range of time: of each boot its own part, on its own clock. */
  showRange(parts: { boot: number; range: View }[]): void {
    this.selected = null;
    this.element.classList.remove("empty");
    this.body.replaceChildren(...parts.flatMap(({ boot, range }) => [
      ...(parts.length > 1 ? [el("h3", { class: "which" }, boot === 1 ? "before" : "after")] : []),
      ...rangeNodes(this.boots[boot]!, range, boot, this.onSelect)]));
  }

  private nodes(boot: Boot, { boot: n, span }: Selection): Node[] {
    const { spans, head } = boot;
    const ns = took(spans, span);
    const err = spans.err[span]!;
    const within = err > 0 ? ` ± ${duration(err)}` : "";
    const own = NESTING.has(head.tracks[spans.track[span]!]?.kind ?? "") ? selfTime(spans, span) : null;
    const clock = head.clocks[spans.clock[span]!];
    const track = head.tracks[spans.track[span]!];
    const lane = track?.name || track?.kind || "";
    const insns = spans.instructions[span]!;
    const rows: [string, Child][] = [
      ["took", ns === null ? (spans.endKind[span] === END_OPEN ? "still open at the end of the recording" : "end unknown") : duration(ns)],
      ["of its own", own !== null && ns !== null && own < ns && duration(own)],
      ["from", moment(spans.start[span]!) + within],
      ["to", ns !== null && moment(spans.end[span]!) + within],
      ["clock", clock?.how === "assumed" && `${clock.kind}: its place is assumed, not known`],
      ["lane", [n === 1 && boot !== this.boots[0] ? "before: " : "", lane].join("")],
      ["instructions", !Number.isNaN(insns) && count(insns)],
      ...this.worth(n)(span),
      ...this.links(boot, n, span),
      ...spans.args(span).map(([key, value]): [string, Child] => [key, value]),
    ];
    return [
      el("h3", {}, spans.name(span).trim().slice(0, 400) || "(blank)"),
      facts(rows.filter(([, value]) => value)),
      this.evidence(boot, span),
    ];
  }

  /** What led to it and what it led to, as buttons. */
  private links(boot: Boot, n: number, span: number): [string, Child][] {
    const { links, spans } = boot;
    const groups = new Map<string, number[]>();
    const add = (title: string, other: number) => {
      const group = groups.get(title);
      if (group) group.push(other);
      else groups.set(title, [other]);
    };
    const title = (kind: number, into: boolean) =>
      kind === SPAWNS ? (into ? "started by" : "started") : kind === AFTER ? (into ? "comes after" : "comes before") : into ? "waited for" : "waited for by";
    // A link leads from what came first to what needed it.
    for (const link of links.into(span)) add(title(links.kind[link]!, true), links.from[link]!);
    for (const link of links.outOf(span)) add(title(links.kind[link]!, false), links.to[link]!);
    return [...groups].map(([name, others]) => [name, el("span", { class: "links" },
      others.slice(0, LINKS).map((other) =>
        button(spans.name(other).trim().slice(0, 80) || "(blank)", "", () => this.onSelect({ boot: n, span: other }), "link")),
      others.length > LINKS && `and ${others.length - LINKS} more`)]);
  }

  /** The line itself, with some lines around it. */
  private evidence(boot: Boot, span: number): HTMLElement {
    const place = boot.spans.evidence(span);
    const name = boot.head.files[place.file]?.name ?? "";
    const figure = el("figure", { class: "evidence" }, el("figcaption", {}, `${name}:${place.line}`));
    void boot.evidence.then((evidence) => {
      const lines = evidence.lineCount(place.file);
      if (lines === 0) return;
      const first = Math.max(0, place.line - 1);
      const last = Math.max(first, evidence.lineAt(place.file, Math.max(place.start, place.end - 1)));
      const shown = Math.min(last, first + LINES - 1);
      const pre = el("pre", {});
      figure.append(pre);
      if (first === last && evidence.line(place.file, first).length > LONG) {
        pre.append(...within(evidence.text(place.file, place.start, place.end) ?? "", boot.spans.name(span)));
        return;
      }
      for (let n = Math.max(0, first - AROUND); n <= Math.min(lines - 1, shown + (shown === last ? AROUND : 0)); n++) {
        const node = lineNode(evidence.line(place.file, n));
        node.className = n >= first && n <= last ? "itself" : "around";
        pre.append(node);
      }
      if (shown < last) pre.append(el("span", { class: "around" }, `… ${last - shown} more lines`));
    });
    return figure;
  }
}

/** A very long line where it tells of `name`; all of it, folded, if nowhere. */
function within(line: string, name: string): Node[] {
  const at = name.length > 1 && name.length < LONG ? line.indexOf(name) : -1;
  if (at < 0) return [lineNode(line)];
  const from = Math.max(0, at - BESIDE);
  const to = Math.min(line.length, at + name.length + 2 * BESIDE);
  return [el("span", {}, from > 0 && "… ", line.slice(from, at), el("b", {}, name), line.slice(at + name.length, to), to < line.length && " …")];
}

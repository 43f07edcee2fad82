// An evidence file, line by line, scrolled to the selected moment. A click on
// a line selects what was read from it.

import { el } from "../dom.ts";
import { moment } from "../format.ts";
import type { Boot, Evidence, Selection } from "../model.ts";
import { LONGEST_LINE, lineNode } from "../sections/evidence.ts";
import { consoleFile, FileLines } from "./lines.ts";
import { Scroller } from "./scroller.ts";

export class ConsolePanel {
  readonly element: HTMLElement;
  private readonly scroller = new Scroller("lines of the evidence; a click on one selects what was read from it");
  private readonly picker = el("select", { "aria-label": "evidence file" });
  private readonly whole = el("div", { class: "whole-line", hidden: true });
  private readonly lines = new Map<string, FileLines>();
  private readonly boots: Boot[];
  private readonly onSelect: (selection: Selection) => void;
  private evidence: Evidence | null = null;
  private boot = 0;
  private file = 0;
  /** The marked lines, from 0, the last one included. */
  private marked: [number, number] | null = null;

  constructor(boots: Boot[], onSelect: (selection: Selection) => void) {
    this.boots = boots;
    this.onSelect = onSelect;
    const folder = commonFolder(boots.flatMap((boot) => boot.head.files.map((file) => file.name)));
    boots.forEach((boot, n) => boot.head.files.forEach((file, at) => {
      const which = boots.length === 1 ? "" : n === 0 ? "after: " : "before: ";
      this.picker.append(el("option", { value: `${n}/${at}`, title: file.name }, which + file.name.slice(folder)));
    }));
    this.picker.addEventListener("change", () => {
      const [boot, file] = this.picker.value.split("/").map(Number);
      this.marked = null;
      void this.open(boot!, file!);
    });
    this.element = el("section", { class: "panel console-panel", "aria-labelledby": "console-title" },
      el("div", { class: "panel-head" }, el("h3", { id: "console-title" }, "the lines"), this.picker),
      this.scroller.element, this.whole);
  }

  /** Once, after the first paint. */
  async start(): Promise<void> {
    const first = this.boots[0];
    if (first && first.head.files.length > 0 && !this.evidence) await this.open(0, consoleFile(first));
  }

  /** Scrolls to what was selected: to its own line if the file on show is
   * where it was read, else to what was printed at that moment. */
  async show({ boot: n, span }: Selection): Promise<void> {
    const boot = this.boots[n];
    if (!boot) return;
    if (this.evidence === null || this.boot !== n) await this.open(n, consoleFile(boot));
    const place = boot.spans.evidence(span);
    const ns = boot.spans.start[span]!;
    if (place.file === this.file) {
      const first = Math.max(0, place.line - 1);
      const last = this.evidence?.lineAt(place.file, Math.max(place.start, place.end - 1)) ?? first;
      this.mark([first, Math.max(first, last)]);
    } else {
      this.markMoment(ns);
    }
  }

  /** Scrolls to what was printed at a moment of the boot's own clock. */
  async showMoment(n: number, ns: number): Promise<void> {
    const boot = this.boots[n];
    if (!boot) return;
    if (this.evidence === null || this.boot !== n) await this.open(n, consoleFile(boot));
    this.markMoment(ns);
  }

  private markMoment(ns: number): void {
    const line = this.linesOf(this.boot, this.file).lineAtTime(ns);
    this.mark(line === null ? null : [line, line]);
  }

  private mark(lines: [number, number] | null): void {
    this.marked = lines;
    if (lines) this.scroller.reveal(lines[0]);
    else this.scroller.paint();
  }

  private async open(boot: number, file: number): Promise<void> {
    this.evidence = (await this.boots[boot]?.evidence) ?? null;
    [this.boot, this.file] = [boot, file];
    this.picker.value = `${boot}/${file}`;
    this.whole.hidden = true;
    this.whole.replaceChildren();
    const count = this.evidence?.lineCount(file) ?? 0;
    this.scroller.fill(count, (n) => this.line(n));
    if (count === 0) this.scroller.fill(1, () => el("div", { class: "row" }, "This page does not carry the lines of this file."));
  }

  private line(n: number): HTMLElement {
    const text = this.evidence?.line(this.file, n) ?? "";
    const ns = this.linesOf(this.boot, this.file).timeOfLine(n);
    const marked = this.marked !== null && n >= this.marked[0] && n <= this.marked[1];
    const folded = text.length > LONGEST_LINE && el("button", {
      type: "button", class: "more-bytes", on: { click: (event: Event) => { event.stopPropagation(); this.unfold(n, text); } },
    }, `… ${new TextEncoder().encode(text.slice(LONGEST_LINE)).length} more bytes`);
    return el("div", { class: marked ? "row marked" : "row", on: { click: () => this.click(n) } },
      el("span", { class: "when" }, ns === null ? "" : moment(ns, 1e6)),
      el("code", {}, text.slice(0, LONGEST_LINE)), folded);
  }

  private click(n: number): void {
    // Who marks text to copy it does not want to leave.
    if (getSelection()?.isCollapsed === false) return;
    const span = this.linesOf(this.boot, this.file).spanAtLine(n);
    if (span !== null) this.onSelect({ boot: this.boot, span });
  }

  /** The whole of a long line, below the others: rows have one height. */
  private unfold(n: number, text: string): void {
    this.whole.hidden = false;
    this.whole.replaceChildren(el("p", { class: "note" }, `line ${n + 1}, all of it`), el("pre", {}, lineNode(text)));
  }

  private linesOf(boot: number, file: number): FileLines {
    const key = `${boot}/${file}`;
    let lines = this.lines.get(key);
    if (!lines) this.lines.set(key, (lines = new FileLines(this.boots[boot]!, file)));
    return lines;
  }
}

/** How many characters all paths have in common, up to a slash. */
export function commonFolder(paths: string[]): number {
  const [first = "", ...others] = paths;
  for (let slash = first.length; slash > 0;) {
    slash = first.lastIndexOf("/", slash - 1);
    const folder = first.slice(0, slash + 1);
    if (others.every((path) => path.startsWith(folder))) return folder.length;
  }
  return 0;
}

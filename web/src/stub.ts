// Until src/timeline is there: the longest spans as buttons.
import { button, el } from "./dom.ts";
import type { Boot, Selection } from "./model.ts";
import { longest } from "./sections/largest.ts";

export class Timeline {
  readonly element: HTMLElement;
  constructor(boots: Boot[], private readonly options: { onSelect(s: Selection | null): void; onTime(ns: number | null): void }) {
    this.element = el("div", {}, longest(boots[0]!.spans, 12, () => true).map((span) =>
      button(boots[0]!.spans.name(span).slice(0, 40), "", () => this.select({ boot: 0, span }))));
  }
  visit(_start: number, _end: number, _boot?: number): void {}
  select(selection: Selection | null): void { this.options.onSelect(selection); }
  state(): string { return ""; }
  restore(_text: string): void {}
}

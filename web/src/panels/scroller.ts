// A list of a million lines of which only the visible ones exist.

import { el } from "../dom.ts";

/** Height of a line, px; style/panels.css says the same. */
export const ROW = 19;
/** Browsers lose count beyond some ten million px: longer lists scroll faster. */
const HIGHEST = 8_000_000;
const SPARE = 8;

export class Scroller {
  readonly element: HTMLElement;
  private readonly sheet = el("div", { class: "sheet" });
  private readonly rows = el("div", { class: "rows" });
  private count = 0;
  private frame = 0;
  private line: (n: number) => HTMLElement = () => el("div");
  /** Stays in sight when the panel's size changes. */
  private kept: number | null = null;

  constructor(label: string) {
    this.element = el("div", { class: "scroller", tabindex: "0", role: "log", "aria-live": "off", "aria-label": label });
    this.sheet.append(this.rows);
    this.element.append(this.sheet);
    this.element.addEventListener("scroll", () => this.draw());
    // Who scrolls by hand looks at something else.
    for (const event of ["wheel", "pointerdown", "keydown"]) this.element.addEventListener(event, () => { this.kept = null; });
    new ResizeObserver(() => {
      if (this.kept !== null) this.reveal(this.kept);
      this.draw();
    }).observe(this.element);
  }

  /** Shows `count` lines, each made by `line`. */
  fill(count: number, line: (n: number) => HTMLElement): void {
    this.count = count;
    this.kept = null;
    this.line = line;
    this.sheet.style.height = `${this.height()}px`;
    this.paint();
  }

  /** Scrolls so that line `n` is in the middle, unless it is well in view. */
  reveal(n: number): void {
    this.kept = n;
    const top = this.top();
    const fits = this.element.clientHeight / ROW;
    if (n < top + 1 || n > top + fits - 2) {
      const wanted = Math.min(Math.max(0, n - fits / 2), Math.max(0, this.count - fits));
      this.element.scrollTop = wanted * this.perLine();
    }
    this.paint();
  }

  private height(): number {
    return Math.min(this.count * ROW, HIGHEST);
  }

  /** Px of the scrollbar for each line. */
  private perLine(): number {
    const view = this.element.clientHeight;
    const lines = this.count - view / ROW;
    return lines <= 0 ? ROW : Math.max(0, this.height() - view) / lines;
  }

  /** The line at the upper edge, with its fraction. */
  private top(): number {
    const per = this.perLine();
    return per <= 0 ? 0 : this.element.scrollTop / per;
  }

  private draw(): void {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  paint(): void {
    this.frame = 0;
    const top = this.top();
    const first = Math.max(0, Math.floor(top) - SPARE);
    const last = Math.min(this.count, Math.ceil(top + this.element.clientHeight / ROW) + SPARE);
    const shown: HTMLElement[] = [];
    for (let n = first; n < last; n++) shown.push(this.line(n));
    this.rows.style.transform = `translateY(${this.element.scrollTop - (top - first) * ROW}px)`;
    this.rows.replaceChildren(...shown);
  }
}

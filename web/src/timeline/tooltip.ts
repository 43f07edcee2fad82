// The box beside the pointer. Text nodes only.

import { el } from "../dom.ts";
import type { Facts } from "./facts.ts";

export class Tooltip {
  readonly element = el("div", { class: "tl-tip", hidden: true, "aria-hidden": "true" });
  private shown = "";

  /** At a point of the box that `element` lies in. */
  show(facts: Facts, x: number, y: number): void {
    const key = JSON.stringify(facts);
    if (key !== this.shown) {
      this.shown = key;
      this.element.replaceChildren(
        el("b", {}, facts.title.slice(0, 300)),
        el("dl", {}, facts.rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
    }
    this.element.hidden = false;
    const box = this.element.parentElement;
    if (!box) return;
    const [width, height] = [this.element.offsetWidth, this.element.offsetHeight];
    const left = x + 16 + width > box.clientWidth ? Math.max(0, x - width - 12) : x + 16;
    const top = y + 18 + height > box.clientHeight ? Math.max(-8, y - height - 10) : y + 18;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

// The workbench: the timeline, and docked beside or below it what is known of the selection and
// the lines it was read from. Together they fit the window, so that nothing selected is out of
// sight. Where the dock is, and how large, is in the page's address.

import { button, el } from "./dom.ts";

export type Side = "right" | "bottom";
/** Null: as the window's width suggests. */
export interface Dock { side: Side | null; size: number | null }

/** A window that is narrower has no room for a dock at the right, px. */
const WIDE = 1000;
const SIZE = { right: 430, bottom: 300 };
const LEAST = { right: 260, bottom: 140 };
/** What stands around the lanes: toolbar, minimap, legend, some room, px. */
const AROUND = 150;
const STEP = 24;

export class Bench {
  readonly element: HTMLElement;
  private readonly handle = el("div", { class: "bench-handle", role: "separator", tabindex: "0", "aria-label": "size of the dock" });
  private readonly turn = button("", "", () => this.set({ side: this.side === "right" ? "bottom" : "right", size: null }), "bench-turn");
  private dock: Dock = { side: null, size: null };

  constructor(timeline: HTMLElement, panels: HTMLElement[], private readonly changed: () => void) {
    const dock = el("div", { class: "panels" }, panels);
    this.element = el("section", { id: "timeline", class: "bench", "aria-labelledby": "timeline-title" },
      el("h2", { id: "timeline-title", class: "unseen" }, "timeline"),
      el("div", { class: "bench-lanes" }, timeline), this.handle, el("div", { class: "bench-dock" }, this.turn, dock));
    this.handle.addEventListener("pointerdown", (event) => this.drag(event));
    this.handle.addEventListener("dblclick", () => this.set({ ...this.dock, size: null }));
    this.handle.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.apply());
    this.apply();
  }

  /** How high the lanes may be, px. */
  room(): number {
    if (innerWidth < 720) return innerHeight * 0.55;
    const below = this.side === "bottom" ? this.size : 0;
    return Math.max(240, innerHeight - AROUND - below);
  }

  /** For the address; empty as long as nobody changed it. */
  state(): string {
    const { side, size } = this.dock;
    return `${side ?? ""}${size ?? ""}`;
  }

  restore(text: string): void {
    const [, side, size] = /^(right|bottom)?(\d{1,4})?$/.exec(text) ?? [];
    this.dock = { side: (side as Side | undefined) ?? null, size: size === undefined ? null : Number(size) };
    this.apply();
  }

  /** Brings it into sight, whole if it fits. */
  show(): void {
    const { top, bottom } = this.element.getBoundingClientRect();
    if (top >= 0 && bottom <= innerHeight) return;
    this.element.scrollIntoView({ block: bottom - top > innerHeight ? "start" : "nearest" });
  }

  private get side(): Side {
    return innerWidth < WIDE ? "bottom" : this.dock.side ?? "right";
  }

  private get size(): number {
    const most = this.side === "right" ? innerWidth - 420 : innerHeight - 260;
    return Math.round(Math.max(LEAST[this.side], Math.min(most, this.dock.size ?? SIZE[this.side])));
  }

  private set(dock: Dock): void {
    this.dock = dock;
    this.apply();
    this.changed();
  }

  private apply(): void {
    const { side, size, element } = this;
    element.classList.toggle("at-bottom", side === "bottom");
    element.style.setProperty("--dock", `${size}px`);
    this.handle.setAttribute("aria-orientation", side === "right" ? "vertical" : "horizontal");
    for (const [name, value] of [["valuenow", size], ["valuemin", LEAST[side]], ["valuemax", 9999]] as const) {
      this.handle.setAttribute(`aria-${name}`, String(value));
    }
    const other = side === "right" ? "bottom" : "right";
    this.turn.textContent = side === "right" ? "⬓" : "◨";
    this.turn.title = `dock at the ${other}`;
    this.turn.setAttribute("aria-label", this.turn.title);
    // The lanes take what is left.
    dispatchEvent(new CustomEvent("bootlap-room"));
  }

  private drag(event: PointerEvent): void {
    event.preventDefault();
    this.handle.setPointerCapture(event.pointerId);
    const [from, size, side] = [event, this.size, this.side];
    const move = (now: PointerEvent) => {
      const by = side === "right" ? from.clientX - now.clientX : from.clientY - now.clientY;
      this.set({ side: this.dock.side, size: Math.max(LEAST[side], Math.round(size + by)) });
    };
    this.handle.addEventListener("pointermove", move);
    this.handle.addEventListener("lostpointercapture", () => this.handle.removeEventListener("pointermove", move), { once: true });
  }

  private key(event: KeyboardEvent): void {
    const more = this.side === "right" ? "ArrowLeft" : "ArrowUp";
    const less = this.side === "right" ? "ArrowRight" : "ArrowDown";
    if (event.key !== more && event.key !== less) return;
    event.preventDefault();
    this.set({ ...this.dock, size: this.size + (event.key === more ? STEP : -STEP) });
  }
}

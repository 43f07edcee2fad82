// Which part of the shared axis is shown, and how the view glides to another.

import { clamp, panned, zoomed } from "./scale.ts";
import type { View } from "./types.ts";

const GLIDE_MS = 200;

export class Viewport {
  view: View;
  private goal: View | null = null;

  /** `home` is the whole boot, `limits` all that was recorded. */
  constructor(public home: View, public limits: View, private readonly changed: () => void) {
    this.view = home;
  }

  /** Where the view is, or will be when it has stopped moving. */
  get target(): View {
    return this.goal ?? this.view;
  }

  get isHome(): boolean {
    // Gliding and clamping round.
    const { target, home } = this;
    return Math.abs(target.start - home.start) < 1 && Math.abs(target.end - home.end) < 1;
  }

  set(view: View): void {
    this.goal = null;
    this.view = clamp(view, this.limits);
    this.changed();
  }

  pan(ns: number): void {
    this.set(panned(this.view, ns, this.limits));
  }

  zoom(factor: number, around: number): void {
    this.set(zoomed(this.view, factor, around, this.limits));
  }

  /** Moves there within a moment; at once where people asked for less motion. */
  glide(view: View): void {
    const goal = clamp(view, this.limits);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) {
      this.set(goal);
      return;
    }
    const from = this.view;
    const began = performance.now();
    this.goal = goal;
    const step = (now: number) => {
      if (this.goal !== goal) return;
      const share = Math.min(1, Math.max(0, (now - began) / GLIDE_MS));
      if (share === 1) {
        this.set(goal);
        return;
      }
      this.view = between(from, goal, 1 - (1 - share) ** 3);
      this.changed();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** Shows an interval with some room around it. */
  reveal(start: number, end: number): void {
    const room = Math.max((end - start) * 0.15, (this.home.end - this.home.start) / 2000);
    this.glide({ start: start - room, end: end + room });
  }
}

/** Lengths change by equal factors, so that zooming looks even. */
function between(from: View, to: View, share: number): View {
  const [a, b] = [from.end - from.start, to.end - to.start];
  const length = a * (b / a) ** share;
  const done = Math.abs(a - b) < 1e-3 * a ? share : (a - length) / (a - b);
  const start = from.start + (to.start - from.start) * done;
  return { start, end: start + length };
}

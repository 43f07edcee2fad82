// Time and pixels: which moment stands where, how far one may zoom, and where
// the axis has its ticks.

import { isWall, moment } from "../format.ts";
import type { View } from "./types.ts";

/** The closest look: this many ns over the whole width. */
export const CLOSEST_NS = 200;

/** Maps an interval of time onto `width` pixels from `left`. */
export class Scale {
  readonly perPixel: number;

  constructor(readonly view: View, readonly left: number, readonly width: number) {
    this.perPixel = (view.end - view.start) / Math.max(1, width);
  }

  x(ns: number): number {
    return this.left + (ns - this.view.start) / this.perPixel;
  }

  ns(x: number): number {
    return this.view.start + (x - this.left) * this.perPixel;
  }
}

/** `view` with a sensible length, moved so that it lies within `limits`. */
export function clamp(view: View, limits: View): View {
  const whole = limits.end - limits.start;
  const length = Math.min(Math.max(view.end - view.start, CLOSEST_NS), whole);
  const centre = (view.start + view.end) / 2;
  const start = Math.min(Math.max(centre - length / 2, limits.start), limits.end - length);
  return { start, end: start + length };
}

/** `view` made `factor` times as long, keeping `fixed` where it is. */
export function zoomed(view: View, factor: number, fixed: number, limits: View): View {
  const length = Math.min(Math.max((view.end - view.start) * factor, CLOSEST_NS), limits.end - limits.start);
  const share = (fixed - view.start) / (view.end - view.start);
  const start = fixed - share * length;
  return clamp({ start, end: start + length }, limits);
}

export function panned(view: View, ns: number, limits: View): View {
  return clamp({ start: view.start + ns, end: view.end + ns }, limits);
}

/** The round number next above `least`: 1, 2 or 5 times a power of ten. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

export interface Ticks {
  step: number;
  /** Moments with a label. */
  major: number[];
  /** Moments between them. */
  minor: number[];
}

/** Ticks of `view` on `width` pixels, labels at least `room` apart. */
export function ticks(view: View, width: number, room: number): Ticks {
  const length = view.end - view.start;
  const step = tickStep((length * room) / Math.max(1, width));
  const fine = step / (String(step).startsWith("2") ? 4 : 5);
  const major: number[] = [];
  const minor: number[] = [];
  // Counted in whole steps, so that sums of fractions do not drift.
  const first = Math.ceil(view.start / fine);
  const last = Math.floor(view.end / fine);
  const perMajor = Math.round(step / fine);
  for (let n = first; n <= last && n - first < 4000; n++) {
    if (n % perMajor === 0) major.push(n * fine + 0);
    else minor.push(n * fine);
  }
  return { step, major, minor };
}

/** A tick's label: in the unit that its step needs, so that labels stay short. */
export function tickLabel(ns: number, step: number): string {
  if (ns === 0) return "0";
  if (isWall(ns)) return moment(ns, step);
  const sign = ns < 0 ? "−" : "";
  const n = Math.abs(ns);
  const [unit, name] = n >= 1e9 || step >= 1e8 ? [1e9, "s"] : n >= 1e6 || step >= 1e5 ? [1e6, "ms"]
    : n >= 1e3 || step >= 1e2 ? [1e3, "µs"] : [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9)));
  return `${sign}${(n / unit).toFixed(decimals)} ${name}`;
}

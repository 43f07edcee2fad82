// Text on the canvas: cleaned, measured once, cut to the room that there is.

import { visible } from "../../dom.ts";

const SANS = 'ui-sans-serif, system-ui, "Segoe UI", "Helvetica Neue", sans-serif';
export const FONT = { small: `11px ${SANS}`, label: `12px ${SANS}`, strong: `600 12px ${SANS}` } as const;

/** Widths by font and text; dropped when there are too many. */
const widths = new Map<string, number>();
const cleaned = new Map<string, string>();

/** A name as one line that can be drawn. */
export function clean(name: string): string {
  let text = cleaned.get(name);
  if (text === undefined) {
    text = visible(name.slice(0, 300).trim()) || "(blank)";
    if (cleaned.size > 20_000) cleaned.clear();
    cleaned.set(name, text);
  }
  return text;
}

export function widthOf(ctx: CanvasRenderingContext2D, text: string): number {
  const key = ctx.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    width = ctx.measureText(text).width;
    if (widths.size > 20_000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/** `text` cut to a width; nothing if only a stump would be left. */
export function fitting(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 12) return "";
  const whole = widthOf(ctx, text);
  if (whole <= width) return text;
  const kept = Math.floor((text.length * (width - 9)) / whole);
  return kept < 4 ? "" : `${text.slice(0, kept).trimEnd()}…`;
}

/** A font with the size of the strings cached: fonts that load late change widths. */
export function forgetWidths(): void {
  widths.clear();
}

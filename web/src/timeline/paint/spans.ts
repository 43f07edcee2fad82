// Lanes of spans: rows as boxes and columns, collapsed lanes as a silhouette of
// how many spans run at a time, silences of the console behind them.

import { duration } from "../../format.ts";
import { END_UNKNOWN } from "../../model.ts";
import type { SpanLane } from "../lanes.ts";
import { ROW, type Segment } from "../layout.ts";
import type { Row } from "../rows.ts";
import { gallop, lowerBound } from "../pyramid.ts";
import { scanRow, type Columns } from "./density.ts";
import type { Frame } from "./frame.ts";
import { pixel } from "./palette.ts";
import { fitting, FONT } from "./text.ts";

/** Narrower spans are drawn as columns, px. */
const BOX = 4;
/** Space between rows, px. */
const PAD = 2;
/** So many spans of a row get a look each, for names beside them and faded ends. */
const FEW = 400;
const SHADES = 3;
/** A row of more spans shows by the height of its columns how long they took. */
const MANY = 200;
/** Columns have steps of height, each of so many px. */
const STEP = 2;

function columnsOf(frame: Frame, shift: number): Columns {
  const { scene, raster } = frame;
  return { from: scene.view.start - shift, per: (scene.view.end - scene.view.start) / raster.width, count: raster.width };
}

/** Rows `first` to `last` of a lane whose first row stands at `y`. */
export function scanRows(frame: Frame, lane: SpanLane, y: number, rowHeight: number, first: number, last: number): void {
  const { scene, palette, raster, boxes, ratio } = frame;
  const columns = columnsOf(frame, lane.placed.shift);
  const found = scene.found?.[lane.placed.index]?.flags ?? null;
  const rgb = palette.rgb(lane.color);
  // By coverage in 16 steps: present, and quieter if a search is on and it is not found.
  const faintest = lane.kind === "console" ? 0.8 : 0.45;
  const steps = Array.from({ length: 17 }, (_, i) => [pixel(rgb, 0.1 + 0.12 * (i / 16)), pixel(rgb, faintest + (1 - faintest) * (i / 16))]);
  const height = rowHeight - 2 * PAD;
  const high = Math.round(height / STEP);
  for (let at = first; at < last; at++) {
    const row = lane.row(at);
    const top = y + at * rowHeight + PAD;
    const region = raster.region(high, top, height);
    const { pixels, width } = raster;
    const foot = (region.at + high - 1) * width;
    const longest = Math.max(1, row.longestTime(0, row.count));
    const box = BOX * ratio * columns.per;
    const peaks = lane.kind !== "console" && (lane.isTall || row.count > MANY);
    const least = lane.isTall ? 0.15 : 0.35;
    const assumed = row.count > 0 && lane.placed.isAssumed(row.ids[0]!);
    scanRow(row, columns, BOX * ratio, found ? row.matches(found) : null,
      (column, coverage, matched, from, to) => {
        // An assumed time is drawn with every third column left out.
        if (assumed && column % 3 === 0) return;
        const tint = steps[Math.round(coverage * 16)]![matched ? 1 : 0]!;
        // The longer the longest span in it, the taller: where time goes shows
        // up as a peak long before its span is wide enough for a box.
        const time = peaks ? row.longestTime(from, to) : box;
        const tall = Math.ceil(high * Math.max(least, Math.min(0.9, Math.sqrt(time / longest)), Math.min(1, time / box)));
        for (let k = 0; k < tall; k++) pixels[foot - k * width + column] = tint;
      },
      (i) => boxes.push({ lane, row, at: i, y: top, height, shade: at % SHADES, kind: "box" }));
    few(frame, lane, row, columns, top, height);
  }
}

/** Names beside narrow spans, and ends that nobody saw, where spans are few. */
function few(frame: Frame, lane: SpanLane, row: Row, columns: Columns, y: number, height: number): void {
  const from = Math.max(0, row.firstEndingAt(columns.from) - 1);
  const to = lowerBound(row.start, columns.from + columns.per * columns.count);
  if (to - from > FEW) return;
  const wide = BOX * frame.ratio * columns.per;
  for (let at = from; at < to; at++) {
    const id = row.ids[at]!;
    const vague = lane.placed.boot.spans.endKind[id] === END_UNKNOWN;
    if (vague || row.end[at]! - row.start[at]! < wide) {
      frame.boxes.push({ lane, row, at, y, height, shade: 0, kind: vague ? "fade" : "name" });
    }
  }
}

/** A lane in one row: a silhouette. */
export function scanStrip(frame: Frame, lane: SpanLane, y: number): void {
  const { scene, palette, raster, ratio } = frame;
  // Each of its pins says the same under it.
  if (lane.kind === "signal" && !lane.collapsed && lane.children.length > 0) return;
  const { load } = lane;
  const height = Math.round((ROW - 2 * PAD) * ratio);
  const region = raster.region(height, y + PAD, ROW - 2 * PAD);
  const { from, per, count } = columnsOf(frame, lane.placed.shift);
  const found = scene.found?.[lane.placed.index]?.flags ?? null;
  const sums = found ? lane.matches(found) : null;
  const rgb = palette.rgb(lane.color);
  const [quiet, plain, strong] = [pixel(rgb, 0.14), pixel(rgb, 0.62), pixel(rgb, 1)];
  const pixels = raster.pixels;
  const foot = (region.at + height - 1) * raster.width;
  // Many at once are rarer than a few: the root keeps both readable.
  const most = Math.sqrt(Math.max(1, load.peak));
  let begun = lowerBound(load.starts, from);
  let ended = lowerBound(load.ends, from);
  let total = load.sum(from, begun, ended);
  for (let column = 0; column < count; column++) {
    const ns = from + (column + 1) * per;
    const next = gallop(load.starts, ns, begun);
    ended = gallop(load.ends, ns, ended);
    const sum = load.sum(ns, next, ended);
    const mean = (sum - total) / per;
    const tall = mean > 0 || next > begun ? Math.max(1, Math.round((Math.sqrt(Math.max(0, mean)) / most) * height)) : 0;
    const hit = sums === null || sums[next]! > sums[begun]!;
    const tint = sums === null ? plain : hit ? strong : quiet;
    const rows = sums !== null && hit ? height : Math.min(height, tall);
    for (let k = 0; k < rows; k++) pixels[foot - k * raster.width + column] = tint;
    begun = next;
    total = sum;
  }
}

/** Silences of the console, hatched, in its first row. */
export function drawGaps(frame: Frame, segment: Segment, y: number): void {
  if (segment.mode !== "rows" && segment.mode !== "strip") return;
  const { lane } = segment;
  if (lane.kind !== "console" || (lane.parent && lane.parent.children[0] !== lane)) return;
  if (lane.children.length > 0 && !lane.collapsed) return;
  const { ctx, scale, scene, palette } = frame;
  ctx.font = FONT.small;
  for (const gap of lane.placed.boot.head.gaps) {
    const left = Math.max(scale.x(gap.start_ns + lane.placed.shift), scene.gutter - 4);
    const right = Math.min(scale.x(gap.end_ns + lane.placed.shift), scene.width + 4);
    if (right - left < 6) continue;
    ctx.globalAlpha = 0.32;
    ctx.fillStyle = palette.hatch(ctx, "--console");
    ctx.fillRect(left, y + PAD, right - left, ROW - 2 * PAD);
    ctx.globalAlpha = 1;
    const text = fitting(ctx, `silence ${duration(gap.end_ns - gap.start_ns)}`, right - left - 24);
    if (!text) continue;
    const width = ctx.measureText(text).width;
    const middle = (left + right) / 2;
    ctx.fillStyle = palette.of("--card");
    ctx.fillRect(middle - width / 2 - 6, y + PAD, width + 12, ROW - 2 * PAD);
    ctx.fillStyle = palette.of("--quiet");
    ctx.fillText(text, middle - width / 2, y + ROW / 2 + 0.5);
  }
}

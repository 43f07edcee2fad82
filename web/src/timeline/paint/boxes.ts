// Spans that are wide enough to be seen one by one: a tinted box with a strong
// edge where it begins, its name in it or beside it.

import { duration } from "../../format.ts";
import { END_OPEN } from "../../model.ts";
import type { SpanLane } from "../lanes.ts";
import type { Row } from "../rows.ts";
import type { Frame } from "./frame.ts";
import { fitting, FONT, widthOf } from "./text.ts";

export interface Boxed {
  lane: SpanLane;
  row: Row;
  /** Its place in the row. */
  at: number;
  y: number;
  height: number;
  /** Rows take turns, so that what lies within stands out. */
  shade: number;
  /** `fade`: nobody saw the end. `name`: drawn already, too narrow for more. */
  kind: "box" | "fade" | "name";
}
export type BoxList = Boxed[];

const TINT = [0.42, 0.34, 0.27];
const FADE = 56;
/** A text beside a span needs so much room, px. */
const BESIDE = 36;

export function drawBoxes(frame: Frame): void {
  const { ctx } = frame;
  ctx.font = FONT.small;
  for (const box of frame.boxes) drawBox(frame, box);
  ctx.globalAlpha = 1;
}

function drawBox(frame: Frame, box: Boxed): void {
  const { scene, scale, ratio } = frame;
  const { lane, row, at } = box;
  const { shift } = lane.placed;
  const id = row.ids[at]!;
  const snap = (x: number) => Math.round(x * ratio) / ratio;
  const left = snap(Math.max(scale.x(row.start[at]! + shift), scene.gutter - 12));
  let free = at + 1 < row.count ? Math.min(scale.x(row.start[at + 1]! + shift), scene.width) : scene.width - 12;
  if (lane.kind === "console") {
    // A silence has words of its own.
    for (const gap of lane.placed.boot.head.gaps) {
      if (gap.start_ns >= row.start[at]!) free = Math.min(free, scale.x(gap.start_ns + shift));
    }
  }
  let right = snap(Math.min(scale.x(row.end[at]! + shift), scene.width + 12));
  if (right < scene.gutter && box.kind !== "fade") return;
  const chosen = scene.selected?.span === id && scene.selected.boot === lane.placed.index;
  const quiet = scene.found !== null && !chosen && !scene.found[lane.placed.index]?.flags[id];
  if (box.kind === "fade") right = drawFade(frame, box, left, Math.min(left + FADE, free - 2), quiet);
  else if (box.kind === "box") drawBody(frame, box, id, left, right, quiet);
  drawWhiskers(frame, box, id, left, right);
  if (!quiet) drawName(frame, box, id, left, right, free);
}

function drawBody(frame: Frame, box: Boxed, id: number, left: number, right: number, quiet: boolean): void {
  const { ctx, palette, scene } = frame;
  const { lane, y, height } = box;
  const { index } = lane.placed;
  const width = Math.max(2, right - left - 1);
  const chosen = scene.selected?.span === id && scene.selected.boot === index;
  const pointed = scene.hovered?.span === id && scene.hovered.boot === index;
  const open = lane.placed.boot.spans.endKind[id] === END_OPEN;
  ctx.globalAlpha = quiet ? 0.25 : 1;
  if (lane.placed.isAssumed(id)) {
    ctx.fillStyle = palette.mix(lane.color, "--card", 0.14);
    ctx.fillRect(left, y, width, height);
    ctx.globalAlpha *= 0.5;
    ctx.fillStyle = palette.hatch(ctx, lane.color);
    ctx.fillRect(left, y, width, height);
    ctx.globalAlpha = quiet ? 0.25 : 1;
    ctx.setLineDash([3, 2]);
    ctx.strokeStyle = palette.of(lane.color);
    ctx.lineWidth = 1;
    ctx.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
    ctx.setLineDash([]);
  } else {
    ctx.fillStyle = palette.mix(lane.color, "--card", chosen ? 0.85 : pointed ? 0.62 : TINT[box.shade]!);
    ctx.fillRect(left, y, width, height);
    ctx.fillStyle = palette.of(lane.color);
    ctx.fillRect(left, y, Math.min(2, width), height);
  }
  if (open) {
    // Still going on when the recording ended: an edge that is torn.
    ctx.fillStyle = palette.of("--card");
    for (let k = 0; k < 3; k++) {
      ctx.beginPath();
      ctx.moveTo(right, y + (k * height) / 3);
      ctx.lineTo(right - 5, y + ((k + 0.5) * height) / 3);
      ctx.lineTo(right, y + ((k + 1) * height) / 3);
      ctx.fill();
    }
  }
  if (chosen) {
    ctx.strokeStyle = palette.of("--ink");
    ctx.lineWidth = 1.5;
    ctx.strokeRect(left - 0.75, y - 0.75, width + 1.5, height + 1.5);
  }
  ctx.globalAlpha = 1;
}

/** Its end is not known: it fades. Returns where. */
function drawFade(frame: Frame, box: Boxed, left: number, right: number, quiet: boolean): number {
  const { ctx, palette } = frame;
  if (right - left < 4) return left + 2;
  const [red, green, blue] = palette.rgb(box.lane.color);
  const fade = ctx.createLinearGradient(left, 0, right, 0);
  fade.addColorStop(0, `rgba(${red},${green},${blue},.45)`);
  fade.addColorStop(1, `rgba(${red},${green},${blue},0)`);
  ctx.globalAlpha = quiet ? 0.25 : 1;
  ctx.fillStyle = fade;
  ctx.fillRect(left, box.y, right - left, box.height);
  ctx.fillStyle = palette.of(box.lane.color);
  ctx.fillRect(left, box.y, 2, box.height);
  ctx.globalAlpha = 1;
  return left + 3;
}

/** How far off its ends may be, where that can be seen. */
function drawWhiskers({ ctx, palette, scale }: Frame, { lane, y, height, kind }: Boxed, id: number, left: number, right: number): void {
  const reach = lane.placed.boot.spans.err[id]! / scale.perPixel;
  if (!(reach > 3)) return;
  const middle = y + height / 2;
  ctx.strokeStyle = palette.of("--quiet");
  ctx.globalAlpha = 0.7;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const x of kind === "box" ? [left, right - 1] : [left]) {
    ctx.moveTo(x - reach, middle);
    ctx.lineTo(x + reach, middle);
    for (const end of [x - reach, x + reach]) {
      ctx.moveTo(end, middle - 3);
      ctx.lineTo(end, middle + 3);
    }
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawName(frame: Frame, box: Boxed, id: number, left: number, right: number, free: number): void {
  const { ctx, palette, scene } = frame;
  const { lane, row, at, y, height, kind } = box;
  const from = Math.max(left, scene.gutter) + 6;
  const inside = Math.min(right, scene.width) - 4 - from;
  const beside = free - right - 8;
  if (inside < 20 && beside < BESIDE) return;
  const took = kind === "fade" ? "end unknown" : duration(row.end[at]! - row.start[at]!);
  const middle = y + height / 2 + 0.5;
  // The name of a row of its own stands at the left.
  const name = lane.isNamed ? took : lane.placed.label(id);
  if (kind === "box" && inside >= 20) {
    const text = fitting(ctx, name, inside);
    const tight = text !== name;
    if (text && !(tight && (lane.isNamed || (beside > 120 && inside < 60)))) {
      ctx.fillStyle = palette.of("--ink");
      ctx.fillText(text, from, middle);
      const rest = inside - widthOf(ctx, text) - 8;
      if (!lane.isNamed && !tight && lane.kind !== "console" && rest > widthOf(ctx, took)) {
        ctx.globalAlpha = 0.6;
        ctx.fillText(took, from + widthOf(ctx, text) + 8, middle);
        ctx.globalAlpha = 1;
      }
      return;
    }
  }
  if (beside < BESIDE || right < scene.gutter) return;
  ctx.fillStyle = palette.of("--quiet");
  const text = fitting(ctx, name, beside);
  if (text) ctx.fillText(text, right + 4, middle);
}

// Lines over all lanes: milestones, ready, the finding or gap that is looked
// at, the pointer, and a distance that is being measured.

import { duration } from "../../format.ts";
import { intervalOf } from "../scene.ts";
import { tickLabel } from "../scale.ts";
import type { Frame } from "./frame.ts";
import { AXIS } from "./head.ts";
import { isSame } from "./phases.ts";
import { FONT, widthOf } from "./text.ts";

export function drawMarks(frame: Frame): void {
  const { ctx, scene, scale, palette } = frame;
  const thing = scene.thing && intervalOf(scene, scene.thing);
  const wide = scene.thing?.kind === "finding" || scene.thing?.kind === "gap";
  if (thing && wide && thing.end > thing.start) {
    const [left, right] = [scale.x(thing.start), scale.x(thing.end)];
    ctx.globalAlpha = 0.09;
    ctx.fillStyle = palette.of(scene.thing?.kind === "finding" ? "--warn" : "--ink");
    ctx.fillRect(left, scene.head, Math.max(1, right - left), scene.height);
    ctx.globalAlpha = 1;
  }
  for (const flag of frame.flags) {
    const pointed = isSame(scene.thing, flag.thing);
    // With two boots the lines of all their marks would hide what they are over.
    if (!pointed && !(flag.strong && (scene.boots.length === 1 || flag.ready))) continue;
    const x = Math.round(flag.x) + 0.5;
    ctx.strokeStyle = palette.of(flag.ready ? "--good" : "--accent");
    ctx.lineWidth = flag.ready ? 1.5 : 1;
    ctx.globalAlpha = flag.ready || pointed ? 0.9 : 0.4;
    ctx.setLineDash(flag.ready ? [] : [2, 3]);
    ctx.beginPath();
    ctx.moveTo(x, scene.head);
    ctx.lineTo(x, scene.height);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

export function drawCursor({ ctx, scene, scale, palette }: Frame): void {
  if (scene.cursor === null || scene.measure?.open) return;
  const x = Math.round(scale.x(scene.cursor));
  ctx.fillStyle = palette.of("--ink");
  ctx.globalAlpha = 0.16;
  ctx.fillRect(x, scene.head, 1, scene.height);
  ctx.globalAlpha = 1;
}

/** The ruler: from one point to another, and how far that is. */
export function drawMeasure({ ctx, scene, scale, palette }: Frame): void {
  if (!scene.measure) return;
  const [from, to] = [scene.measure.from, scene.measure.to].sort((a, b) => a - b) as [number, number];
  ctx.save();
  ctx.beginPath();
  ctx.rect(scene.gutter, 0, scene.width - scene.gutter, scene.height);
  ctx.clip();
  const [left, right] = [scale.x(from), scale.x(to)];
  ctx.fillStyle = palette.of("--accent");
  ctx.globalAlpha = 0.1;
  ctx.fillRect(left, 0, right - left, scene.height);
  ctx.globalAlpha = 1;
  for (const x of [left, right]) ctx.fillRect(Math.round(x), 0, 1, scene.height);
  const y = AXIS / 2 - 1;
  ctx.strokeStyle = palette.of("--accent");
  ctx.lineWidth = 1;
  ctx.font = FONT.strong;
  const text = duration(Math.round(to - from));
  const width = widthOf(ctx, text) + 14;
  const wide = right - left > width + 24;
  const inSight = [Math.max(left, scene.gutter), Math.min(right, scene.width)] as const;
  const middle = Math.min(Math.max((inSight[0] + inSight[1]) / 2, scene.gutter + width / 2 + 2), scene.width - width / 2 - 2);
  const centre = wide || right + width + 8 > scene.width ? middle : right + width / 2 + 6;
  if (wide) {
    ctx.beginPath();
    for (const [x, turn] of [[left, 1], [right, -1]] as const) {
      ctx.moveTo(x + 5 * turn, y - 4);
      ctx.lineTo(x + turn, y);
      ctx.lineTo(x + 5 * turn, y + 4);
    }
    ctx.moveTo(left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
  }
  ctx.fillStyle = palette.of("--accent");
  ctx.beginPath();
  ctx.roundRect(centre - width / 2, y - 9, width, 18, 9);
  ctx.fill();
  ctx.fillStyle = palette.of("--card");
  ctx.textAlign = "center";
  ctx.fillText(text, centre, y + 0.5);
  ctx.textAlign = "left";
  if (scene.measure.open) {
    ctx.font = FONT.small;
    ctx.fillStyle = palette.of("--accent");
    const label = tickLabel(scene.measure.to, Math.max(1, scale.perPixel));
    ctx.fillText(label, Math.min(scale.x(scene.measure.to) + 6, scene.width - widthOf(ctx, label) - 6), scene.height - 12);
  }
  ctx.restore();
}

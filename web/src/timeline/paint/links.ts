// Arrows from and to the selected span: what it waited for, what it started.

import { AFTER, SPAWNS } from "../../model.ts";
import { laneOf, PATH } from "../lanes.ts";
import { placeOf } from "../layout.ts";
import type { Frame } from "./frame.ts";

/** A span with more relations than this shows the first ones. */
const MOST = 200;

export function drawLinks(frame: Frame): void {
  const { scene, palette } = frame;
  const { selected } = scene;
  const placed = scene.boots.find((one) => one.index === selected?.boot);
  if (!selected || !placed) return;
  const { links } = placed.boot;
  for (const link of [...links.into(selected.span).slice(0, MOST), ...links.outOf(selected.span).slice(0, MOST)]) {
    const kind = links.kind[link];
    const color = kind === SPAWNS ? "--application" : kind === AFTER ? "--faint" : "--bad";
    arrow(frame, placed.index, links.from[link]!, links.to[link]!, kind === SPAWNS, palette.of(color), kind === AFTER);
  }
}

/** From step to step of the critical path, as long as its lane is open. */
export function drawPath(frame: Frame): void {
  const { scene, palette } = frame;
  for (const lane of scene.lanes) {
    if (lane.type !== "spans" || lane.kind !== PATH || lane.collapsed) continue;
    const steps = lane.placed.boot.head.path?.steps ?? [];
    steps.forEach(({ span, link }, at) => {
      const from = steps[at - 1]?.span ?? null;
      if (from !== null && span !== null) arrow(frame, lane.placed.index, from, span, link === "spawns", palette.of("--accent"), false, 0.5);
    });
  }
}

/** From where a span ends (or runs, if it starts another) to where the other begins. */
function arrow(frame: Frame, boot: number, from: number, to: number, starts: boolean, color: string, dashed: boolean, alpha = 0.85): void {
  const { ctx, scene, scale } = frame;
  const placed = scene.boots.find((one) => one.index === boot)!;
  const ends = [from, to].map((span) => {
    const lane = laneOf(scene.lanes, boot, span);
    return lane && placeOf(scene.layout, lane, span);
  });
  if (!ends[0] || !ends[1]) return;
  const begin = placed.boot.spans.start[to]! + placed.shift;
  const leave = starts ? begin : Math.min(placed.end[from]! + placed.shift, begin);
  const near = (x: number) => Math.min(Math.max(x, -2000), scene.width + 2000);
  const [x0, x1] = [near(scale.x(leave)), near(scale.x(begin))];
  const [y0, y1] = ends.map((end) => end!.y + end!.height / 2 - scene.scroll + scene.head) as [number, number];
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = 1.3;
  ctx.globalAlpha = alpha;
  ctx.setLineDash(dashed ? [4, 3] : []);
  const bend = Math.max(9, Math.min(60, Math.abs(x1 - x0) / 2));
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0, x1 - bend - 4, y1, x1 - 4, y1);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 6, y1 - 3.5);
  ctx.lineTo(x1 - 6, y1 + 3.5);
  ctx.fill();
  ctx.globalAlpha = 1;
}

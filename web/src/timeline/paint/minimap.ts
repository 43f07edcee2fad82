// The whole boot in one strip, and the window onto it.

import { duration } from "../../format.ts";
import { lowerBound } from "../pyramid.ts";
import { Scale, ticks } from "../scale.ts";
import type { Scene } from "../scene.ts";
import type { View } from "../types.ts";
import type { Palette } from "./palette.ts";
import { phaseProperty } from "./phases.ts";
import { FONT } from "./text.ts";

export const MINIMAP = 44;

/** Everything except the window: drawn again only when it changes. */
export function paintMap(ctx: CanvasRenderingContext2D, scene: Scene, whole: View, palette: Palette, ratio: number, width: number): void {
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(0, 0, width, MINIMAP);
  const scale = mapScale(scene, whole, width);
  const tall = MINIMAP / scene.boots.length;
  scene.boots.forEach((placed, at) => {
    const top = at * tall;
    for (const phase of placed.boot.head.phases) {
      const left = scale.x(phase.start_ns + placed.shift);
      const right = scale.x(phase.end_ns + placed.shift);
      ctx.fillStyle = palette.mix(phaseProperty(phase.name), "--card", 0.3);
      ctx.fillRect(left, top, Math.max(1, right - left), tall - 1);
      ctx.fillStyle = palette.of(phaseProperty(phase.name));
      ctx.fillRect(left, top, Math.max(1, right - left), 3);
    }
    activity(ctx, scene, placed.index, scale, top, tall, palette);
  });
  ctx.fillStyle = palette.of("--ink");
  ctx.globalAlpha = 0.25;
  for (const ns of ticks(whole, scale.width, 100).major) ctx.fillRect(Math.round(scale.x(ns)), MINIMAP - 4, 1, 4);
  ctx.globalAlpha = 1;
}

/** How much begins when, all lanes together; matches of a search in front. */
function activity(ctx: CanvasRenderingContext2D, scene: Scene, boot: number, scale: Scale, top: number, tall: number, palette: Palette): void {
  const placed = scene.boots.find((one) => one.index === boot)!;
  const { spans } = placed.boot;
  const width = Math.ceil(scale.width);
  const left = scale.left;
  const found = scene.found?.[boot] ?? null;
  const starts = new Float64Array(width);
  let most = 0;
  let before = lowerBound(spans.start, scale.ns(left) - placed.shift);
  for (let x = 0; x < width; x++) {
    const next = lowerBound(spans.start, scale.ns(left + x + 1) - placed.shift, before);
    starts[x] = Math.log1p(next - before);
    most = Math.max(most, starts[x]!);
    before = next;
  }
  ctx.fillStyle = palette.of("--ink");
  ctx.globalAlpha = found ? 0.15 : 0.32;
  for (let x = 0; x < width && most > 0; x++) {
    const height = (starts[x]! / most) * (tall - 9);
    if (height > 0) ctx.fillRect(left + x, top + tall - 2 - height, 1, height);
  }
  ctx.globalAlpha = 1;
  if (!found) return;
  ctx.fillStyle = palette.of("--accent");
  let last = -1;
  for (const id of found.ids) {
    const x = Math.floor(scale.x(spans.start[id]! + placed.shift));
    if (x !== last) ctx.fillRect(x, top + 4, 1.5, tall - 6);
    last = x;
  }
}

/** The window, over a copy of the map; at the left, how much of the boot it is. */
export function paintWindow(ctx: CanvasRenderingContext2D, map: HTMLCanvasElement, scene: Scene, whole: View, palette: Palette, ratio: number, width: number): void {
  const { view, gutter } = scene;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.drawImage(map, 0, 0);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [left, right] = windowOf(scene, whole, width);
  ctx.fillStyle = palette.of("--card");
  ctx.globalAlpha = 0.66;
  ctx.fillRect(gutter, 0, left - gutter, MINIMAP);
  ctx.fillRect(right, 0, width - right, MINIMAP);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = palette.of("--accent");
  ctx.lineWidth = 1.5;
  ctx.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), MINIMAP - 1.5);
  ctx.fillStyle = palette.of("--accent");
  for (const x of [left, right]) {
    ctx.beginPath();
    ctx.roundRect(Math.min(Math.max(x - 2.5, gutter), width - 5), MINIMAP / 2 - 8, 5, 16, 2.5);
    ctx.fill();
  }
  ctx.textBaseline = "middle";
  ctx.font = FONT.strong;
  ctx.fillStyle = palette.of("--ink");
  ctx.fillText(duration(Math.round(view.end - view.start)), 18, MINIMAP / 2 - 7);
  ctx.font = FONT.small;
  ctx.fillStyle = palette.of("--faint");
  ctx.fillText("in view", 18, MINIMAP / 2 + 9);
}

/** The map's own scale: under the lanes' names it would not stand above its moment. */
export function mapScale(scene: Pick<Scene, "gutter">, whole: View, width: number): Scale {
  return new Scale(whole, scene.gutter, width - scene.gutter);
}

/** Where the window stands, px; never too small to be seen. */
export function windowOf(scene: Pick<Scene, "gutter" | "view">, whole: View, width: number): [number, number] {
  const { view } = scene;
  const scale = mapScale(scene, whole, width);
  const middle = (scale.x(view.start) + scale.x(view.end)) / 2;
  const half = Math.max(3, (scale.x(view.end) - scale.x(view.start)) / 2);
  return [Math.min(Math.max(scene.gutter, middle - half), width - 6), Math.max(Math.min(width, middle + half), scene.gutter + 6)];
}

// The whole boot in one strip, and the window onto it.

import { lowerBound } from "../pyramid.ts";
import { Scale, ticks } from "../scale.ts";
import type { Scene } from "../scene.ts";
import type { View } from "../types.ts";
import type { Palette } from "./palette.ts";
import { phaseProperty } from "./phases.ts";

export const MINIMAP = 44;

/** Everything except the window: drawn again only when it changes. */
export function paintMap(ctx: CanvasRenderingContext2D, scene: Scene, whole: View, palette: Palette, ratio: number, width: number): void {
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(0, 0, width, MINIMAP);
  const scale = new Scale(whole, 0, width);
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
  for (const ns of ticks(whole, width, 100).major) ctx.fillRect(Math.round(scale.x(ns)), MINIMAP - 4, 1, 4);
  ctx.globalAlpha = 1;
}

/** How much begins when, all lanes together; matches of a search in front. */
function activity(ctx: CanvasRenderingContext2D, scene: Scene, boot: number, scale: Scale, top: number, tall: number, palette: Palette): void {
  const placed = scene.boots.find((one) => one.index === boot)!;
  const { spans } = placed.boot;
  const width = Math.ceil(scale.width);
  const found = scene.found?.[boot] ?? null;
  const starts = new Float64Array(width);
  let most = 0;
  let before = lowerBound(spans.start, scale.ns(0) - placed.shift);
  for (let x = 0; x < width; x++) {
    const next = lowerBound(spans.start, scale.ns(x + 1) - placed.shift, before);
    starts[x] = Math.log1p(next - before);
    most = Math.max(most, starts[x]!);
    before = next;
  }
  ctx.fillStyle = palette.of("--ink");
  ctx.globalAlpha = found ? 0.15 : 0.32;
  for (let x = 0; x < width && most > 0; x++) {
    const height = (starts[x]! / most) * (tall - 9);
    if (height > 0) ctx.fillRect(x, top + tall - 2 - height, 1, height);
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

/** The window, over a copy of the map. */
export function paintWindow(ctx: CanvasRenderingContext2D, map: HTMLCanvasElement, view: View, whole: View, palette: Palette, ratio: number, width: number): void {
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.drawImage(map, 0, 0);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [left, right] = windowOf(view, whole, width);
  ctx.fillStyle = palette.of("--card");
  ctx.globalAlpha = 0.66;
  ctx.fillRect(0, 0, left, MINIMAP);
  ctx.fillRect(right, 0, width - right, MINIMAP);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = palette.of("--accent");
  ctx.lineWidth = 1.5;
  ctx.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), MINIMAP - 1.5);
  ctx.fillStyle = palette.of("--accent");
  for (const x of [left, right]) {
    ctx.beginPath();
    ctx.roundRect(Math.min(Math.max(x - 2.5, 0), width - 5), MINIMAP / 2 - 8, 5, 16, 2.5);
    ctx.fill();
  }
}

/** Where the window stands, px; never too small to be seen. */
export function windowOf(view: View, whole: View, width: number): [number, number] {
  const scale = new Scale(whole, 0, width);
  const middle = (scale.x(view.start) + scale.x(view.end)) / 2;
  const half = Math.max(3, (scale.x(view.end) - scale.x(view.start)) / 2);
  return [Math.max(0, middle - half), Math.min(width, middle + half)];
}

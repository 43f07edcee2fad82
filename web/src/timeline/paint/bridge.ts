// Between two boots: each phase tied to what became of it, green where it
// shrank, red where it grew.

import type { Placed } from "../boot.ts";
import { bridges } from "../compare.ts";
import { BRIDGE } from "../layout.ts";
import type { Frame } from "./frame.ts";
import { clean, FONT, widthOf } from "./text.ts";

const COLORS = { good: "--good", bad: "--bad", same: "--faint" } as const;

export function drawBridge(frame: Frame, upper: Placed, lower: Placed, y: number): void {
  const { ctx, scale, scene, palette } = frame;
  const bottom = y + BRIDGE;
  const list = bridges(upper, lower);
  const clampX = (ns: number) => Math.min(Math.max(scale.x(ns), -1e5), 1e5);
  for (const bridge of list) {
    const [a, b, c, d] = [...bridge.upper, ...bridge.lower].map(clampX) as [number, number, number, number];
    ctx.globalAlpha = bridge.verdict === "same" ? 0.12 : 0.24;
    ctx.fillStyle = palette.of(COLORS[bridge.verdict]);
    ctx.beginPath();
    ctx.moveTo(a, y);
    ctx.lineTo(b, y);
    ctx.lineTo(d, bottom);
    ctx.lineTo(c, bottom);
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = palette.of("--card");
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(b, y);
    ctx.lineTo(d, bottom);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  ctx.font = FONT.strong;
  const taken: [number, number][] = [];
  // The largest change gets its words first.
  for (const bridge of [...list].sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta))) {
    const middle = (clampX((bridge.upper[0] + bridge.upper[1]) / 2) + clampX((bridge.lower[0] + bridge.lower[1]) / 2)) / 2;
    const widest = Math.max(scale.x(bridge.upper[1]) - scale.x(bridge.upper[0]), scale.x(bridge.lower[1]) - scale.x(bridge.lower[0]));
    const full = `${clean(bridge.title)} ${bridge.text}`;
    if (bridge.verdict === "same" && widthOf(ctx, full) > widest) continue;
    const text = widthOf(ctx, full) < widest ? full : bridge.text;
    const width = widthOf(ctx, text);
    const left = Math.min(Math.max(middle - width / 2, scene.gutter + 4), scene.width - width - 12);
    const visible = middle > scene.gutter - 40 && middle < scene.width + 40;
    if (!visible || width > widest + 30 || taken.some(([from, to]) => left < to + 10 && left + width > from - 10)) continue;
    taken.push([left, left + width]);
    ctx.fillStyle = palette.of(bridge.verdict === "same" ? "--quiet" : COLORS[bridge.verdict]);
    ctx.fillText(text, left, y + BRIDGE / 2 + 0.5);
  }
}

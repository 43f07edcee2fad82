// Counters as areas, stacked where they belong together, with their scale.

import { amount, type Chart } from "../counters.ts";
import type { CounterLane } from "../lanes.ts";
import type { Frame } from "./frame.ts";
import { FONT } from "./text.ts";

export function drawChart(frame: Frame, lane: CounterLane, y: number, height: number): void {
  const { ctx, scene, palette } = frame;
  const { chart, placed } = lane;
  const top = y + 3;
  const foot = y + height - 1;
  const tall = foot - top;
  const base = new Float64Array(Math.ceil(scene.width - scene.gutter) + 1);
  const open = lane.collapsed;
  for (const series of chart.series) {
    const edge = columns(frame, chart, series.most.bind(series), placed.shift);
    const upper = edge.map((value, i) => base[i]! + (Number.isNaN(value) ? 0 : value));
    const at = (value: number) => foot - Math.min(1, value / chart.most) * tall;
    ctx.beginPath();
    area(ctx, scene.gutter, upper, base, at);
    ctx.fillStyle = palette.mix(series.color, "--card", chart.stacked ? 0.62 : 0.42);
    ctx.fill();
    if (!chart.stacked) {
      ctx.strokeStyle = palette.of(series.color);
      ctx.lineWidth = 1;
      ctx.beginPath();
      upper.forEach((value, i) => { if (!Number.isNaN(edge[i])) ctx.lineTo(scene.gutter + i, at(value)); });
      ctx.stroke();
    }
    base.set(upper);
  }
  ctx.fillStyle = palette.of("--line");
  ctx.fillRect(scene.gutter, foot, scene.width - scene.gutter, 1);
  if (open) return;
  ctx.globalAlpha = 0.8;
  ctx.fillRect(scene.gutter, top, scene.width - scene.gutter, 1);
  ctx.globalAlpha = 1;
  const label = amount(chart.most, chart.unit);
  ctx.font = FONT.small;
  const width = ctx.measureText(label).width;
  ctx.globalAlpha = 0.8;
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(scene.width - width - 20, top + 1, width + 8, 13);
  ctx.globalAlpha = 1;
  ctx.fillStyle = palette.of("--faint");
  ctx.fillText(label, scene.width - width - 16, top + 8);
}

/** The largest value in each column of one CSS pixel. */
function columns(frame: Frame, _chart: Chart, most: (from: number, to: number) => number, shift: number): Float64Array {
  const { scene, scale } = frame;
  const count = Math.ceil(scene.width - scene.gutter) + 1;
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const from = scene.view.start + i * scale.perPixel - shift;
    values[i] = most(from, from + scale.perPixel);
  }
  return values;
}

/** Steps between two edges; equal neighbours become one. */
function area(ctx: CanvasRenderingContext2D, left: number, upper: Float64Array, lower: Float64Array, y: (value: number) => number): void {
  ctx.moveTo(left, y(lower[0]!));
  for (let i = 0; i < upper.length; i++) {
    if (i > 0 && i < upper.length - 1 && upper[i] === upper[i - 1] && upper[i] === upper[i + 1]) continue;
    if (i > 0) ctx.lineTo(left + i, y(upper[i - 1]!));
    ctx.lineTo(left + i, y(upper[i]!));
  }
  for (let i = lower.length - 1; i >= 0; i--) {
    if (i > 0 && i < lower.length - 1 && lower[i] === lower[i - 1] && lower[i] === lower[i + 1]) continue;
    ctx.lineTo(left + i, y(lower[i]!));
    if (i > 0) ctx.lineTo(left + i, y(lower[i - 1]!));
  }
}

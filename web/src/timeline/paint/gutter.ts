// The lanes' names at the left: always there, however far one zooms.

import { count } from "../../format.ts";
import type { Lane } from "../lanes.ts";
import { ROW, segmentsIn, type Segment } from "../layout.ts";
import type { Frame } from "./frame.ts";
import { clean, fitting, FONT, widthOf } from "./text.ts";

/** Room for the sign that opens and closes a lane, px. */
export const SIGN = 18;

export function drawGutter(frame: Frame): void {
  const { ctx, scene, palette } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, scene.head, scene.gutter, scene.height - scene.head);
  ctx.clip();
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(0, scene.head, scene.gutter, scene.height - scene.head);
  for (const segment of segmentsIn(scene.layout, scene.scroll, scene.scroll + scene.height - scene.head)) {
    const y = segment.y - scene.scroll + scene.head;
    if (segment.mode === "rows" && segment.lane.isNamed) names(frame, segment, y);
    else if (segment.mode !== "parts") title(frame, segment, y);
  }
  ctx.restore();
  ctx.fillStyle = palette.of("--line");
  ctx.fillRect(scene.gutter - 1, scene.head, 1, scene.height - scene.head);
}

function title(frame: Frame, segment: Segment, y: number): void {
  const { ctx, scene, palette } = frame;
  const { lane } = segment;
  if (segment.mode === "bridge") {
    ctx.font = FONT.small;
    ctx.fillStyle = palette.of("--faint");
    ctx.fillText("change", SIGN, y + segment.rowHeight / 2 + 0.5);
    return;
  }
  const tall = segment.rows * segment.rowHeight;
  const line = segment.mode === "phases" ? segment.rowHeight : ROW;
  // The title stays while any row of its lane is in sight.
  const top = Math.min(Math.max(y, scene.head), y + tall - line);
  const middle = top + line / 2 + 0.5;
  const indent = lane.parent ? 12 : 0;
  sign(frame, lane, 8 + indent, middle);
  let room = scene.gutter - SIGN - indent - 10;
  ctx.font = FONT.small;
  ctx.fillStyle = palette.of("--faint");
  const two = scene.boots.length > 1;
  const note = two ? (lane.placed.index === 1 ? "before" : "after") : lane.type === "spans" && lane.ids.length > 1 ? count(lane.ids.length) : "";
  ctx.font = lane.parent ? FONT.label : FONT.strong;
  const name = clean(lane.title);
  const noted = note !== "" && widthOf(ctx, name) + 60 < room + 20;
  if (noted) {
    ctx.font = FONT.small;
    const width = widthOf(ctx, note);
    ctx.fillText(note, scene.gutter - width - 8, middle);
    room -= width + 6;
  }
  ctx.font = lane.parent ? FONT.label : FONT.strong;
  ctx.fillStyle = palette.of(lane.parent ? "--quiet" : "--ink");
  // Where there is no room for both words: the lane under its twin of the boot before.
  const twin = two && !noted && lane.placed.index === 0 && scene.lanes.some((one, i) => one.title === lane.title && scene.lanes[i + 1] === lane);
  ctx.fillText(fitting(ctx, twin ? `… ${note}` : name, room), SIGN + indent, middle);
  if (lane.type === "counters" && !lane.collapsed) legend(frame, lane, y + ROW);
}

/** Which colour of a chart is what. */
function legend(frame: Frame, lane: Extract<Lane, { type: "counters" }>, y: number): void {
  const { ctx, scene, palette } = frame;
  const { series, stacked } = lane.chart;
  if (!stacked) return;
  ctx.font = FONT.small;
  let [x, row] = [SIGN, 0];
  for (const { name, color } of series) {
    const text = clean(name);
    const width = widthOf(ctx, text) + 16;
    if (x + width > scene.gutter && x > SIGN) [x, row] = [SIGN, row + 1];
    if (row > 1) return;
    ctx.fillStyle = palette.mix(color, "--card", 0.75);
    ctx.fillRect(x, y + row * 14 + 3, 7, 7);
    ctx.fillStyle = palette.of("--faint");
    ctx.fillText(fitting(ctx, text, scene.gutter - x - 12), x + 10, y + row * 14 + 7);
    x += width;
  }
}

/** A triangle: down if open, to the right if closed. */
function sign({ ctx, palette }: Frame, lane: Lane, x: number, y: number): void {
  ctx.fillStyle = palette.of("--faint");
  ctx.beginPath();
  if (lane.collapsed) {
    ctx.moveTo(x - 2, y - 4);
    ctx.lineTo(x + 3, y);
    ctx.lineTo(x - 2, y + 4);
  } else {
    ctx.moveTo(x - 4, y - 2);
    ctx.lineTo(x + 4, y - 2);
    ctx.lineTo(x, y + 3);
  }
  ctx.fill();
}

/** One name per row, indented under the one that started it. */
function names(frame: Frame, segment: Segment & { mode: "strip" | "rows" }, y: number): void {
  const { ctx, scene, palette } = frame;
  const { lane } = segment;
  ctx.font = FONT.small;
  const first = Math.max(0, Math.floor((scene.head - y) / ROW));
  const last = Math.min(segment.rows, Math.ceil((scene.height - y) / ROW));
  for (let at = first; at < last; at++) {
    const label = lane.label(at);
    if (!label) continue;
    const chosen = scene.selected?.span === label.span && scene.selected.boot === lane.placed.index;
    const pointed = scene.hovered?.span === label.span && scene.hovered.boot === lane.placed.index;
    const quiet = scene.found !== null && !scene.found[lane.placed.index]?.flags[label.span];
    const top = y + at * ROW;
    if (chosen || pointed) {
      ctx.fillStyle = palette.mix(lane.color, "--card", chosen ? 0.3 : 0.15);
      ctx.fillRect(0, top + 1, scene.gutter - 1, ROW - 2);
    }
    // Deep trees keep enough room for a name.
    const x = SIGN + 6 + Math.min(label.depth * 9, scene.gutter * 0.4);
    ctx.globalAlpha = quiet ? 0.4 : 1;
    ctx.fillStyle = palette.of(chosen ? "--ink" : "--quiet");
    ctx.fillText(fitting(ctx, lane.placed.label(label.span), scene.gutter - x - 8), x, top + ROW / 2 + 0.5);
    ctx.globalAlpha = 1;
  }
}

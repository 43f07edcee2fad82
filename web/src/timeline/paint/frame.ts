// One frame: the order in which things are drawn, and what painters share.

import { segmentsIn } from "../layout.ts";
import type { Scale } from "../scale.ts";
import { scaleOf, type Scene } from "../scene.ts";
import { drawBoxes, type BoxList } from "./boxes.ts";
import { drawBridge } from "./bridge.ts";
import { drawChart } from "./charts.ts";
import { drawGutter } from "./gutter.ts";
import { drawGrid, drawHead, layFlags, type Flag } from "./head.ts";
import { drawLinks, drawPath } from "./links.ts";
import { drawCursor, drawMarks, drawMeasure } from "./marks.ts";
import type { Palette } from "./palette.ts";
import { drawPhases } from "./phases.ts";
import { Raster } from "./raster.ts";
import { drawGaps, scanRows, scanStrip } from "./spans.ts";
import { FONT } from "./text.ts";

export interface Frame {
  readonly ctx: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly palette: Palette;
  readonly scale: Scale;
  /** The screen's pixels per CSS pixel. */
  readonly ratio: number;
  readonly raster: Raster;
  readonly boxes: BoxList;
  readonly flags: Flag[];
}

const raster = new Raster();

/** Draws the scene and notes in it what can be pointed at above the lanes. */
export function paint(ctx: CanvasRenderingContext2D, scene: Scene, palette: Palette, ratio: number): void {
  const scale = scaleOf(scene);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(0, 0, scene.width, scene.height);
  ctx.textBaseline = "middle";
  ctx.direction = "ltr";
  ctx.font = FONT.label;
  scene.targets = [];
  const frame: Frame = { ctx, scene, palette, scale, ratio, raster, boxes: [], flags: [] };
  frame.flags.push(...layFlags(frame));
  drawGrid(frame);
  ctx.save();
  ctx.beginPath();
  ctx.rect(scene.gutter, scene.head, scene.width - scene.gutter, scene.height - scene.head);
  ctx.clip();
  drawLanes(frame);
  drawMarks(frame);
  drawPath(frame);
  drawLinks(frame);
  drawCursor(frame);
  ctx.restore();
  drawGutter(frame);
  drawHead(frame);
  drawMeasure(frame);
  if (!matchMedia("print").matches) drawScrollbar(frame);
}

function drawLanes(frame: Frame): void {
  const { scene } = frame;
  raster.begin(Math.max(1, Math.round((scene.width - scene.gutter) * frame.ratio)));
  const visible = segmentsIn(scene.layout, scene.scroll, scene.scroll + scene.height - scene.head);
  for (const segment of visible) {
    const y = segment.y - scene.scroll + scene.head;
    if (segment.mode === "strip") scanStrip(frame, segment.lane, y);
    else if (segment.mode === "rows") {
      const first = Math.max(0, Math.floor((scene.head - y) / segment.rowHeight));
      const last = Math.min(segment.rows, Math.ceil((scene.height - y) / segment.rowHeight));
      scanRows(frame, segment.lane, y, segment.rowHeight, first, last);
    }
  }
  for (const segment of visible) drawGaps(frame, segment, segment.y - scene.scroll + scene.head);
  raster.flush(frame.ctx, scene.gutter, scene.width - scene.gutter);
  drawBoxes(frame);
  for (const segment of visible) {
    const y = segment.y - scene.scroll + scene.head;
    if (segment.mode === "phases" || segment.mode === "parts") drawPhases(frame, segment, y);
    else if (segment.mode === "bridge") drawBridge(frame, segment.upper.placed, segment.lane.placed, y);
    else if (segment.mode === "counter") drawChart(frame, segment.lane, y, segment.rowHeight);
  }
}

/** The right edge's scrollbar: how wide, where its thumb is; null if all fits. */
export function scrollThumb(scene: Scene): { x: number; y: number; width: number; height: number; travel: number } | null {
  const room = scene.height - scene.head;
  if (scene.layout.height <= room + 1) return null;
  const height = Math.max(24, (room / scene.layout.height) * room);
  const most = scene.layout.height - room;
  return { x: scene.width - 9, width: 7, height, y: scene.head + (scene.scroll / most) * (room - height), travel: most / (room - height) };
}

function drawScrollbar({ ctx, scene, palette }: Frame): void {
  const thumb = scrollThumb(scene);
  if (!thumb) return;
  ctx.globalAlpha = 0.35;
  ctx.fillStyle = palette.of("--faint");
  ctx.beginPath();
  ctx.roundRect(thumb.x, thumb.y + 2, thumb.width - 1, thumb.height - 4, 3);
  ctx.fill();
  ctx.globalAlpha = 1;
}

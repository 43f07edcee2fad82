// The phases of a boot as blocks, and their parts.

import { duration } from "../../format.ts";
import { phaseColor } from "../../model.ts";
import type { Segment } from "../layout.ts";
import type { Thing } from "../types.ts";
import type { Frame } from "./frame.ts";
import { clean, fitting, FONT, widthOf } from "./text.ts";

/** The custom property of a phase's colour. */
export function phaseProperty(name: string): string {
  return phaseColor(name).slice(4, -1);
}

export function isSame(a: Thing | null, b: Thing): boolean {
  return a !== null && a.kind === b.kind && a.boot === b.boot && a.index === b.index && a.part === b.part;
}

export function drawPhases(frame: Frame, segment: Segment & { mode: "phases" | "parts" }, y: number): void {
  const { placed } = segment.lane;
  const { phases } = placed.boot.head;
  if (segment.mode === "phases") {
    phases.forEach((phase, index) => {
      const thing: Thing = { kind: "phase", boot: placed.index, index };
      block(frame, thing, phaseProperty(phase.name), [phase.start_ns + placed.shift, phase.end_ns + placed.shift], phase.title, y + 2, segment.rowHeight - 4);
    });
    return;
  }
  segment.lane.parts.forEach((row, at) => {
    for (const { phase, part } of row) {
      const { name, start_ns, end_ns } = phases[phase]!.parts[part]!;
      const thing: Thing = { kind: "part", boot: placed.index, index: phase, part };
      block(frame, thing, phaseProperty(phases[phase]!.name), [start_ns + placed.shift, end_ns + placed.shift], name, y + at * segment.rowHeight + 1, segment.rowHeight - 3);
    }
  });
}

function block(frame: Frame, thing: Thing, color: string, [start, end]: [number, number], name: string, y: number, height: number): void {
  const { ctx, scene, scale, palette } = frame;
  const left = Math.max(scale.x(start), scene.gutter - 8);
  const right = Math.min(scale.x(end), scene.width + 8);
  if (right < scene.gutter || left > scene.width) return;
  const strong = thing.kind === "phase";
  const width = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
  ctx.fillStyle = strong ? palette.of(color) : palette.mix(color, "--card", isSame(scene.thing, thing) ? 0.55 : 0.28);
  ctx.beginPath();
  ctx.roundRect(left, y, width, height, Math.min(strong ? 4 : 3, width / 2));
  ctx.fill();
  if (strong && isSame(scene.thing, thing)) {
    ctx.strokeStyle = palette.of("--ink");
    ctx.lineWidth = 1.5;
    ctx.stroke();
  }
  const from = Math.max(left, scene.gutter) + 8;
  const room = Math.min(right, scene.width) - 6 - from;
  ctx.font = strong ? FONT.strong : FONT.small;
  if (strong && widthOf(ctx, clean(name)) > room) ctx.font = FONT.small;
  const text = fitting(ctx, clean(name), room);
  if (!text) return;
  ctx.fillStyle = palette.of(strong ? "--on-color" : "--ink");
  const middle = y + height / 2 + 0.5;
  ctx.fillText(text, from, middle);
  const used = widthOf(ctx, text) + 10;
  const took = duration(end - start);
  ctx.font = FONT.small;
  if (text.endsWith("…") || room - used < widthOf(ctx, took)) return;
  ctx.globalAlpha = strong ? 0.85 : 0.6;
  ctx.fillText(took, from + used, middle);
  ctx.globalAlpha = 1;
}

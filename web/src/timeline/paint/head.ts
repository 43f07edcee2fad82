// Above the lanes: the axis with its ticks, marks as flags, findings as pins.

import { clean, fitting, FONT, widthOf } from "./text.ts";
import { tickLabel, ticks } from "../scale.ts";
import type { Scene } from "../scene.ts";
import type { Thing } from "../types.ts";
import type { Frame } from "./frame.ts";
import { isSame } from "./phases.ts";

export const AXIS = 22;
export const FLAG = 16;
export const PIN = 20;
/** Marks beyond these are drawn without their names. */
const MOST_FLAGS = 300;

/** A mark in sight, and where its name stands. */
export interface Flag {
  thing: Thing;
  name: string;
  x: number;
  /** Drawn over the whole height. */
  strong: boolean;
  ready: boolean;
  /** Null if there is no room for it. */
  label: { left: number; width: number; tier: number } | null;
}

/** How much room the part above the lanes takes. */
export function headHeight(scene: Pick<Scene, "boots">): number {
  const pins = scene.boots.some((placed) => placed.index === 0 && placed.boot.head.findings.some((finding) => finding.at_ns));
  return AXIS + flagTiers(scene) * FLAG + (pins ? PIN : 0) + 2;
}

function flagTiers(scene: Pick<Scene, "boots">): number {
  const marks = scene.boots.reduce((sum, placed) => sum + placed.boot.head.marks.length + (placed.boot.head.ready_ns === null ? 0 : 1), 0);
  return marks === 0 ? 0 : 2;
}

/** Names without overlap: milestones first, then the others as they come. */
export function layFlags(frame: Frame): Flag[] {
  const { ctx, scene, scale } = frame;
  const flags: Flag[] = [];
  const two = scene.boots.length > 1;
  for (const placed of scene.boots) {
    const { head } = placed.boot;
    const { index: boot, shift } = placed;
    const ready = head.ready_ns;
    const add = (index: number, ns: number, name: string, strong: boolean, isReady: boolean) => {
      const x = scale.x(ns + shift);
      if (x < scene.gutter - 200 || x > scene.width + 200) return;
      flags.push({ thing: { kind: "mark", boot, index }, name: clean(name), x, strong, ready: isReady, label: null });
    };
    head.marks.forEach((mark, index) => {
      if (mark.at_ns !== null) add(index, mark.at_ns, mark.name, mark.milestone !== null, mark.milestone === "ready");
    });
    if (ready !== null && !head.marks.some((mark) => mark.milestone === "ready")) add(-1, ready, "ready", true, true);
  }
  flags.sort((a, b) => Number(b.ready) - Number(a.ready) || Number(b.strong) - Number(a.strong) || a.x - b.x);
  const taken: [number, number][][] = [[], []];
  ctx.font = FONT.small;
  for (const flag of flags.slice(0, MOST_FLAGS)) {
    const text = fitting(ctx, flag.name, 150);
    const width = widthOf(ctx, text) + 10;
    // At the right edge a name turns to the left of its line.
    const left = flag.x + width > scene.width ? flag.x - width : flag.x;
    if (flag.x < scene.gutter || flag.x > scene.width || left < scene.gutter) continue;
    const tiers = two ? [flag.thing.boot === 1 ? 0 : 1] : [0, 1];
    const tier = tiers.find((at) => taken[at]!.every(([from, to]) => left >= to + 2 || left + width <= from - 2));
    if (tier === undefined) continue;
    taken[tier]!.push([left, left + width]);
    flag.label = { left, width, tier };
  }
  return flags;
}

/** Labels of ticks are at least so far apart, px. */
function tickRoom(scene: Scene): number {
  return scene.width < 600 ? 64 : 96;
}

/** Lines at the ticks, behind everything. */
export function drawGrid({ ctx, scene, scale, palette }: Frame): void {
  const { major, minor } = ticks(scene.view, scale.width, tickRoom(scene));
  ctx.fillStyle = palette.of("--line");
  ctx.globalAlpha = 0.35;
  for (const ns of minor) ctx.fillRect(Math.round(scale.x(ns)), scene.head, 1, scene.height);
  ctx.globalAlpha = 1;
  for (const ns of major) ctx.fillRect(Math.round(scale.x(ns)), scene.head, 1, scene.height);
}

export function drawHead(frame: Frame): void {
  const { ctx, scene, palette } = frame;
  ctx.fillStyle = palette.of("--card");
  ctx.fillRect(0, 0, scene.width, scene.head);
  axis(frame);
  if (scene.boots.length > 1) {
    ctx.font = FONT.small;
    ctx.fillStyle = palette.of("--faint");
    for (const [tier, word] of ["before", "after"].entries()) {
      ctx.fillText(word, scene.gutter - widthOf(ctx, word) - 8, AXIS + tier * FLAG + FLAG / 2 + 0.5);
    }
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(scene.gutter - 10, 0, scene.width, scene.head);
  ctx.clip();
  flags(frame);
  pins(frame);
  ctx.restore();
  ctx.fillStyle = palette.of("--line");
  ctx.fillRect(0, scene.head - 1, scene.width, 1);
}

function axis({ ctx, scene, scale, palette }: Frame): void {
  const { step, major, minor } = ticks(scene.view, scale.width, tickRoom(scene));
  ctx.fillStyle = palette.of("--line");
  for (const ns of minor) ctx.fillRect(Math.round(scale.x(ns)), AXIS - 5, 1, 4);
  ctx.font = FONT.small;
  for (const ns of major) {
    const x = Math.round(scale.x(ns));
    if (x < scene.gutter - 1) continue;
    ctx.fillStyle = palette.of("--faint");
    ctx.fillRect(x, 3, 1, AXIS - 4);
    const label = tickLabel(ns, step);
    if (x + 5 + widthOf(ctx, label) < scene.width) ctx.fillText(label, x + 5, 10);
  }
  ctx.fillStyle = palette.of("--line");
  ctx.fillRect(scene.gutter, AXIS - 1, scene.width - scene.gutter, 1);
}

function flags(frame: Frame): void {
  const { ctx, scene, palette } = frame;
  ctx.font = FONT.small;
  // What stands in front is drawn last.
  for (const flag of [...frame.flags].reverse()) {
    const color = flag.ready ? "--good" : flag.strong ? "--accent" : "--faint";
    const tier = flag.label?.tier ?? 0;
    const top = AXIS + tier * FLAG + 1;
    const pointed = isSame(scene.thing, flag.thing);
    ctx.fillStyle = palette.of(color);
    ctx.globalAlpha = flag.label ? 1 : 0.5;
    ctx.fillRect(Math.round(flag.x), flag.label ? top : scene.head - 7, 1, scene.head - (flag.label ? top : scene.head - 7));
    ctx.globalAlpha = 1;
    const target = { y: top, height: FLAG - 2, thing: flag.thing };
    if (!flag.label) {
      scene.targets.push({ ...target, x: flag.x - 3, width: 6, y: scene.head - 8, height: 8 });
      continue;
    }
    const { left, width } = flag.label;
    ctx.fillStyle = palette.mix(color, "--card", pointed ? 0.35 : 0.14);
    ctx.beginPath();
    ctx.roundRect(left, top, width, FLAG - 2, left < flag.x - 1 ? [3, 0, 0, 3] : [0, 3, 3, 0]);
    ctx.fill();
    ctx.fillStyle = palette.of(color === "--faint" ? "--quiet" : color);
    ctx.fillText(fitting(ctx, flag.name, 150), left + 5, top + (FLAG - 2) / 2 + 0.5);
    scene.targets.push({ ...target, x: left, width });
  }
}

/** Findings: numbered, where their time begins; those that meet stand in a row. */
function pins(frame: Frame): void {
  const { ctx, scene, scale, palette } = frame;
  const y = scene.head - PIN / 2 - 1;
  // The boot before had its own advice; what counts now is this one's.
  for (const placed of scene.boots.filter((one) => one.index === 0)) {
    let free = -Infinity;
    const list = placed.boot.head.findings
      .flatMap((finding, index) => (finding.at_ns ? [{ index, at: finding.at_ns, x: scale.x(finding.at_ns[0] + placed.shift) }] : []))
      .sort((a, b) => a.x - b.x || a.index - b.index);
    for (const { index, at, x: wanted } of list) {
      const thing: Thing = { kind: "finding", boot: placed.index, index };
      const pointed = isSame(scene.thing, thing);
      const x = Math.max(wanted, free);
      if (wanted < scene.gutter - 2 || x > scene.width - 8) continue;
      free = x + (index < 9 ? 18 : 21);
      if (pointed) {
        ctx.globalAlpha = 0.25;
        ctx.fillStyle = palette.of("--warn");
        ctx.fillRect(wanted, scene.head - 5, Math.max(2, scale.x(at[1] + placed.shift) - wanted), 4);
        ctx.globalAlpha = 1;
      }
      if (x > wanted + 9) {
        ctx.strokeStyle = palette.of("--warn");
        ctx.globalAlpha = 0.6;
        ctx.beginPath();
        ctx.moveTo(wanted, scene.head - 1);
        ctx.lineTo(x, y + 6);
        ctx.stroke();
        ctx.globalAlpha = 1;
      }
      ctx.fillStyle = palette.of("--warn");
      ctx.beginPath();
      ctx.arc(x, y, (pointed ? 8.5 : 7.5) + (index < 9 ? 0 : 1), 0, 2 * Math.PI);
      ctx.fill();
      ctx.font = FONT.strong;
      ctx.textAlign = "center";
      ctx.fillStyle = palette.of("--card");
      ctx.fillText(String(index + 1), x, y + 0.5);
      ctx.textAlign = "left";
      scene.targets.push({ x: x - 9, y: y - 9, width: 18, height: 18, thing });
    }
  }
}

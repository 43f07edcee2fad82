// What is said of a thing under the pointer, and read aloud of a selected span.

import { count, duration, moment, percent } from "../format.ts";
import { AFTER, END_KNOWN, END_OPEN, SPAWNS, WAITS_ON } from "../model.ts";
import { saving } from "../saving.ts";
import type { Placed } from "./boot.ts";
import { amount } from "./counters.ts";
import type { Hit } from "./hit.ts";
import { laneOf, type SpanLane } from "./lanes.ts";
import { lowerBound } from "./pyramid.ts";
import { intervalOf, type Scene } from "./scene.ts";
import type { Thing } from "./types.ts";

export interface Facts {
  title: string;
  rows: [string, string][];
}

/** Lanes in which what lies within a span was done by it. */
const NESTED = new Set(["function", "initcall", "syscall", "kernel", "bootloader", "firmware", "userspace"]);
const NAMED = 4;

export function factsOf(scene: Scene, hit: Hit): Facts | null {
  switch (hit.type) {
    case "span":
      return spanFacts(scene, hit.boot, hit.span);
    case "thing":
      return thingFacts(scene, hit.thing);
    case "strip":
      return stripFacts(scene, hit.lane, hit.ns);
    case "chart": {
      const { chart } = hit.lane;
      const rows = chart.series.map((one): [string, string] => [one.name, amount(one.value(hit.ns), chart.unit)]);
      return { title: `${chart.title} at ${moment(hit.ns, 1e6)}`, rows: rows.reverse() };
    }
    default:
      return null;
  }
}

function bootOf(scene: Scene, index: number): Placed | undefined {
  return scene.boots.find((placed) => placed.index === index);
}

function spanFacts(scene: Scene, boot: number, span: number): Facts | null {
  const placed = bootOf(scene, boot);
  if (!placed) return null;
  const { spans, head } = placed.boot;
  const [start, end] = [spans.start[span]!, placed.end[span]!];
  const kind = spans.endKind[span];
  const rows: [string, string][] = [["took", kind === END_KNOWN ? duration(end - start)
    : kind === END_OPEN ? `${duration(end - start)} and more: still open at the end` : "nobody saw its end"]];
  const lane = laneOf(scene.lanes, boot, span);
  const own = lane && selfTime(lane, span);
  if (own !== null && own < end - start) rows.push(["itself", `${duration(own)}, ${percent(own / (end - start))}`]);
  rows.push(["from", moment(start)]);
  const instructions = spans.instructions[span]!;
  if (!Number.isNaN(instructions)) rows.push(["instructions", count(instructions)]);
  for (const [title, names] of relations(placed, span)) rows.push([title, names]);
  const clock = head.clocks[spans.clock[span]!];
  if (spans.err[span]! > 0) rows.push(["true within", `± ${duration(spans.err[span]!)}`]);
  if (clock?.how === "assumed") rows.push(["its clock", "assumed: nothing says how it stands to the others"]);
  return { title: spans.name(span).trim() || "(blank)", rows };
}

/** What it waited for and who started it, by name. */
function relations(placed: Placed, span: number): [string, string][] {
  const { links, spans } = placed.boot;
  const into = links.into(span);
  return ([[WAITS_ON, "waited for"], [AFTER, "ordered after"], [SPAWNS, "started by"]] as const).flatMap(([kind, title]) => {
    const from = into.filter((link) => links.kind[link] === kind).map((link) => links.from[link]!);
    if (from.length === 0) return [];
    // What ended last is what it waited for.
    from.sort((a, b) => placed.end[b]! - placed.end[a]!);
    const names = from.slice(0, NAMED).map((one) => `${spans.name(one).trim()} (${duration(placed.end[one]! - spans.start[one]!)})`);
    const more = from.length > NAMED ? ` and ${from.length - NAMED} more` : "";
    return [[title, names.join(", ") + more] as [string, string]];
  });
}

/** Its duration less what lies within it in the row under it; null where that
 * says nothing. Work of another process is not its own child. */
export function selfTime(lane: SpanLane, span: number): number | null {
  if (!NESTED.has(lane.kind) || lane.isNamed) return null;
  const { placed } = lane;
  const { spans } = placed.boot;
  const at = lane.rowOf(span);
  const [start, end] = [spans.start[span]!, placed.end[span]!];
  if (at < 0 || at + 1 >= lane.rowCount || end <= start) return null;
  const under = lane.row(at + 1);
  const first = lowerBound(under.start, start);
  let last = lowerBound(under.start, end);
  while (last > first && under.end[last - 1]! > end) last--;
  if (last - first > 2000) return end - start - (under.covered(under.end[last - 1]!, last) - under.covered(start, first));
  const pid = pidOf(placed, span);
  let within = 0;
  for (let i = first; i < last; i++) {
    const other = pidOf(placed, under.ids[i]!);
    if (pid === null || other === null || pid === other) within += under.end[i]! - under.start[i]!;
  }
  return within > 0 ? end - start - within : null;
}

function pidOf(placed: Placed, span: number): string | null {
  return placed.boot.spans.args(span).find(([key]) => key === "pid")?.[1] ?? null;
}

function stripFacts(scene: Scene, lane: SpanLane, ns: number): Facts {
  const reach = (4 * (scene.view.end - scene.view.start)) / scene.width;
  const begun = lane.load.begun(ns - reach, ns + reach);
  const running = Math.round(lane.load.mean(ns - reach, ns + reach));
  return {
    title: lane.title,
    rows: [["begin here", count(begun)], ["at a time", count(running)], ["in all", `${count(lane.ids.length)}, at most ${count(lane.load.peak)} at a time`],
      ...(lane.children.length === 0 || lane.collapsed ? [["click", lane.collapsed ? "opens the lane" : "closes the lane"] as [string, string]] : [])],
  };
}

function thingFacts(scene: Scene, thing: Thing): Facts | null {
  const placed = bootOf(scene, thing.boot);
  const interval = intervalOf(scene, thing);
  if (!placed || !interval) return null;
  const { head } = placed.boot;
  const [start, end] = [interval.start - placed.shift, interval.end - placed.shift];
  const rows: [string, string][] = [];
  if (thing.kind === "finding") {
    const finding = head.findings[thing.index]!;
    return { title: `${thing.index + 1}. ${finding.title}`, rows: [["advice", saving(finding)], ["click", "shows it"]] };
  }
  if (thing.kind !== "mark") rows.push(["took", duration(end - start)]);
  if (thing.kind === "phase" || thing.kind === "part") {
    const whole = placed.extent.end - placed.extent.start;
    rows.push(["share", percent((end - start) / whole)]);
  }
  rows.push([thing.kind === "mark" ? "at" : "from", moment(start)]);
  if (thing.kind === "gap") {
    const gap = head.gaps[thing.index]!;
    if (gap.idle_share !== null) rows.push(["waiting", percent(gap.idle_share)]);
    rows.push(["after", gap.before.slice(0, 200)], ["until", gap.after.slice(0, 200)]);
  }
  return { title: interval.name, rows };
}

const KIND_WORDS: Record<string, string> = {
  initcall: "initcall", device: "probe of", unit: "unit", process: "process", function: "function", syscall: "system call",
  console: "console line", firmware: "firmware", bootloader: "boot loader", kernel: "kernel", userspace: "user space", signal: "pin",
};

/** One sentence, for a screen reader. */
export function spoken(scene: Scene, boot: number, span: number): string {
  const placed = bootOf(scene, boot);
  if (!placed) return "";
  const { spans } = placed.boot;
  const kind = laneOf(scene.lanes, boot, span)?.kind ?? "";
  const took = spans.endKind[span] === END_KNOWN ? duration(spans.end[span]! - spans.start[span]!) : "end unknown";
  const which = scene.boots.length > 1 ? (boot === 1 ? ", boot before" : ", boot after") : "";
  return `${KIND_WORDS[kind] ?? ""} ${spans.name(span).trim() || "(blank)"}, ${took}, at ${moment(spans.start[span]!, 1e6)}${which}`.trim();
}

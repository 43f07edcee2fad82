// What lanes exist: one per kind of track, with a lane per track under it where
// there are several. Rows are packed when they are first looked at.

import type { Placed } from "./boot.ts";
import { type Chart, chartsOf } from "./counters.ts";
import { Load, lowerBound } from "./pyramid.ts";
import { matchSums, pack, Row, split, treeOrder, type Packing } from "./rows.ts";

/** How spans of a lane stand in rows: packed, or each in its own with its name
 * at the left, as they come or under the one that started them. */
type Arrangement = "packed" | "list" | "tree";

interface Kind {
  title: string;
  color: string;
  arrangement: Arrangement;
}

/** In the order from top to bottom. Tracks named `device probes` are apart. */
const KINDS: Record<string, Kind> = {
  path: { title: "critical path", color: "--accent", arrangement: "packed" },
  signal: { title: "pins", color: "--firmware", arrangement: "packed" },
  firmware: { title: "firmware", color: "--firmware", arrangement: "packed" },
  bootloader: { title: "boot loader", color: "--bootloader", arrangement: "packed" },
  kernel: { title: "kernel", color: "--kernel", arrangement: "packed" },
  initcall: { title: "initcalls", color: "--initcall", arrangement: "packed" },
  device: { title: "devices", color: "--kernel", arrangement: "packed" },
  userspace: { title: "user space", color: "--userspace", arrangement: "packed" },
  unit: { title: "units", color: "--userspace", arrangement: "list" },
  process: { title: "processes", color: "--application", arrangement: "tree" },
  function: { title: "functions", color: "--kernel", arrangement: "packed" },
  syscall: { title: "system calls", color: "--initramfs", arrangement: "packed" },
  console: { title: "console", color: "--console", arrangement: "packed" },
};

/** Lanes with more rows than this begin collapsed. */
const MANY_NAMED = 60;
const MANY_PACKED = 10;
const MANY_TRACKS = 12;
/** Tracks of these kinds share one lane's rows if they need no more than this. */
const SHARED = new Set(["firmware", "bootloader", "kernel", "userspace"]);
const FEW_ROWS = 6;
const TALL = new Set(["initcall", "device", "function", "syscall"]);

export class SpanLane {
  readonly type = "spans";
  collapsed = false;
  initiallyCollapsed = false;
  readonly children: SpanLane[] = [];
  ids: Uint32Array;
  private cache: { load?: Load; rows?: Row[]; packing?: Packing; order?: Uint32Array; depth?: Uint8Array } = {};
  private found: { of: unknown; sums: Uint32Array } | null = null;
  private readonly named = new Map<number, Row>();
  private kept: Uint8Array | null = null;

  constructor(
    readonly key: string, readonly placed: Placed, readonly kind: string, readonly title: string,
    private readonly all: Uint32Array, readonly parent: SpanLane | null,
  ) {
    this.ids = all;
  }

  get color(): string {
    return (KINDS[this.kind] ?? KINDS["firmware"]!).color;
  }

  get arrangement(): Arrangement {
    return this.children.length > 0 ? "packed" : KINDS[this.kind]?.arrangement ?? "packed";
  }

  /** Whether each row is one span with its name at the left. */
  get isNamed(): boolean {
    return this.arrangement !== "packed";
  }

  get load(): Load {
    return (this.cache.load ??= this.loaded());
  }

  private loaded(): Load {
    const { start } = this.placed.boot.spans;
    if (this.children.length === 0) return Load.of(this.ids, start, this.placed.end);
    // What was sorted for them need not be sorted again.
    const starts = new Float64Array(this.ids.length);
    for (let i = 0; i < starts.length; i++) starts[i] = start[this.ids[i]!]!;
    return Load.together(starts, this.children.map((child) => child.load));
  }

  get rowCount(): number {
    return this.isNamed ? this.ids.length : this.packing.rows;
  }

  row(at: number): Row {
    if (!this.isNamed) {
      this.cache.rows ??= split(this.ids, this.packing, this.placed.boot.spans.start, this.placed.end);
      return this.cache.rows[at]!;
    }
    const id = this.order[at]!;
    let row = this.named.get(id);
    if (!row) {
      const { start } = this.placed.boot.spans;
      row = new Row(Uint32Array.of(id), Float64Array.of(start[id]!), Float64Array.of(this.placed.end[id]!));
      if (this.named.size > 2000) this.named.clear();
      this.named.set(id, row);
    }
    return row;
  }

  /** Whether rows are high: one or two rows of very many spans, whose peaks
   * show where the time goes. */
  get isTall(): boolean {
    return !this.isNamed && TALL.has(this.kind) && this.ids.length >= 100 && this.load.peak <= 2;
  }

  /** The name at the left of a row, and how far it is indented. */
  label(at: number): { span: number; depth: number } | null {
    return this.isNamed ? { span: this.order[at]!, depth: this.cache.depth?.[at] ?? 0 } : null;
  }

  has(span: number): boolean {
    return this.ids[lowerBound(this.ids, span)] === span;
  }

  /** The row of a span; −1 if it is not here. */
  rowOf(span: number): number {
    if (!this.has(span)) return -1;
    return this.isNamed ? this.order.indexOf(span) : this.packing.row[lowerBound(this.ids, span)]!;
  }

  /** Shows only the spans that a search found, or all of them again. */
  keep(found: Uint8Array | null): void {
    if (found === this.kept) return;
    this.kept = found;
    this.ids = found ? this.all.filter((id) => found[id]) : this.all;
    this.cache = {};
    this.found = null;
    this.named.clear();
    for (const child of this.children) child.keep(found);
  }

  /** How many of the first n spans a search found, for each n. */
  matches(found: Uint8Array): Uint32Array {
    if (this.found?.of !== found) this.found = { of: found, sums: matchSums(this.ids, found) };
    return this.found.sums;
  }

  /** Decides whether the lane is big enough to begin as a strip. */
  settle(): void {
    const { children } = this;
    for (const child of children) child.settle();
    if (children.length > 0) {
      this.collapsed = children.length > MANY_TRACKS;
      if (children.length > 3) for (const child of children) child.collapsed ||= child.load.peak > 4;
    } else {
      this.collapsed = this.isNamed ? this.ids.length > MANY_NAMED : this.load.peak > MANY_PACKED;
    }
    for (const lane of [this, ...children]) lane.initiallyCollapsed = lane.collapsed;
  }

  private get packing(): Packing {
    return (this.cache.packing ??= pack(this.ids, this.placed.boot.spans.start, this.placed.end));
  }

  private get order(): Uint32Array {
    if (!this.cache.order) {
      if (this.arrangement === "tree") Object.assign(this.cache, treeOrder(this.ids, (id) => this.placed.parent(id)));
      else this.cache.order = this.ids;
    }
    return this.cache.order!;
  }
}

/** The phases of a boot, or their parts. */
export class PhaseLane {
  readonly type = "phases";
  readonly parent = null;
  collapsed = false;
  readonly initiallyCollapsed = false;
  readonly children: never[] = [];
  readonly key: string;
  readonly title = "phases";

  constructor(readonly placed: Placed) {
    this.key = laneKey(placed, "phases");
  }

  /** Rows of parts: parts may lie within one another. */
  get parts(): { phase: number; part: number }[][] {
    return (this.packed ??= this.pack());
  }
  private packed: { phase: number; part: number }[][] | null = null;

  private pack(): { phase: number; part: number }[][] {
    const list = this.placed.boot.head.phases.flatMap(({ parts }, phase) =>
      parts.map((part, at) => ({ phase, part: at, start: part.start_ns, end: part.end_ns })));
    list.sort((a, b) => a.start - b.start || b.end - a.end);
    const { row, rows } = pack(
      Uint32Array.from(list.keys()), Float64Array.from(list, (p) => p.start), Float64Array.from(list, (p) => p.end));
    return Array.from({ length: Math.min(rows, 4) }, (_, at) => list.filter((_, i) => row[i] === at));
  }
}

export class CounterLane {
  readonly type = "counters";
  readonly parent = null;
  collapsed = false;
  initiallyCollapsed = false;
  readonly children: never[] = [];
  readonly key: string;
  readonly title: string;

  constructor(readonly placed: Placed, readonly chart: Chart) {
    this.key = laneKey(placed, `counter ${chart.title}`);
    this.title = chart.title;
  }
}

export type Lane = SpanLane | PhaseLane | CounterLane;

function laneKey(placed: Placed, name: string): string {
  return placed.index === 0 ? name : `${placed.index}:${name}`;
}

/** The lane of what the end of the boot waited for. */
export const PATH = "path";

/** The lanes of a boot, from top to bottom. */
export function lanesOf(placed: Placed): Lane[] {
  const { head } = placed.boot;
  const lanes: Lane[] = head.phases.length > 0 ? [new PhaseLane(placed)] : [];
  const steps = (head.path?.steps ?? []).flatMap(({ span }) => (span === null ? [] : [span]));
  // Its spans have lanes of their own besides.
  if (steps.length > 0) lanes.push(new SpanLane(laneKey(placed, PATH), placed, PATH, KINDS[PATH]!.title, Uint32Array.from(steps).sort(), null));
  lanes.push(...spanLanes(placed));
  const charts = chartsOf(head.counters);
  for (const chart of charts) {
    const lane = new CounterLane(placed, chart);
    lane.initiallyCollapsed = lane.collapsed = chart.rank > 2 && charts.length > 6;
    lanes.push(lane);
  }
  return lanes;
}

function spanLanes(placed: Placed): SpanLane[] {
  const { head } = placed.boot;
  // A track's kind, and the tracks that share a lane.
  const kindOf = head.tracks.map((track) => (track.name === "device probes" ? "device" : track.kind));
  const unknown = [...new Set(kindOf)].filter((kind) => !(kind in KINDS)).sort();
  const idsOf = byTrack(placed, head.tracks.length);
  const lanes: SpanLane[] = [];
  for (const kind of [...Object.keys(KINDS), ...unknown]) {
    const tracks = [...kindOf.keys()].filter((track) => kindOf[track] === kind && idsOf[track]!.length > 0);
    if (tracks.length === 0) continue;
    const title = KINDS[kind]?.title ?? kind;
    const key = laneKey(placed, kind);
    const together = tracks.length === 1 ? idsOf[tracks[0]!]! : ofTracks(placed, tracks, idsOf);
    const lane = new SpanLane(key, placed, kind, title, together, null);
    if (tracks.length > 1 && !lane.isNamed && !(SHARED.has(kind) && lane.load.peak <= FEW_ROWS)) {
      for (const track of tracks) {
        const name = head.tracks[track]!.name;
        lane.children.push(new SpanLane(`${key}/${name}`, placed, kind, name, idsOf[track]!, lane));
      }
    }
    lane.settle();
    lanes.push(lane);
  }
  return lanes;
}

/** The spans of each track, in order of start. */
function byTrack(placed: Placed, tracks: number): Uint32Array[] {
  const { spans } = placed.boot;
  const counts = new Uint32Array(tracks);
  for (let i = 0; i < spans.count; i++) counts[spans.track[i]!]!++;
  const lists = Array.from(counts, (n) => new Uint32Array(n));
  counts.fill(0);
  for (let i = 0; i < spans.count; i++) {
    const track = spans.track[i]!;
    lists[track]![counts[track]!++] = i;
  }
  return lists;
}

/** The spans of several tracks, in order of start, as all spans are. */
function ofTracks(placed: Placed, tracks: number[], idsOf: Uint32Array[]): Uint32Array {
  const { track, count } = placed.boot.spans;
  const wanted = new Uint8Array(idsOf.length);
  for (const one of tracks) wanted[one] = 1;
  const all = new Uint32Array(tracks.reduce((sum, one) => sum + idsOf[one]!.length, 0));
  for (let i = 0, to = 0; i < count; i++) if (wanted[track[i]!]) all[to++] = i;
  return all;
}

/** The lane that a span is in: the track's own, if it has one. */
export function laneOf(lanes: readonly Lane[], boot: number, span: number): SpanLane | null {
  for (const lane of lanes) {
    if (lane.type !== "spans" || lane.placed.index !== boot || lane.kind === PATH) continue;
    if (lane.has(span)) return lane.children.find((child) => child.has(span)) ?? lane;
  }
  return null;
}

/** Lanes and those under them. */
export function everyLane(lanes: readonly Lane[]): Lane[] {
  return lanes.flatMap((lane) => [lane, ...lane.children]);
}

/** Lanes of two boots: each kind's one above the other. */
export function ordered(perBoot: Lane[][]): Lane[] {
  if (perBoot.length < 2) return perBoot.flat();
  const bare = (lane: Lane) => lane.key.replace(/^1:/, "");
  const [upper, lower] = perBoot as [Lane[], Lane[]];
  const lanes: Lane[] = [];
  let next = 0;
  for (const lane of upper) {
    const twin = lower.findIndex((other) => bare(other) === bare(lane));
    // What only the lower boot has comes where it would stand in it.
    if (twin >= next) {
      lanes.push(...lower.slice(next, twin), lane, lower[twin]!);
      next = twin + 1;
    } else {
      lanes.push(lane);
    }
  }
  return [...lanes, ...lower.slice(next)];
}

// The page's data: crates/report/src/boot/html/pack.rs writes it and says how it
// is laid out. Both are always in one file, so they change together.

import { decoded } from "./base85.ts";
import { BytesEvidence } from "./evidence.ts";
import { type Boot, type Counter, type CriticalPath, END_KNOWN, END_OPEN, END_UNKNOWN, type Evidence, FORMAT, type Head, type Links, type Spans, type Step } from "./model.ts";

interface Pack {
  evidence: (number | null)[];
  tracks: [string, string][];
  symbols: string[];
  shapes: number[][];
  origin_ns: string;
  unit_ns: number;
  unplaced: number;
  path: (number | null)[];
  columns: [string, number, number][];
  totals: [string, string, boolean][];
}

type SampledCounter = Omit<Counter, "at_ns" | "values"> & { samples: [number | null, number][] };
type PackedPath = Omit<CriticalPath, "steps"> & { steps: Omit<Step, "span">[] };
type Packed = Omit<Head, "counters" | "tracks" | "totals" | "unplaced" | "path"> & { pack: Pack; counters: SampledCounter[]; path: PackedPath | null };

/** The boots of this page: one, or one and the boot before. */
export async function load(): Promise<Boot[]> {
  const boots = [];
  for (let n = 0; document.getElementById(`boot-${n}`); n++) boots.push(loadBoot(n));
  return Promise.all(boots);
}

async function loadBoot(n: number): Promise<Boot> {
  // The first picture needs no evidence, which is most of the bytes.
  return bootOf(await unpacked(`boot-${n}`), painted().then(() => unpacked(`evidence-${n}`)));
}

/** Said by main.ts once the page has been drawn. */
export const PAINTED = "bootlap-painted";

/** The page has been drawn, and all of it has been read. */
async function painted(): Promise<void> {
  if (performance.getEntriesByName(PAINTED).length === 0) await said(window, PAINTED);
  if (document.readyState === "loading") await said(document, "DOMContentLoaded");
}

function said(by: EventTarget, event: string): Promise<void> {
  return new Promise((done) => by.addEventListener(event, () => done(), { once: true }));
}

/** The bytes of a data block, which is taken out of the page to free its memory. */
async function unpacked(id: string): Promise<Uint8Array> {
  const block = document.getElementById(id);
  const packed = new Blob([decoded(block?.textContent ?? "")]);
  block?.remove();
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What the two unpacked blocks of a boot say; the second may come later. */
export function bootOf(bytes: Uint8Array, evidence: Uint8Array | Promise<Uint8Array>): Boot {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const { pack, counters, path, ...head } = JSON.parse(text) as Packed;
  if (head.format > FORMAT) throw new Error(`this page's data has format ${head.format}, its viewer knows ${FORMAT}`);
  const files = new BytesEvidence(pack.evidence);
  const filled = Promise.resolve(evidence).then((bytes): Evidence => {
    files.fill(bytes);
    return files;
  });
  const columns = new Columns(bytes, 4 + length, pack.columns);
  const spans = new PackedSpans(columns, pack, files);
  const tracks = pack.tracks.map(([kind, name]) => ({ kind, name }));
  return {
    head: {
      ...head, tracks, counters: counters.map(counterOf), unplaced: pack.unplaced,
      totals: pack.totals.map(([name, unit, whole], n) => ({
        name, unit, whole, at: grown(columns.get(`total_${n}_at`), Number(pack.origin_ns)), sum: grown(columns.get(`total_${n}`), 0),
      })),
      path: path && { ...path, steps: path.steps.map((step, at) => ({ ...step, span: pack.path[at] ?? null })) },
    },
    spans, links: new PackedLinks(columns, spans.count), evidence: filled,
  };
}

/** Without samples whose clock nothing relates to the others. */
function counterOf({ samples, ...rest }: SampledCounter): Counter {
  const placed = samples.filter((sample): sample is [number, number] => sample[0] !== null);
  return { ...rest, at_ns: placed.map(([at]) => at), values: placed.map(([, value]) => value) };
}

/** Steps to what they add up to. */
function grown(steps: Float64Array, from: number): Float64Array {
  for (let i = 0; i < steps.length; i++) steps[i] = from += signed(steps[i]!);
  return steps;
}

/** Columns by name. */
class Columns {
  private readonly places = new Map<string, [number, number, number]>();

  constructor(private readonly bytes: Uint8Array, from: number, columns: Pack["columns"]) {
    for (const [name, count, width] of columns) {
      this.places.set(name, [from, count, width]);
      from += count * width;
    }
  }

  /** Numbers, which must be below 2^53 to be exact. */
  get(name: string): Float64Array {
    const [from, count, width] = this.place(name);
    const numbers = new Float64Array(count);
    for (let plane = 0, unit = 1; plane < width; plane++, unit *= 256) {
      const at = from + plane * count;
      for (let i = 0; i < count; i++) numbers[i]! += this.bytes[at + i]! * unit;
    }
    return numbers;
  }

  /** Numbers below 2^32. */
  get32(name: string): Uint32Array {
    const [from, count, width] = this.place(name);
    const numbers = new Uint32Array(count);
    for (let plane = 0; plane < Math.min(width, 4); plane++) {
      const at = from + plane * count;
      for (let i = 0; i < count; i++) numbers[i]! |= this.bytes[at + i]! << (8 * plane);
    }
    return numbers;
  }

  private place(name: string): [number, number, number] {
    const place = this.places.get(name);
    if (!place) throw new Error(`this page has no column ${name}`);
    return place;
  }
}

/** The number behind a zigzag code, below 2^52 either way. */
function signed(code: number): number {
  return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
}

/** A place told from the start of the interval before, or from the last end. */
function nearest(code: number, start: number, end: number): number {
  return code % 2 === 0 ? start + signed(code / 2) : end + signed((code - 1) / 2);
}

class PackedSpans implements Spans {
  readonly count: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly endKind: Uint8Array;
  readonly track: Uint32Array;
  readonly clock: Uint16Array;
  private readonly texts: Texts;
  private counted: Float64Array | null = null;
  private errors: Float64Array | null = null;
  private places: Places | null = null;

  constructor(private readonly columns: Columns, private readonly pack: Pack, private readonly evidenceFiles: BytesEvidence) {
    this.start = columns.get("start");
    this.count = this.start.length;
    this.end = columns.get("length");
    this.endKind = new Uint8Array(this.count);
    this.times();
    this.track = columns.get32("track");
    this.clock = Uint16Array.from(columns.get32("clock"));
    this.texts = new Texts(columns, pack.shapes);
  }

  // What the first picture needs nothing of is unpacked when somebody asks.

  get err(): Float64Array {
    return (this.errors ??= this.columns.get("err"));
  }

  get instructions(): Float64Array {
    return (this.counted ??= this.columns.get("instructions").map((n) => (n === 0 ? NaN : n - 1)));
  }

  /** Steps to moments, lengths to ends. */
  private times(): void {
    const unit = this.pack.unit_ns;
    const origin = Number(this.pack.origin_ns);
    for (let i = 0, at = 0, end = 0; i < this.count; i++) {
      at = nearest(this.start[i]!, at, end);
      const code = this.end[i]!;
      this.endKind[i] = code === 0 ? END_UNKNOWN : code === 1 ? END_OPEN : END_KNOWN;
      const length = Math.max(0, code - 2);
      if (length > 0) end = at + length;
      this.start[i] = origin + at * unit;
      this.end[i] = origin + (at + length) * unit;
    }
  }

  name(i: number): string {
    return this.text(i, 0);
  }

  args(i: number): [string, string][] {
    const keys = this.pack.shapes[this.texts.shape[i]!] ?? [];
    return keys.map((key, at) => [this.pack.symbols[key] ?? "", this.text(i, 1 + at)]);
  }

  evidence(i: number): { file: number; start: number; end: number; line: number } {
    const { file, from, bytes, line } = (this.places ??= new Places(this.columns));
    const start = from[i]!;
    return { file: file[i]!, start, end: start + bytes[i]!, line: line[i]! };
  }

  private text(i: number, n: number): string {
    const at = this.texts.first[i]! + n;
    const symbol = this.texts.text[at]!;
    if (symbol > 0) return this.pack.symbols[symbol - 1] ?? "";
    if (!this.evidenceFiles.filled) return "";
    const pointed = this.texts.pointed[at]!;
    const length = this.texts.length[pointed]!;
    const place = signed(this.texts.at[pointed]!);
    const { file, start, end } = this.evidence(i);
    const from = place < 0 ? end + 1 + place - length : start + place;
    return this.evidenceFiles.text(file, from, from + length) ?? "";
  }
}

/** Where each span stands in the evidence. */
class Places {
  readonly file: Uint32Array;
  readonly from: Float64Array;
  readonly bytes: Float64Array;
  readonly line: Uint32Array;

  constructor(columns: Columns) {
    this.file = columns.get32("file");
    this.from = columns.get("at");
    this.bytes = columns.get("bytes");
    this.line = columns.get32("line");
    for (let i = 0, at = 0, end = 0, line = 0; i < this.file.length; i++) {
      this.from[i] = at = nearest(this.from[i]!, at, end);
      if (this.bytes[i]! > 0) end = at + this.bytes[i]!;
      line += signed(this.line[i]!);
      this.line[i] = line;
    }
  }
}

/** Names and arguments: symbols, or places in the evidence. */
class Texts {
  readonly shape: Uint32Array;
  /** Where the texts of a span begin. */
  readonly first: Uint32Array;
  readonly text: Uint32Array;
  private pointers: { pointed: Uint32Array; at: Float64Array; length: Float64Array } | null = null;

  constructor(private readonly columns: Columns, shapes: number[][]) {
    this.shape = columns.get32("shape");
    this.text = columns.get32("text");
    this.first = new Uint32Array(this.shape.length);
    for (let i = 0, next = 0; i < this.shape.length; i++) {
      this.first[i] = next;
      next += 1 + (shapes[this.shape[i]!]?.length ?? 0);
    }
  }

  /** For text that is pointed at: which of the pointers, from where, how long. */
  get pointed(): Uint32Array {
    return this.places().pointed;
  }

  get at(): Float64Array {
    return this.places().at;
  }

  get length(): Float64Array {
    return this.places().length;
  }

  private places(): { pointed: Uint32Array; at: Float64Array; length: Float64Array } {
    if (this.pointers) return this.pointers;
    const pointed = new Uint32Array(this.text.length);
    for (let i = 0, next = 0; i < this.text.length; i++) {
      pointed[i] = next;
      if (this.text[i] === 0) next++;
    }
    return (this.pointers = { pointed, at: this.columns.get("text_at"), length: this.columns.get("text_length") });
  }
}

class PackedLinks implements Links {
  readonly count: number;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly kind: Uint8Array;
  /** The links by where they begin. */
  private readonly byFrom: Uint32Array;

  constructor(columns: Columns, spans: number) {
    this.to = columns.get32("link_to");
    this.count = this.to.length;
    this.kind = Uint8Array.from(columns.get32("link_kind"));
    const from = columns.get("link_from");
    this.from = new Uint32Array(this.count);
    for (let i = 0, to = 0; i < this.count; i++) {
      to += signed(this.to[i]!);
      this.to[i] = Math.min(to, spans - 1);
      this.from[i] = Math.min(Math.max(0, to + signed(from[i]!)), spans - 1);
    }
    this.byFrom = Uint32Array.from(this.from.keys()).sort((a, b) => this.from[a]! - this.from[b]!);
  }

  into(i: number): number[] {
    return this.run(i, (n) => this.to[n]!);
  }

  outOf(i: number): number[] {
    return this.run(i, (n) => this.from[this.byFrom[n]!]!).map((n) => this.byFrom[n]!);
  }

  /** The places, in a list sorted by `key`, where that is `i`. */
  private run(i: number, key: (n: number) => number): number[] {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (key(middle) < i) low = middle + 1;
      else high = middle;
    }
    const found: number[] = [];
    for (let n = low; n < this.count && key(n) === i; n++) found.push(n);
    return found;
  }
}

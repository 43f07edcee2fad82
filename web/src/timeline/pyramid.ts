// Level of detail: answers about many spans at once, so that a frame costs as
// many steps as it has pixels, whatever the number of spans.

/** The first index in sorted `values` that is at least `wanted`. */
export function lowerBound(values: ArrayLike<number>, wanted: number, from = 0, to = values.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same, where the answer is probably near `from`. */
export function gallop(values: ArrayLike<number>, wanted: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < values.length && values[low + step]! < wanted) {
    low += step;
    step *= 2;
  }
  return lowerBound(values, wanted, low, Math.min(values.length, low + step + 1));
}

const FAN = 16;

/** The largest of any range, found in O(log n): each level keeps the index of
 * the largest of 16 of the level under it. */
export class Peaks {
  private readonly levels: Uint32Array[] = [];

  constructor(private readonly values: ArrayLike<number>) {
    let under = values.length;
    let at = (i: number) => i;
    while (under > FAN) {
      const size = Math.ceil(under / FAN);
      const level = new Uint32Array(size);
      for (let i = 0; i < size; i++) {
        let best = at(i * FAN);
        for (let k = i * FAN + 1; k < Math.min(under, (i + 1) * FAN); k++) {
          if (values[at(k)]! > values[best]!) best = at(k);
        }
        level[i] = best;
      }
      this.levels.push(level);
      at = (i) => level[i]!;
      under = size;
    }
  }

  /** The index of the largest in `from..to`, the first among equals; −1 if empty. */
  largest(from: number, to: number): number {
    let best = -1;
    const look = (i: number) => {
      const value = this.values[i]!;
      if (best < 0 || value > this.values[best]! || (value === this.values[best]! && i < best)) best = i;
    };
    let [low, high, depth] = [from, to, -1];
    while (low < high) {
      const level = this.levels[depth];
      const at = (i: number) => (level ? level[i]! : i);
      if (depth + 1 >= this.levels.length || high - low <= 2 * FAN) {
        for (let i = low; i < high; i++) look(at(i));
        return best;
      }
      while (low % FAN !== 0) look(at(low++));
      while (high % FAN !== 0) look(at(--high));
      low /= FAN;
      high /= FAN;
      depth++;
    }
    return best;
  }
}

/** How many spans run at a time, for spans that may overlap. */
export class Load {
  private readonly sumStart: Float64Array;
  private readonly sumEnd: Float64Array;
  /** Most that ever ran at once. */
  readonly peak: number;
  readonly origin: number;

  /** Both sorted, each on its own. */
  constructor(readonly starts: Float64Array, readonly ends: Float64Array) {
    // Relative to the first start, the sums stay far below 2^53.
    this.origin = starts[0] ?? 0;
    this.sumStart = prefix(starts, this.origin);
    this.sumEnd = prefix(ends, this.origin);
    this.peak = mostAtOnce(starts, ends);
  }

  static of(ids: Uint32Array, start: Float64Array, end: Float64Array): Load {
    const starts = new Float64Array(ids.length);
    const ends = new Float64Array(ids.length);
    for (let i = 0; i < ids.length; i++) {
      starts[i] = start[ids[i]!]!;
      ends[i] = end[ids[i]!]!;
    }
    return new Load(starts, ends.sort());
  }

  /** Of all spans of some loads; `starts` are theirs, in order. */
  static together(starts: Float64Array, loads: Load[]): Load {
    let lists = loads.map((load) => load.ends);
    while (lists.length > 1) {
      const half: Float64Array[] = [];
      for (let i = 0; i < lists.length; i += 2) half.push(i + 1 < lists.length ? merged(lists[i]!, lists[i + 1]!) : lists[i]!);
      lists = half;
    }
    return new Load(starts, lists[0] ?? new Float64Array());
  }

  /** Time that all spans together had run when it was `ns`. */
  total(ns: number): number {
    return this.sum(ns, lowerBound(this.starts, ns), lowerBound(this.ends, ns));
  }

  /** How many ran in `from..to`, on average. */
  mean(from: number, to: number): number {
    return (this.total(to) - this.total(from)) / (to - from);
  }

  /** How many began in `from..to`, the end excluded. */
  begun(from: number, to: number): number {
    return lowerBound(this.starts, to) - lowerBound(this.starts, from);
  }

  sum(ns: number, begun: number, ended: number): number {
    return (ns - this.origin) * (begun - ended) - (this.sumStart[begun]! - this.sumEnd[ended]!);
  }
}

/** Two sorted lists as one. */
function merged(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length);
  for (let i = 0, k = 0, to = 0; to < all.length;) all[to++] = k >= b.length || (i < a.length && a[i]! <= b[k]!) ? a[i++]! : b[k++]!;
  return all;
}

function prefix(values: Float64Array, origin: number): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i]! + (values[i]! - origin);
  return sums;
}

function mostAtOnce(starts: Float64Array, ends: Float64Array): number {
  let most = 0;
  let ended = 0;
  for (let i = 0; i < starts.length; i++) {
    while (ended < ends.length && ends[ended]! <= starts[i]!) ended++;
    // Moments end as they begin, but they are there.
    most = Math.max(most, i + 1 - Math.min(ended, i));
  }
  return most;
}

// Counters as charts: those that belong together are stacked, as bootchart
// does: processor time, disk traffic, memory.

import type { Counter } from "../model.ts";
import { lowerBound, Peaks } from "./pyramid.ts";

export class Series {
  readonly at: Float64Array;
  readonly values: Float64Array;
  private peaks: Peaks | null = null;

  constructor(readonly name: string, readonly color: string, counter: Pick<Counter, "at_ns" | "values">) {
    this.at = Float64Array.from(counter.at_ns);
    this.values = Float64Array.from(counter.values, (value) => (Number.isFinite(value) ? value : 0));
  }

  /** What holds at `ns`; NaN before the first sample. */
  value(ns: number): number {
    const next = lowerBound(this.at, ns + 0.5);
    return next === 0 ? NaN : this.values[next - 1]!;
  }

  /** The largest value that holds at some moment of `from..to`. */
  most(from: number, to: number): number {
    const first = Math.max(0, lowerBound(this.at, from + 0.5) - 1);
    const last = lowerBound(this.at, to);
    if (last <= first) return NaN;
    if (last - first === 1) return this.values[first]!;
    this.peaks ??= new Peaks(this.values);
    return this.values[this.peaks.largest(first, last)]!;
  }
}

export interface Chart {
  title: string;
  unit: string;
  /** From the bottom to the top. */
  series: Series[];
  stacked: boolean;
  /** The scale's end. */
  most: number;
  /** 0 processor, 1 disk, 2 memory, 3 the rest. */
  rank: number;
}

interface Known {
  title: string;
  unit: string;
  names: [string, string][];
  most?: number;
}

const STACKS: Known[] = [
  {
    title: "CPU", unit: "%", most: 100,
    names: [["cpu system", "--kernel"], ["cpu user", "--userspace"], ["cpu stolen", "--initramfs"], ["cpu iowait", "--bootloader"]],
  },
  { title: "disk", unit: "kB/s", names: [["disk read", "--userspace"], ["disk write", "--application"]] },
  { title: "disk busy", unit: "%", most: 100, names: [["disk busy", "--bootloader"]] },
  { title: "tasks", unit: "processes", names: [["runnable", "--kernel"], ["blocked", "--bootloader"]] },
];

/** Counters as charts. */
export function chartsOf(counters: readonly Counter[]): Chart[] {
  const charts: Chart[] = [];
  const used = new Set<Counter>();
  for (const [rank, known] of STACKS.entries()) {
    const series = known.names.flatMap(([name, color]) => {
      const counter = counters.find((c) => c.name === name && c.unit === known.unit && c.at_ns.length > 0);
      if (!counter) return [];
      used.add(counter);
      return [new Series(name.replace(/^(cpu|disk) /, ""), color, counter)];
    });
    if (series.length > 0) charts.push(chart(known.title, known.unit, series, Math.min(rank, 2), known.most));
  }
  const memory = memoryChart(counters, used);
  if (memory) charts.push(memory);
  // What is left over when the rest is shown says nothing more.
  for (const counter of counters) {
    if (used.has(counter) || counter.name === "cpu idle" || counter.at_ns.length === 0) continue;
    charts.push(chart(counter.name, counter.unit, [new Series(counter.name, "--initcall", counter)], 3));
  }
  return charts;
}

function chart(title: string, unit: string, series: Series[], rank: number, most?: number): Chart {
  return { title, unit, series, stacked: series.length > 1, most: most ?? roundUp(sumOfPeaks(series)), rank };
}

function sumOfPeaks(series: Series[]): number {
  return series.reduce((sum, one) => sum + one.values.reduce((a, b) => Math.max(a, b), 0), 0);
}

/** Used, buffers and cached, which make up the total with what is free. */
function memoryChart(counters: readonly Counter[], used: Set<Counter>): Chart | null {
  const find = (name: string) => counters.find((c) => c.name === `memory ${name}` && c.at_ns.length > 1);
  const [total, free, buffers, cached] = ["total", "free", "buffers", "cached"].map(find);
  if (!total || !free) return null;
  const others = [buffers, cached].filter((c) => c !== undefined);
  const sameTimes = [free, ...others].every((c) => c.at_ns.length === total.at_ns.length);
  if (!sameTimes) return null;
  const values = total.values.map((all, i) =>
    Math.max(0, all - free.values[i]! - others.reduce((sum, c) => sum + c.values[i]!, 0)));
  const series = [new Series("used", "--application", { at_ns: total.at_ns, values })];
  if (buffers) series.push(new Series("buffers", "--bootloader", buffers));
  if (cached) series.push(new Series("cached", "--initcall", cached));
  for (const counter of [total, free, ...others]) used.add(counter);
  return chart("memory", total.unit, series, 2, Math.max(...total.values));
}

/** A round number not below `value`, for the end of a scale. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const n of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (n * power >= value * 0.9999) return n * power;
  return 10 * power;
}

/** A value with its unit, in few digits. */
export function amount(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  const kilo = /^kB/.test(unit);
  if (kilo && Math.abs(value) >= 1e6) return `${short(value / 1e6)} ${unit.replace("kB", "GB")}`;
  if (kilo && Math.abs(value) >= 1e3) return `${short(value / 1e3)} ${unit.replace("kB", "MB")}`;
  return `${short(value)} ${unit}`.trim();
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

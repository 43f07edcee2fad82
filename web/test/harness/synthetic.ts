// Boots made of nothing, for tests and the harness: the same for the same seed.

import type { Counter, Gap, Mark, Phase } from "../../src/model.ts";
import type { TimelineBoot } from "../../src/timeline/types.ts";

/** Numbers in 0..1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface SpanSpec {
  kind: string;
  track: string;
  name: string;
  start: number;
  /** Undefined: nobody saw it. */
  end?: number | undefined;
  /** Still going on at the end. */
  open?: boolean;
  clock?: number;
  err?: number;
  args?: [string, string][];
}

export interface BootSpec {
  spans: SpanSpec[];
  /** `[from, to, kind]`, places in `spans`. */
  links?: [number, number, number][];
  phases?: Phase[];
  gaps?: Gap[];
  marks?: [string, string | null, number][];
  counters?: Counter[];
  findings?: { title: string; at: [number, number] | null; saving: number }[];
  ready?: number | null;
  clocks?: string[];
}

export function phase(name: string, title: string, start: number, end: number, parts: [string, number, number][] = []): Phase {
  return {
    name, title, start_ns: start, end_ns: end, instructions: null,
    parts: parts.map(([part, a, b]) => ({ name: part, start_ns: a, end_ns: b, instructions: null })),
  };
}

/** A boot as pack.ts gives it. */
export function makeBoot(spec: BootSpec): TimelineBoot {
  const places = spec.spans.map((_, i) => i);
  const endOf = (s: SpanSpec) => (s.end === undefined || s.open ? s.start : s.end);
  places.sort((a, b) => spec.spans[a]!.start - spec.spans[b]!.start || endOf(spec.spans[b]!) - endOf(spec.spans[a]!));
  const spans = places.map((i) => spec.spans[i]!);
  const newPlace = new Uint32Array(places.length);
  places.forEach((old, now) => { newPlace[old] = now; });
  const tracks: { kind: string; name: string }[] = [];
  const trackOf = new Map<string, number>();
  const track = Uint32Array.from(spans, (s) => {
    const key = `${s.kind}\n${s.track}`;
    if (!trackOf.has(key)) trackOf.set(key, tracks.push({ kind: s.kind, name: s.track }) - 1);
    return trackOf.get(key)!;
  });
  const links = (spec.links ?? []).map(([a, b, kind]) => [newPlace[a]!, newPlace[b]!, kind] as const);
  const by = (at: 0 | 1) => {
    const map = new Map<number, number[]>();
    links.forEach((link, i) => map.set(link[at], [...(map.get(link[at]) ?? []), i]));
    return (i: number) => map.get(i) ?? [];
  };
  const [outOf, into] = [by(0), by(1)];
  const place = { file: "", start: 0, end: 0, line: 1, text: null };
  const phases = spec.phases ?? [];
  const ready = spec.ready ?? null;
  const start = Math.min(0, ...phases.map((p) => p.start_ns));
  const end = Math.max(ready ?? 0, ...phases.map((p) => p.end_ns), phases.length === 0 ? spans.reduce((m, s) => Math.max(m, endOf(s)), 1) : 1);
  return {
    head: {
      ready_ns: ready, extent: { start_ns: start, end_ns: end, ready: ready !== null, end: ready === null ? null : "ready", last_ns: end }, phases, gaps: spec.gaps ?? [],
      findings: (spec.findings ?? []).map(({ title, at, saving }) => ({
        rule: "r", title, why: "", fix: "", recipe: null, risk: "", at_ns: at, saving_ns: saving, predicted_saving_ns: null, same_time_as: null, saving_kind: "this-boot" as const, saving_is_bound: false, takes_ns: 0, saving_basis: "", evidence: [],
      })),
      marks: (spec.marks ?? []).map(([name, milestone, at_ns]): Mark => ({ name, milestone, at_ns, evidence: place })),
      counters: spec.counters ?? [],
      clocks: (spec.clocks ?? ["reference"]).map((how) => ({ kind: "k", simulated: false, offset_ns: 0, err_ns: 0, how: how as "reference" })),
      tracks,
    },
    spans: {
      count: spans.length,
      start: Float64Array.from(spans, (s) => s.start), end: Float64Array.from(spans, endOf),
      endKind: Uint8Array.from(spans, (s) => (s.open ? 1 : s.end === undefined ? 2 : 0)),
      track, clock: Uint16Array.from(spans, (s) => s.clock ?? 0),
      instructions: new Float64Array(spans.length).fill(NaN), err: Float64Array.from(spans, (s) => s.err ?? 0),
      name: (i) => spans[i]?.name ?? "", args: (i) => spans[i]?.args ?? [],
      evidence: (i) => ({ file: 0, start: 0, end: 0, line: i }),
    },
    links: {
      count: links.length, from: Uint32Array.from(links, (l) => l[0]), to: Uint32Array.from(links, (l) => l[1]),
      kind: Uint8Array.from(links, (l) => l[2]), into, outOf,
    },
  };
}

/** Spans that lie within one another at random, `count` of them within 0..`length`. */
export function nestedCalls(count: number, length: number, seed: number, track = "pid 1", kind = "function"): SpanSpec[] {
  const next = random(seed);
  const spans: SpanSpec[] = [];
  const fill = (from: number, to: number, budget: number, depth: number): void => {
    let at = from;
    while (budget > 0 && at < to) {
      const share = Math.max(1, Math.ceil(budget * (0.02 + next() * 0.3)));
      const size = Math.min(to - at, ((to - from) * share * (0.4 + next() * 0.6)) / Math.max(1, budget));
      if (size < 2) return;
      const start = Math.round(at + size * next() * 0.2);
      const end = Math.round(Math.min(to, start + size));
      spans.push({ kind, track, name: `fn_${Math.floor(next() * 4000).toString(36)}`, start, end });
      if (share > 1 && depth < 30) fill(start + 1, end, share - 1, depth + 1);
      budget -= share;
      at = end;
    }
  };
  fill(0, length, count, 0);
  while (spans.length < count) {
    const start = Math.round(next() * length * 0.98);
    spans.push({ kind, track, name: `leaf_${spans.length % 3000}`, start, end: start + Math.round(next() * 4000) });
  }
  return spans;
}

/** One call after another, mostly short, a few long: a kernel with many built-in drivers. */
export function initcalls(count: number, from: number, to: number, seed: number): SpanSpec[] {
  const next = random(seed);
  const mean = (to - from) / count;
  const spans: SpanSpec[] = [];
  let at = from;
  for (let i = 0; i < count && at < to; i++) {
    const long = i % 97 === 0 ? 14 : 1;
    const took = Math.round(mean * 0.72 * long * -Math.log(1 - next() * 0.999) * 0.86);
    spans.push({ kind: "initcall", track: "initcalls", name: `driver_${i}_init`, start: Math.round(at), end: Math.min(to, Math.round(at) + took), args: [["pid", "1"]] });
    at += took + mean * 0.15 * next();
  }
  return spans;
}

const S = 1e9;

/** A boot of an embedded board with everything in it. `scale` stretches it. */
export function sampleBoot(scale = 1, seed = 7, calls = 400): TimelineBoot {
  const next = random(seed);
  const at = (seconds: number) => Math.round(seconds * S * scale);
  const spans: SpanSpec[] = [
    { kind: "signal", track: "POWER_GOOD", name: "high", start: at(0.02), end: at(3.6) },
    { kind: "signal", track: "nRESET", name: "high", start: at(0.06), end: at(3.6) },
    { kind: "firmware", track: "firmware", name: "SPL", start: at(0.06), end: at(0.21), err: 6e6 },
    { kind: "firmware", track: "firmware", name: "DRAM training", start: at(0.08), end: at(0.19) },
    { kind: "bootloader", track: "boot loader", name: "board init", start: at(0.22), end: at(0.35) },
    { kind: "bootloader", track: "boot loader", name: "autoboot wait", start: at(0.35), end: at(0.65) },
    { kind: "bootloader", track: "boot loader", name: "load kernel", start: at(0.66), end: at(0.93) },
    { kind: "bootloader", track: "boot loader", name: "hash check", start: at(0.93), end: at(1.0) },
    { kind: "kernel", track: "kernel stages", name: "decompress", start: at(1.0), end: at(1.14) },
    { kind: "kernel", track: "async waits", name: "wait for mmc0", start: at(1.62), end: at(1.8) },
    { kind: "kernel", track: "kernel stages", name: "start_kernel", start: at(1.14), end: at(1.3) },
    { kind: "userspace", track: "systemd", name: "generators", start: at(2.12), end: at(2.2) },
    { kind: "userspace", track: "systemd", name: "load units", start: at(2.2), end: at(2.3) },
  ];
  spans.push(...initcalls(calls, at(1.3), at(1.98), seed));
  for (let i = 0; i < 24; i++) {
    const start = 1.32 + next() * 0.6;
    spans.push({ kind: "initcall", track: "device probes", name: `${["mmc", "usb", "i2c", "spi", "gpu"][i % 5]}${i}.0`, start: at(start), end: at(start + next() * 0.03) });
  }
  const links: [number, number, number][] = [];
  const units = spans.length;
  for (let i = 0; i < 26; i++) {
    const start = 2.3 + (i / 26) * 0.9 + next() * 0.08;
    const name = ["systemd-udevd", "dbus", "local-fs.target", "NetworkManager", "kiosk", "weston", "sshd", "journald", "tmp.mount", "modules-load"][i % 10];
    spans.push({ kind: "unit", track: "units", name: `${name}${i > 9 ? `@${i}` : ""}${name!.includes(".") ? "" : ".service"}`, start: at(start), end: i === 7 ? undefined : at(start + 0.02 + next() ** 3 * 0.5), clock: i % 9 === 8 ? 1 : 0 });
    if (i > 2) links.push([units + i - 1 - Math.floor(next() * 3), units + i, i % 3 === 0 ? 2 : 0]);
  }
  const processes = spans.length;
  const programs = ["init", "udevd", "sh", "modprobe", "mount", "dbus-daemon", "weston", "kiosk-app", "sshd", "ip", "dhcpcd", "sleep"];
  for (let i = 0; i < 34; i++) {
    const parent = i === 0 ? -1 : Math.floor(next() * Math.min(i, 6));
    const start = i === 0 ? 2.05 : 2.1 + (i / 34) * 1.2;
    const long = i === 0 || i % 6 === 0;
    spans.push({ kind: "process", track: "processes", name: programs[i % programs.length]!, start: at(start), end: at(start + 0.01 + next() * 0.2), open: long, args: [["pid", String(i + 1)]] });
    if (parent >= 0) links.push([processes + parent, processes + i, 1]);
  }
  for (const thread of ["pid 1", "kworker/0:1", "kthreadd"]) {
    spans.push(...nestedCalls(700, at(0.55), seed + thread.length, thread).map((s) => ({ ...s, start: s.start + at(1.3), end: s.end! + at(1.3) })));
  }
  for (const pid of [1, 214, 377]) {
    let t = 2.1;
    while (t < 3.3) {
      const took = 0.0004 + next() ** 6 * 0.2;
      spans.push({ kind: "syscall", track: `pid ${pid}`, name: ["openat", "read", "execve", "wait4", "poll", "mmap"][Math.floor(next() * 6)]!, start: at(t), end: at(t + took) });
      t += took + next() * 0.01;
    }
  }
  const lines = ["U-Boot SPL 2024.01", "DRAM: 1 GiB", "Hit any key to stop autoboot", "Starting kernel ...", "[    0.000000] Booting Linux on physical CPU 0x0", "[    0.512] mmc0: new high speed SDHC card", "\u001b[32m[  OK  ]\u001b[0m Started kiosk.service", "kiosk: ready"];
  let t = 0.06;
  for (let i = 0; t < 3.4; i++) {
    spans.push({ kind: "console", track: "console", name: lines[i % lines.length]!, start: at(t), end: at(t + 0.002) });
    t += i % 23 === 22 ? 0.14 : next() * 0.012;
    if (t > 0.36 && t < 0.65) t = 0.65;
  }
  const samples = Array.from({ length: 70 }, (_, i) => at(2.0 + i * 0.02));
  const wave = (k: number, phase: number, most: number) => samples.map((_, i) => Math.max(0, most * (0.5 + 0.5 * Math.sin(i / k + phase)) * (0.6 + 0.4 * next())));
  const counter = (name: string, unit: string, values: number[]): Counter => ({ name, unit, at_ns: samples, values, clock: 0 });
  const ready = at(3.32);
  return makeBoot({
    spans, links, ready,
    phases: [
      phase("firmware", "firmware", 0, at(0.21), [["DRAM training", at(0.08), at(0.19)]]),
      phase("bootloader", "boot loader", at(0.21), at(1.0), [["autoboot wait", at(0.35), at(0.65)], ["load kernel", at(0.66), at(0.93)]]),
      phase("kernel", "kernel", at(1.0), at(2.04), [["uncompress kernel", at(1.0), at(1.14)], ["initcalls", at(1.3), at(1.98)]]),
      phase("userspace", "user space", at(2.04), at(3.1), [["generators", at(2.12), at(2.2)], ["units", at(2.3), at(3.05)]]),
      phase("application", "application", at(3.1), ready),
    ],
    gaps: [{ start_ns: at(0.36), end_ns: at(0.65), phase: "bootloader", idle_share: 0.98, before: "Hit any key to stop autoboot", after: "Starting kernel ..." }],
    marks: [["power on", "power-on", 0], ["boot loader starts", "bootloader-start", at(0.21)], ["boot loader hands over", "bootloader-handover", at(0.99)],
      ["kernel starts", "kernel-entry", at(1.14)], ["kernel runs init", "init-start", at(2.04)], ["user space starts", "user-entry", at(2.05)],
      ["network up", null, at(2.81)], ["startup finished", "startup-finished", at(3.05)], ["application starts", "application-start", at(3.1)], ["ready", "ready", ready]],
    findings: [{ title: "the boot loader waits for a key", at: [at(0.35), at(0.65)], saving: at(0.3) },
      { title: "the kernel is compressed with gzip", at: [at(1.0), at(1.14)], saving: at(0.08) },
      { title: "initcalls print to a slow console", at: [at(1.3), at(1.98)], saving: at(0.21) },
      { title: "an initcall waits for a device", at: [at(1.305), at(1.5)], saving: at(0.1) }],
    counters: [counter("cpu user", "%", wave(5, 0, 55)), counter("cpu system", "%", wave(7, 1, 30)), counter("cpu iowait", "%", wave(3, 2, 14)), counter("cpu idle", "%", wave(3, 2, 14)),
      counter("disk read", "kB/s", wave(4, 3, 18000)), counter("disk write", "kB/s", wave(9, 1, 6000)),
      counter("memory total", "kB", samples.map(() => 1_000_000)), counter("memory free", "kB", samples.map((_, i) => 800_000 - i * 7000)),
      counter("memory buffers", "kB", samples.map((_, i) => 10_000 + i * 400)), counter("memory cached", "kB", samples.map((_, i) => 50_000 + i * 3000)),
      counter("runnable", "processes", wave(4, 2, 6))],
    clocks: ["reference", "assumed"],
  });
}

/** 39 000 initcalls, console and phases. */
export function manyInitcalls(count = 39_000): TimelineBoot {
  const spans = initcalls(count, 0.5 * S, 38 * S, 3);
  for (let i = 0; i < 8000; i++) spans.push({ kind: "console", track: "console", name: `[${(i / 200).toFixed(6)}] line ${i}`, start: i * 4.9e6, end: i * 4.9e6 + 4e5 });
  return makeBoot({
    spans, ready: 40 * S,
    phases: [phase("bootloader", "boot loader", 0, 0.4 * S), phase("kernel", "kernel", 0.4 * S, 38 * S), phase("userspace", "user space", 38 * S, 40 * S)],
    marks: [["kernel starts", "kernel-entry", 0.4 * S], ["kernel runs init", "init-start", 38 * S], ["ready", "ready", 40 * S]],
  });
}

/** A million calls of eight threads, one of them with 400 000. */
export function manyCalls(count = 1_000_000): TimelineBoot {
  const spans: SpanSpec[] = [];
  for (let i = 0; i < 8; i++) {
    for (const span of nestedCalls(Math.round(count * (i === 0 ? 0.4 : 0.6 / 7)), 60 * S, 11 + i, `pid ${i + 1}`)) spans.push(span);
  }
  return makeBoot({ spans, ready: 60 * S, phases: [phase("kernel", "kernel", 0, 50 * S), phase("userspace", "user space", 50 * S, 60 * S)] });
}

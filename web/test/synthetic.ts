// Small boots for unit tests.

import { END_KNOWN, END_UNKNOWN, type Boot, type Evidence, type Head, type Links, type Spans } from "../src/model.ts";

interface Recipe {
  /** `[kind, name]`. */
  tracks: [string, string][];
  /** `[track, name, start, end]`, in order of start; null for an unknown end. */
  spans: [number, string, number, number | null][];
  /** Per span the line (from 1) that it was read from; default: none. */
  lines?: number[];
  /** The text of the one evidence file. */
  text?: string;
  /** `[from, to, kind]`. */
  links?: [number, number, number][];
  head?: Partial<Head>;
}

export function synthetic(recipe: Recipe): Boot {
  const { tracks, spans: rows, links: relations = [], text = "" } = recipe;
  const lines = text.split("\n");
  const starts = lines.map((_, n) => lines.slice(0, n).reduce((sum, line) => sum + line.length + 1, 0));
  const spans: Spans = {
    count: rows.length,
    start: Float64Array.from(rows, (row) => row[2]),
    end: Float64Array.from(rows, (row) => row[3] ?? row[2]),
    endKind: Uint8Array.from(rows, (row) => (row[3] === null ? END_UNKNOWN : END_KNOWN)),
    track: Uint32Array.from(rows, (row) => row[0]),
    clock: new Uint16Array(rows.length),
    instructions: new Float64Array(rows.length).fill(NaN),
    err: new Float64Array(rows.length),
    name: (i) => rows[i]![1],
    args: () => [],
    evidence: (i) => {
      const line = recipe.lines?.[i] ?? 1;
      const start = starts[line - 1] ?? 0;
      return { file: 0, start, end: start + (lines[line - 1]?.length ?? 0), line };
    },
  };
  const links: Links = {
    count: relations.length,
    from: Uint32Array.from(relations, (link) => link[0]),
    to: Uint32Array.from(relations, (link) => link[1]),
    kind: Uint8Array.from(relations, (link) => link[2]),
    into: (i) => relations.flatMap((link, n) => (link[1] === i ? [n] : [])),
    outOf: (i) => relations.flatMap((link, n) => (link[0] === i ? [n] : [])),
  };
  const evidence: Evidence = {
    text: (_, start, end) => text.slice(start, end),
    lineCount: () => lines.length,
    line: (_, n) => lines[n] ?? "",
    lineAt: (_, byte) => Math.max(0, starts.filter((start) => start <= byte).length - 1),
  };
  return { head: { ...HEAD, tracks: tracks.map(([kind, name]) => ({ kind, name })), ...recipe.head }, spans, links, evidence: Promise.resolve(evidence) };
}

const HEAD: Head = {
  format: 1, tool: "", run: "", target: "test", machine: "", mode: "", time: "measured", identical: null,
  ready_ns: null, instructions: null, console_sha256: "", awaited: true, extent: null, phases: [], costs: [], gaps: [], findings: [],
  trials: [], notices: [], marks: [], clocks: [], before: null, comparison: null, counters: [], tracks: [], path: null, groups: null, unplaced: 0, totals: [],
  files: [{ name: "console.log", source: "console", total: 0, used: 0, skipped: 0 }],
};

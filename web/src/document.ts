// For the time until pack.ts is there: a page's one JSON document as the
// columns that the views work with.

import { AFTER, END_KNOWN, END_UNKNOWN, FORMAT, type Boot, type Evidence, type Head, type Links, type Spans } from "./model.ts";

interface OldSpan {
  track: string; name: string; start_ns: number | null; end_ns: number | null; err_ns: number;
  instructions: number | null; clock: number; args: [string, string][];
  evidence: { file: string; start: number; end: number; line: number; text: string | null };
}

export async function load(): Promise<Boot[]> {
  const data = JSON.parse(document.getElementById("document")?.textContent ?? "") as Head & { spans: OldSpan[] };
  if (data.format > FORMAT) throw new Error(`this page's data has format ${data.format}, its viewer knows ${FORMAT}`);
  const old = data.spans.filter((span) => span.start_ns !== null)
    .sort((a, b) => a.start_ns! - b.start_ns! || (b.end_ns ?? b.start_ns!) - (a.end_ns ?? a.start_ns!));
  const kinds = [...new Set(old.map((span) => span.track))];
  const head: Head = { ...data, counters: [], tracks: kinds.map((kind) => ({ kind, name: kind })) };
  const column = <T>(of: (span: OldSpan) => T) => old.map(of);
  const spans: Spans = {
    count: old.length,
    start: Float64Array.from(column((span) => span.start_ns!)),
    end: Float64Array.from(column((span) => span.end_ns ?? span.start_ns!)),
    endKind: Uint8Array.from(column((span) => (span.end_ns === null ? END_UNKNOWN : END_KNOWN))),
    track: Uint32Array.from(column((span) => kinds.indexOf(span.track))),
    clock: Uint16Array.from(column((span) => span.clock)),
    instructions: Float64Array.from(column((span) => span.instructions ?? NaN)),
    err: Float64Array.from(column((span) => span.err_ns)),
    name: (i) => old[i]!.name,
    args: (i) => old[i]!.args,
    evidence: (i) => ({ ...old[i]!.evidence, file: head.files.findIndex((file) => file.name === old[i]!.evidence.file) }),
  };
  const links: Links = {
    count: 0, from: new Uint32Array(), to: new Uint32Array(), kind: Uint8Array.of(AFTER).slice(1),
    into: () => [], outOf: () => [],
  };
  return [{ head, spans, links, evidence: Promise.resolve(evidenceOf(old, head)) }];
}

/** The lines that spans brought along; the others are blank. */
function evidenceOf(old: OldSpan[], head: Head): Evidence {
  const files = head.files.map(() => new Map<number, string>());
  const starts = head.files.map(() => new Map<number, OldSpan>());
  for (const span of old) {
    const file = head.files.findIndex((file) => file.name === span.evidence.file);
    if (span.evidence.text === null || file < 0) continue;
    span.evidence.text.split(/\r*\n/).forEach((line, at) => files[file]!.set(span.evidence.line - 1 + at, line));
    starts[file]!.set(span.evidence.start, span);
  }
  return {
    text: (file, start) => starts[file]?.get(start)?.evidence.text ?? null,
    lineCount: (file) => head.files[file]?.total ?? 0,
    line: (file, n) => files[file]?.get(n) ?? "",
    lineAt: (file, byte) => (starts[file]?.get(byte)?.evidence.line ?? 1) - 1,
  };
}

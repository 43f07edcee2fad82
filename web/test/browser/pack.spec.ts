// What the page's packed data says against docs/schema/report.json, which
// the same program wrote of the same evidence.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decoded } from "../../src/base85.ts";
import { bootOf } from "../../src/pack.ts";
import { END_KNOWN } from "../../src/model.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BOOTLAP = process.env["BOOTLAP"] ?? join(ROOT, "target/debug/bootlap");
const BOOT = join(ROOT, "tests/boots/debian13-systemd257");

function reports(files: string[]): { html: string; json: any } {
  const dir = mkdtempSync(join(tmpdir(), "bootlap-pack-"));
  try {
    for (const out of ["x.html", "x.json"]) execFileSync(BOOTLAP, ["report", ...files, "-o", join(dir, out)]);
    return { html: readFileSync(join(dir, "x.html"), "utf8"), json: JSON.parse(readFileSync(join(dir, "x.json"), "utf8")) };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function block(html: string, id: string): Uint8Array {
  const text = new RegExp(`<script type="text/plain" id="${id}">([^<]*)</script>`).exec(html)?.[1];
  return gunzipSync(decoded(text ?? ""));
}

const MIXES = [
  ["console.stamps.gz", "dmesg.txt.gz", "plot.json", "kiosk.strace.gz"],
  ["dmesg.txt.gz"],
  ["plot.json", "units.txt.gz"],
];

for (const mix of MIXES) {
  test(`the page of ${mix.join(" + ")} says what the document says`, async () => {
    const { html, json } = reports(mix.map((file) => join(BOOT, file)));
    const { head, spans, links, evidence } = bootOf(block(html, "boot-0"), block(html, "evidence-0"));
    const placed = json.spans.map((span: any, at: number) => ({ ...span, at }))
      .filter((span: any) => span.start_ns !== null);
    const last = (span: any) => Math.max(span.end_ns ?? span.start_ns, span.start_ns);
    placed.sort((a: any, b: any) => a.start_ns - b.start_ns || last(b) - last(a) || a.at - b.at);
    expect(spans.count).toBe(placed.length);
    expect(head.unplaced).toBe(json.spans.length - placed.length);
    const texts = await evidence;
    placed.forEach((span: any, i: number) => {
      const { file, start, end, line } = spans.evidence(i);
      const known = spans.endKind[i] === END_KNOWN;
      expect({
        track: head.tracks[spans.track[i]!]!.kind, name: spans.name(i), start_ns: spans.start[i],
        end_ns: known ? spans.end[i] : null, err_ns: spans.err[i], clock: spans.clock[i], args: spans.args(i),
        instructions: Number.isNaN(spans.instructions[i]) ? null : spans.instructions[i],
        evidence: { file: head.files[file]!.name, start, end, line },
      }).toEqual({
        track: span.track, name: span.name, start_ns: span.start_ns, end_ns: span.end_ns, err_ns: span.err_ns,
        clock: span.clock, args: span.args, instructions: span.instructions,
        evidence: { file: span.evidence.file, start: span.evidence.start, end: span.evidence.end, line: span.evidence.line },
      });
      const text = texts.text(file, start, end);
      const shown = text === null ? null : text.replace(/[\r\n]+$/, "");
      if (span.evidence.text !== null && span.evidence.text.length < 500) expect(shown).toBe(span.evidence.text);
    });
    for (let n = 1; n < links.count; n++) expect(links.to[n]! >= links.to[n - 1]!).toBe(true);
    const apart = { spans: 0, links: 0, counters: 0, tracks: 0, unplaced: 0 };
    const { path, groups, totals, ...rest } = head;
    expect(groups).toBeNull();
    // What only grows is of the boot that the document tells of, and nothing in it falls.
    for (const { name, at, sum } of totals) {
      expect(Array.from(at)).toEqual(Array.from(at).sort((a, b) => a - b));
      expect(Array.from(sum)).toEqual(Array.from(sum).sort((a, b) => a - b));
      if (name === "instructions" && head.instructions !== null) expect(sum.at(-1)!).toBeGreaterThanOrEqual(head.instructions);
    }
    expect({ ...rest, ...apart }).toEqual({ ...json, ...apart });
    // The path is what the terminal says, and its steps are the spans that it names.
    const told_path = JSON.parse(execFileSync(BOOTLAP, ["show", "--quiet", "--by", "units", "--json", ...mix.map((file) => join(BOOT, file))], { encoding: "utf8" })).path;
    const steps = path && { ...path, steps: path.steps.map(({ span: _, ...step }) => step) };
    expect(steps).toEqual(told_path);
    for (const step of path?.steps ?? []) expect(spans.name(step.span!)).toBe(step.name);
    const place = new Map(placed.map((span: any, i: number) => [span.at, i]));
    const KINDS = ["waits-on", "spawns", "after"];
    const told = json.links.filter((link: any) => place.has(link.from) && place.has(link.to))
      .map((link: any) => `${place.get(link.from)} ${link.kind} ${place.get(link.to)}`);
    const packed = Array.from(links.to, (to, n) => `${links.from[n]} ${KINDS[links.kind[n]!]} ${to}`);
    expect(packed).toEqual(expect.arrayContaining(told));
    // What no log tells begins with what runs one after the other by itself.
    const known = new Set(told);
    const from = packed.flatMap((link, n) => (known.has(link) ? [] : [head.tracks[spans.track[links.from[n]!]!]!.kind]));
    expect(["initcall", "kernel", "userspace"]).toEqual(expect.arrayContaining(from));
  });
}

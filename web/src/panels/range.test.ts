import { expect, it } from "vitest";
import { asText, sumsOf } from "./range.ts";
import { END_KNOWN, type Boot } from "../model.ts";

const boot = () => {
  const rows: [string, number, number, string][] = [["unit", 0, 10, "a"], ["unit", 5, 8, "b"], ["console", 6, 6, "a line"], ["unit", 12, 20, "a"]];
  const kinds = ["unit", "console"];
  return {
    head: {
      tracks: kinds.map((kind) => ({ kind, name: kind })),
      gaps: [{ start_ns: 8, end_ns: 12, idle_share: 0.5, phase: null, before: "", after: "" }],
      path: { steps: [{ start_ns: 0, end_ns: 10 }, { start_ns: 12, end_ns: 20 }] },
      totals: [
        { name: "instructions", unit: "", whole: false, at: Float64Array.of(0, 6, 10, 20), sum: Float64Array.of(0, 60, 100, 150) },
        { name: "read from disks", unit: "B", whole: true, at: Float64Array.of(3, 9, 14), sum: Float64Array.of(512, 1024, 4096) },
      ],
    },
    spans: {
      count: rows.length, start: Float64Array.from(rows, (row) => row[1]), end: Float64Array.from(rows, (row) => row[2]),
      endKind: new Uint8Array(rows.length).fill(END_KNOWN), track: Uint32Array.from(rows, (row) => kinds.indexOf(row[0])),
      name: (i: number) => rows[i]![3], evidence: () => ({ file: 0, start: 0, end: 7, line: 1 }),
    },
  } as unknown as Boot;
};

it("sums what lies within, and counts each moment of a lane once", () => {
  const sums = sumsOf(boot(), { start: 4, end: 14 });
  expect(sums.lanes).toEqual([{ lane: "unit", count: 3, busy: 8, ns: 11 }]);
  expect(sums.names.map(({ name, count, ns, span }) => [name, count, ns, span])).toEqual([["a", 2, 8, 0], ["b", 1, 3, 1]]);
  expect([sums.silent, sums.waiting, sums.lines, sums.printed, sums.path]).toEqual([4, 2, 1, 7, 8]);
});

it("is the whole of what lies inside, and nothing of what does not", () => {
  expect(sumsOf(boot(), { start: 30, end: 40 })).toEqual({ names: [], lanes: [], silent: 0, waiting: null, lines: 0, printed: 0, path: 0, totals: [
    { name: "instructions", unit: "", least: 0, most: 0 }, { name: "read from disks", unit: "B", least: 0, most: 0 },
  ] });
  expect(sumsOf(boot(), { start: 0, end: 20 }).lanes[0]!.busy).toBe(18);
});

it("says what grew as far as it is known", () => {
  const within = (start: number, end: number) => sumsOf(boot(), { start, end }).totals.map(({ least, most }) => [least, most]);
  // Between counted moments nobody knows how many there were; requests are all there.
  expect(within(4, 14)).toEqual([[40, 150], [3584, 3584]]);
  expect(within(6, 10)).toEqual([[40, 40], [512, 512]]);
  expect(within(0, 20)).toEqual([[150, 150], [4096, 4096]]);
});

it("copies as CSV that other programs read", () => {
  const sums = { ...sumsOf(boot(), { start: 0, end: 5 }) };
  sums.names = [{ name: 'say "a", b', lane: "unit", count: 1, ns: 5, span: 0 }];
  expect(asText(sums, ",")).toBe('lane,name,count,ns\nunit,"say ""a"", b",1,5\n');
  expect(asText(sums, "\t")).toBe('lane\tname\tcount\tns\nunit\tsay "a", b\t1\t5\n');
});

import { expect, test } from "vitest";
import { makeBoot, manyInitcalls, random } from "../../test/harness/synthetic.ts";
import { Placed } from "./boot.ts";
import { isEmpty, matcher, nextMatch, parseQuery, search } from "./search.ts";

const MS = 1e6;
const placed = new Placed(makeBoot({
  spans: [
    { kind: "initcall", track: "i", name: "usb_init", start: 0, end: 3 * MS },
    { kind: "initcall", track: "i", name: "USB_hub", start: 4 * MS, end: 14 * MS },
    { kind: "initcall", track: "i", name: "mmc_init", start: 20 * MS, end: 21 * MS },
    { kind: "unit", track: "u", name: "usb.service", start: 22 * MS },
  ],
}), 0);

function found(input: string): number[] {
  const matches = matcher(parseQuery(input), placed);
  return [0, 1, 2, 3].filter(matches);
}

test("by a part of the name, in either case", () => {
  expect(found("usb")).toEqual([0, 1, 3]);
  expect(found("INIT")).toEqual([0, 2]);
  expect(found("nothing")).toEqual([]);
});

test("by a regular expression", () => {
  expect(found("/^usb_/")).toEqual([0, 1]);
  expect(found("/init$")).toEqual([0, 2]);
  expect(parseQuery("/(/").error).toBe("not a regular expression");
  expect(found("/(/")).toEqual([]);
});

test("by duration; what has no known end has no duration", () => {
  expect(found(">2ms")).toEqual([0, 1]);
  expect(found("usb >5ms")).toEqual([1]);
  expect(found("<2000us")).toEqual([2]);
  expect(found("> 0.002s <5ms")).toEqual([0]);
  expect(found(">2")).toEqual([0, 1]);
});

test("what only looks like a duration is a name", () => {
  expect(parseQuery("a->b").text).toBe("a->b");
  expect(parseQuery(">x").text).toBe(">x");
  expect(isEmpty(parseQuery("  "))).toBe(true);
  expect(isEmpty(parseQuery("x"))).toBe(false);
});

test("hostile queries and names are only text", () => {
  const next = random(4);
  const alphabet = "<>/\\()[]*+?{}|^$.ms5 \u202e\ud800é";
  for (let i = 0; i < 2000; i++) {
    const input = Array.from({ length: 1 + Math.floor(next() * 12) }, () => alphabet[Math.floor(next() * alphabet.length)]).join("");
    expect(Array.isArray(found(input))).toBe(true);
  }
});

test("a search in slices finds the same, and stops when told", async () => {
  const boot = new Placed(manyInitcalls(5000), 0);
  const query = parseQuery("driver_12");
  let pauses = 0;
  const pause = () => { pauses++; return Promise.resolve(); };
  const result = await search(query, [boot], () => false, pause);
  const matches = matcher(query, boot);
  const expected = Array.from({ length: boot.boot.spans.count }, (_, i) => i).filter(matches);
  expect([...result![0]!.ids]).toEqual(expected);
  expect(expected.length).toBeGreaterThan(10);
  expect(result![0]!.flags.reduce((a, b) => a + b, 0)).toBe(expected.length);
});

test("matches follow one another through both boots, and round again", () => {
  const lists = [{ boot: 1, ids: Uint32Array.of(3, 9) }, { boot: 0, ids: Uint32Array.of(2, 5, 7) }];
  const walk = (by: number, count: number) => {
    let selected: { boot: number; span: number } | null = { boot: 0, span: 5 };
    return Array.from({ length: count }, () => { selected = nextMatch(lists, selected, by, () => 0); return `${selected!.boot}:${selected!.span}`; });
  };
  expect(walk(1, 5)).toEqual(["0:7", "1:3", "1:9", "0:2", "0:5"]);
  expect(walk(-1, 5)).toEqual(["0:2", "1:9", "1:3", "0:7", "0:5"]);
  expect(nextMatch(lists, { boot: 0, span: 6 }, 1, () => 0)).toEqual({ boot: 0, span: 7 });
  expect(nextMatch([lists[1]!], null, 1, () => 4)).toEqual({ boot: 0, span: 5 });
  expect(nextMatch([lists[1]!], null, 1, () => 5)).toEqual({ boot: 0, span: 5 });
  expect(nextMatch([{ boot: 0, ids: new Uint32Array() }], null, 1, () => 0)).toBeNull();
});

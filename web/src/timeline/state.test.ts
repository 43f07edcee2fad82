import { expect, test } from "vitest";
import { random } from "../../test/harness/synthetic.ts";
import { format, NOTHING, parse, type State } from "./state.ts";

test("nothing is no text", () => {
  expect(format(NOTHING)).toBe("");
  expect(parse("")).toEqual(NOTHING);
});

test("what is written is read again", () => {
  const state: State = {
    view: { start: -1_000_000, end: 2_499_000_000 }, selection: { boot: 1, span: 39_419 }, query: "/usb~(é)&=#/ >5ms", filter: true,
    toggled: ["function/pid 1", "1:console"], alignment: "kernel-entry", measure: { start: 1000, end: 5000 },
    hidden: ["console"], pinned: ["unit", "1:function/pid~1"],
  };
  const text = format(state);
  expect(parse(text)).toEqual(state);
  expect(format(parse(text))).toBe(text);
  expect(text).toMatch(/^[\w\-.!~*'()%]+$/);
});

test("views are short, and the same again and again", () => {
  const next = random(5);
  for (let i = 0; i < 500; i++) {
    const start = (next() - 0.2) * 1e11;
    const length = 10 ** (2 + next() * 9);
    const text = format({ ...NOTHING, view: { start, end: start + length } });
    expect(text.length).toBeLessThan(32);
    const back = parse(text).view!;
    expect(Math.abs(back.start - start)).toBeLessThan(Math.max(1, length * 1e-3));
    expect(Math.abs(back.end - back.start - length)).toBeLessThan(Math.max(1, length * 1e-3));
    expect(format(parse(text))).toBe(text);
  }
});

test("nonsense is left out", () => {
  for (const text of ["v", "v1", "v1_0", "v1_x", "sx", "s1.7", "m_", "q%E0%A4%A", "~~~", "zzz", "s99999999999", "v1e9_5"]) {
    const state = parse(text);
    expect(state.view).toBeNull();
    expect(state.selection).toBeNull();
    expect(state.query).toBe("");
  }
  expect(parse("qa\ud800").query).toBe("a\ud800");
  expect(format({ ...NOTHING, query: "a\ud800" })).toBe("qa%EF%BF%BD");
});

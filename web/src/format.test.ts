import { expect, it } from "vitest";
import { bytes, change, count, duration, moment, percent, shellWord, tickStep, times } from "./format.ts";

it("shows durations in four digits", () => {
  expect([0, 999, 1000, 999_949, 999_950, 1_002_000, 54_290_000, 999_949_999, 1e9, -2e9].map(duration)).toEqual([
    "0 ns", "999 ns", "1.000 µs", "999.9 µs", "1.000 ms", "1.002 ms", "54.29 ms", "999.9 ms", "1.000 s", "−2.000 s",
  ]);
  expect([change(5e6), change(-5e6), change(0)]).toEqual(["+5.000 ms", "−5.000 ms", "0 ns"]);
});

it("shows moments of a wall clock as logs do", () => {
  const ns = 1_795_266_246_196_580_000;
  expect([moment(ns), moment(ns, 1e6), moment(ns, 1e8), moment(ns, 1e9)]).toEqual(["13:04:06.196580", "13:04:06.197", "13:04:06.2", "13:04:06"]);
  expect(moment(1_795_266_299_960_000_000, 1e8)).toBe("13:05:00.0");
});

it("shows moments as exactly as needed", () => {
  expect([moment(1_234_567_890), moment(1_234_567_890, 1e8), moment(-5e8, 1e9)]).toEqual(["1.234568 s", "1.2 s", "−1 s"]);
});

it("shows other numbers", () => {
  expect(count(1234567)).toBe("1\u00a0234\u00a0567");
  expect(percent(0.6204)).toBe("62.0 %");
  expect([times(5177, 1043), times(100, 99), times(1, 0)]).toEqual(["5.0×", "1.010×", null]);
  expect([bytes(12), bytes(1500), bytes(2_000_000)]).toEqual(["12 B", "1.5 kB", "2.0 MB"]);
  expect([1, 3, 700, 1e9 + 1].map(tickStep)).toEqual([1, 5, 1000, 2e9]);
});

it("quotes what a shell would take apart", () => {
  expect(["runs/kiosk", "bootdelay=0", "größe"].map(shellWord)).toEqual(["runs/kiosk", "bootdelay=0", "größe"]);
  expect(["a b", "it's", "$(id)", "", "#x"].map(shellWord)).toEqual(["'a b'", "'it'\\''s'", "'$(id)'", "''", "'#x'"]);
});

import { describe, expect, it } from "vitest";
import { synthetic } from "../../test/synthetic.ts";
import { consoleFile, FileLines } from "./lines.ts";

const boot = synthetic({
  tracks: [["console", ""], ["initcall", ""]],
  text: "U-Boot\n\nStarting kernel\ncalling a\na returned\nlogin:",
  lines: [1, 3, 4, 4],
  spans: [[0, "U-Boot", 0, 1], [0, "Starting kernel", 10, 11], [1, "a", 20, 30], [0, "calling a", 20, 21]],
});
const lines = new FileLines(boot, 0);

describe("lines of a file", () => {
  it("knows what was printed at a moment", () => {
    expect([-1, 0, 9, 10, 25, 1e9].map((ns) => lines.lineAtTime(ns))).toEqual([null, 0, 0, 2, 3, 3]);
  });

  it("finds the span of a line, the telling one of several", () => {
    expect([0, 1, 2, 3, 5].map((line) => lines.spanAtLine(line))).toEqual([0, 0, 1, 2, 2]);
  });

  it("knows no time of a line that no span begins with", () => {
    expect([0, 1, 2].map((line) => lines.timeOfLine(line))).toEqual([0, null, 10]);
  });

  it("knows nothing of a file without spans", () => {
    const other = new FileLines(boot, 1);
    expect([other.lineAtTime(5), other.spanAtLine(0), other.timeOfLine(0)]).toEqual([null, null, null]);
  });

  it("takes the file with the console for the console", () => {
    expect(consoleFile(boot)).toBe(0);
  });
});

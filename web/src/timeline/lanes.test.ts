import { expect, test } from "vitest";
import { makeBoot, phase, sampleBoot, type SpanSpec } from "../../test/harness/synthetic.ts";
import { align, alignments, bridges } from "./compare.ts";
import { Placed } from "./boot.ts";
import { amount, chartsOf, roundUp } from "./counters.ts";
import { selfTime } from "./facts.ts";
import { laneOf, lanesOf, type SpanLane } from "./lanes.ts";
import { layOut, layOutWithin, placeOf, ROW, segmentAt, segmentsIn } from "./layout.ts";
import { edgeNear, nearest } from "./measure.ts";

function spanLanes(placed: Placed): SpanLane[] {
  return lanesOf(placed).filter((lane): lane is SpanLane => lane.type === "spans");
}

test("every span is in exactly one lane, and found there", () => {
  const placed = new Placed(sampleBoot(), 0);
  const lanes = spanLanes(placed);
  const ids = lanes.flatMap((lane) => [...lane.ids]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(placed.boot.spans.count);
  for (const id of ids) {
    const lane = laneOf(lanes, 0, id)!;
    const row = lane.row(lane.rowOf(id));
    expect([...row.ids]).toContain(id);
  }
});

test("processes stand under the one that started them", () => {
  const spans: SpanSpec[] = ["init", "udevd", "sh", "worker"].map((name, i) => ({ kind: "process", track: "processes", name, start: i, end: 100 }));
  const placed = new Placed(makeBoot({ spans, links: [[0, 1, 1], [0, 2, 1], [1, 3, 1]] }), 0);
  const [lane] = spanLanes(placed);
  const labels = [0, 1, 2, 3].map((at) => lane!.label(at)!);
  expect(labels.map(({ span, depth }) => `${" ".repeat(depth)}${placed.boot.spans.name(span)}`)).toEqual(["init", " udevd", "  worker", " sh"]);
});

test("device probes have their own lane; several threads one each", () => {
  const spans: SpanSpec[] = [
    { kind: "initcall", track: "initcalls", name: "a", start: 0, end: 9 }, { kind: "initcall", track: "device probes", name: "b", start: 1, end: 5 },
    { kind: "function", track: "pid 1", name: "c", start: 0, end: 9 }, { kind: "function", track: "pid 2", name: "d", start: 1, end: 5 },
    { kind: "new-kind", track: "x", name: "e", start: 1, end: 5 },
  ];
  const lanes = spanLanes(new Placed(makeBoot({ spans }), 0));
  expect(lanes.map((lane) => [lane.title, lane.children.map((child) => child.title)])).toEqual([
    ["initcalls", []], ["devices", []], ["functions", ["pid 1", "pid 2"]], ["new-kind", []]]);
});

test("a filter leaves only what was found; then all is there again", () => {
  const placed = new Placed(sampleBoot(), 0);
  const lane = spanLanes(placed).find((one) => one.kind === "initcall")!;
  const all = lane.ids.length;
  const found = new Uint8Array(placed.boot.spans.count);
  for (const id of lane.ids.slice(10, 15)) found[id] = 1;
  lane.keep(found);
  expect(lane.ids.length).toBe(5);
  expect(lane.load.begun(-Infinity, Infinity)).toBe(5);
  lane.keep(null);
  expect(lane.ids.length).toBe(all);
});

test("segments do not overlap, and each height belongs to the one that is there", () => {
  for (const boots of [[sampleBoot()], [sampleBoot(0.7), sampleBoot()]]) {
    const lanes = boots.flatMap((boot, i) => lanesOf(new Placed(boot, i)));
    const layout = layOut(lanes);
    let foot = 0;
    for (const segment of layout.segments) {
      expect(segment.y).toBeGreaterThanOrEqual(foot);
      foot = segment.y + segment.rows * segment.rowHeight;
      const at = segmentAt(layout, segment.y + segment.rowHeight * (segment.rows - 1) + 1);
      expect(at).toEqual({ segment, row: segment.rows - 1 });
    }
    expect(layout.height).toBeGreaterThanOrEqual(foot);
    expect(segmentsIn(layout, 0, layout.height)).toEqual(layout.segments);
  }
});

test("on paper lanes are closed until all fit, and open again on the screen", () => {
  const lanes = lanesOf(new Placed(sampleBoot(), 0));
  const was = layOut(lanes);
  for (const height of [was.height, was.height - 1, was.height / 2, 0]) {
    const fitting = layOutWithin(lanes, height);
    // What has only one row cannot be any smaller.
    const least = fitting.segments.every(({ mode, rows, rowHeight }) => mode !== "rows" || rows * rowHeight <= ROW);
    expect(fitting.height <= height || least).toBe(true);
    expect(new Set(fitting.segments.map(({ lane }) => lane.key)).size).toBeGreaterThanOrEqual(lanes.filter((lane) => lane.type !== "spans" || lane.ids.length > 0).length);
    expect(layOut(lanes)).toEqual(was);
  }
});

test("a span in a closed lane is shown where its lane is", () => {
  const placed = new Placed(sampleBoot(), 0);
  const lanes = lanesOf(placed);
  const lane = spanLanes(placed).find((one) => one.kind === "initcall")!;
  const own = lanes.find((one) => one.key === lane.key) as SpanLane;
  expect(placeOf(layOut(lanes), own, own.ids[3]!)!.exact).toBe(true);
  own.collapsed = true;
  expect(placeOf(layOut(lanes), own, own.ids[3]!)!.exact).toBe(false);
});

test("the time of its own is what its calls leave over; another thread's are not its calls", () => {
  const call = (name: string, start: number, end: number, pid: string): SpanSpec => ({ kind: "initcall", track: "initcalls", name, start, end, args: [["pid", pid]] });
  const placed = new Placed(makeBoot({ spans: [call("outer", 0, 100, "1"), call("inner", 10, 30, "1"), call("deeper", 12, 20, "1"), call("async", 40, 60, "9"), call("late", 90, 120, "9")] }), 0);
  const [lane] = spanLanes(placed);
  const named = (name: string) => [0, 1, 2, 3, 4].find((i) => placed.boot.spans.name(i) === name)!;
  expect(selfTime(lane!, named("outer"))).toBe(80);
  expect(selfTime(lane!, named("inner"))).toBe(12);
  expect(selfTime(lane!, named("deeper"))).toBeNull();
});

test("open spans reach to the end, unknown ones are moments", () => {
  const placed = new Placed(makeBoot({ spans: [
    { kind: "process", track: "p", name: "open", start: 5, end: 5, open: true }, { kind: "process", track: "p", name: "lost", start: 6 },
    { kind: "process", track: "p", name: "known", start: 7, end: 90 }] }), 0);
  expect([...placed.end]).toEqual([90, 6, 90]);
});

test("boots are aligned at what both have passed; the report's own keeps its times", () => {
  const make = (kernel: number, ready: number) => makeBoot({ spans: [], ready,
    phases: [phase("bootloader", "boot loader", 0, kernel), phase("kernel", "kernel", kernel, ready)],
    marks: [["kernel starts", "kernel-entry", kernel], ["ready", "ready", ready], [`only ${ready}`, null, 5]] });
  const boots = [new Placed(make(300, 1000), 1), new Placed(make(100, 500), 0)];
  const list = alignments(boots);
  expect(list.map(({ key }) => key)).toEqual(["start", "kernel-entry", "ready"]);
  align(boots, list[1]!);
  expect(boots.map((placed) => placed.shift)).toEqual([-200, 0]);
  expect(bridges(boots[0]!, boots[1]!).map(({ name, delta, verdict, upper, lower }) => ({ name, delta, verdict, upper, lower }))).toEqual([
    { name: "bootloader", delta: -200, verdict: "good", upper: [-200, 100], lower: [0, 100] },
    { name: "kernel", delta: -300, verdict: "good", upper: [100, 800], lower: [100, 500] },
  ]);
});

test("counters that belong together make one chart", () => {
  const counter = (name: string, unit: string, values: number[]) => ({ name, unit, values, at_ns: values.map((_, i) => i * 10), clock: 0 });
  const charts = chartsOf([counter("cpu user", "%", [10, 60]), counter("cpu idle", "%", [90, 40]), counter("cpu system", "%", [0, 20]),
    counter("memory total", "kB", [1000, 1000]), counter("memory free", "kB", [900, 500]), counter("memory cached", "kB", [50, 100]), counter("Vcore", "V", [0.9, 1.1])]);
  expect(charts.map(({ title, most, series }) => [title, most, series.map(({ name, values }) => [name, ...values])])).toEqual([
    ["CPU", 100, [["system", 0, 20], ["user", 10, 60]]],
    ["memory", 1000, [["used", 50, 400], ["cached", 50, 100]]],
    ["Vcore", 1.5, [["Vcore", 0.9, 1.1]]]]);
  const [cpu] = charts;
  expect(cpu!.series[1]!.value(-1)).toBeNaN();
  expect(cpu!.series[1]!.value(9)).toBe(10);
  expect(cpu!.series[1]!.most(0, 10)).toBe(10);
  expect(cpu!.series[1]!.most(5, 11)).toBe(60);
  expect([roundUp(0), roundUp(7), roundUp(1.01), roundUp(999)]).toEqual([1, 8, 1.5, 1000]);
  expect(amount(18_300, "kB/s")).toBe("18.3 MB/s");
});

test("points snap to the nearest edge within reach", () => {
  const lane = spanLanes(new Placed(makeBoot({ spans: [{ kind: "kernel", track: "k", name: "a", start: 10, end: 50 }, { kind: "kernel", track: "k", name: "b", start: 60, end: 90 }] }), 0))[0]!;
  expect(edgeNear(lane.row(0), 12, 5)).toBe(10);
  expect(edgeNear(lane.row(0), 54, 5)).toBe(50);
  expect(edgeNear(lane.row(0), 57, 5)).toBe(60);
  expect(edgeNear(lane.row(0), 75, 5)).toBeNull();
  expect(nearest([1, 8, 20], 10, 3)).toBe(8);
  expect(nearest([1, 8, 20], 14, 3)).toBeNull();
});

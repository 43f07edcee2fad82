// A page with the timeline and made-up boots, for measuring and looking:
// #sample, #two, #initcalls, #million, #hostile, #empty.

import { Timeline } from "../../src/timeline/timeline.ts";
import { watchTheme } from "../../src/theme.ts";
import type { TimelineBoot } from "../../src/timeline/types.ts";
import { makeBoot, manyCalls, manyInitcalls, sampleBoot } from "./synthetic.ts";

const BOOTS: Record<string, () => TimelineBoot[]> = {
  sample: () => [sampleBoot()],
  two: () => [sampleBoot(0.7, 7, 300), sampleBoot(1, 7, 400)],
  initcalls: () => [manyInitcalls()],
  million: () => [manyCalls()],
  hostile: () => [makeBoot({ ready: 1e9, spans: ["</script><img src=x onerror=alert(1)>\u202egnp.exe\u001b[31m red", "x".repeat(1_000_000), "\ud800\u0000"]
    .map((name, i) => ({ kind: "kernel", track: `<b>${i}`, name, start: i * 3e8 + (i ? 6e8 : 0), end: i * 3e8 + (i ? 7e8 : 6e8), args: [["<i>", "<u>"]] })) })],
  empty: () => [makeBoot({ spans: [] })],
};

watchTheme();
const [name = "sample", state] = location.hash.slice(1).split("!");
const boots = (BOOTS[name] ?? BOOTS["sample"]!)();
const events: unknown[] = [];
const began = performance.now();
const timeline = new Timeline(boots, {
  onSelect: (selection) => events.push(["select", selection]),
  onTime: () => {},
  onFinding: (index) => events.push(["finding", index]),
  onThing: (thing) => events.push(["thing", thing]),
});
document.body.append(timeline.element);
const built = performance.now() - began;
if (state) timeline.restore(state);
requestAnimationFrame(() => requestAnimationFrame(() => {
  Object.assign(window, { ready: { built, painted: performance.now() - began, spans: boots[0]!.spans.count } });
}));
Object.assign(window, { timeline, events });

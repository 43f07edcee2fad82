// The critical path: what the end of the boot waited for, step by step, and what each step is
// worth: how much sooner the end would come without it, before another chain takes over.

import { button, el, nodes, section, table, type Child } from "../dom.ts";
import { Chain } from "../chain.ts";
import { duration, moment } from "../format.ts";
import type { Boot, CriticalPath, Head, Page, Step } from "../model.ts";
import { phaseName } from "./splits.ts";

/** Moments that belong together, ns. */
const NEAR = 1e6;

/** What runs beside the path, with least slack first. */
const BESIDE = 8;

export function criticalPath(page: Page): HTMLElement | null {
  const { head, boots, go } = page;
  const { path } = head;
  if (!path || path.steps.length === 0) return null;
  const boot = boots[0]!;
  const chain = new Chain(boot.spans, boot.links, path);
  const link = (span: number | null, name: string): Child =>
    span === null ? name : button(name, "show it in the timeline", () => go.show({ boot: 0, span }), "link");
  const row = (step: Step, idle: number): Child[] => {
    const took = Math.max(0, step.end_ns - step.start_ns);
    const saved = (less: number) => (step.span === null || took === 0 ? "–" : duration(Math.round(chain.saved(step.span, less))));
    return [link(step.span, step.name), moment(step.start_ns, 1e6), before(step, idle), took === 0 ? "–" : duration(took), saved(took / 2), saved(took)];
  };
  // Phases without a step of the path: those before it, and the initramfs between the kernel's and systemd's.
  const rows: Child[][] = [];
  let done = -Infinity;
  for (const step of path.steps) {
    const between = head.phases.filter((phase) => phase.start_ns >= done - NEAR && phase.end_ns <= step.start_ns + NEAR);
    rows.push(...between.map((phase) =>
      [phaseName(phase.name, phase.title), moment(phase.start_ns, 1e6), "–", duration(phase.end_ns - phase.start_ns), "", ""]));
    // A path begins behind the phases before it.
    const within = done === -Infinity ? 0 : between.reduce((sum, phase) => sum + phase.end_ns - phase.start_ns, 0);
    rows.push(row(step, Math.max(0, step.gap_ns - within)));
    done = step.end_ns;
  }
  const ahead = path.last_gap_ns > 1e6 && el("p", { class: "after-table" },
    `${duration(path.last_gap_ns)} passed between the last step and ${endOf(path)}; no ordering explains it.`);
  const near = el("div", {}, nodes(beside(boot, chain, path, link)));
  // Names can stand in the evidence.
  void boot.evidence.then(() => near.replaceChildren(...nodes(beside(boot, chain, path, link))));
  return section("path", "critical path",
    `What ${endOf(path)} waited for. “Half” and “without” are estimates: how much sooner it would come if the step took half `
    + "its time, or none, until another chain takes over. Orderings stay, and CPU and disk are not shared out anew.",
    table([["step", "text"], ["at", "number"], ["idle before", "number wide"], ["took", "number"], ["half", "number"], ["without", "number"]],
      rows),
    ahead, near);
}

/** What passed before a step began, and with what. */
function before(step: Step, idle: number): Child {
  if (idle < 1e3) return "–";
  return el("span", { title: step.during ?? "no ordering explains it" }, duration(idle));
}

/** What would be on the path next. */
function beside(boot: Boot, chain: Chain, path: CriticalPath, link: (span: number | null, name: string) => Child): Child[] {
  const on = new Set(path.steps.map((step) => step.span));
  const { spans } = boot;
  const near = [...chain.slacks()].filter(([span]) => !on.has(span) && spans.end[span]! > spans.start[span]!)
    .sort((a, b) => a[1] - b[1] || a[0] - b[0]).slice(0, BESIDE);
  if (near.length === 0) return [];
  return [el("h3", {}, "close behind"),
    table([["name", "text"], ["took", "number"], ["slack", "number"]], near.map(([span, slack]) =>
      [link(span, spans.name(span)), duration(spans.end[span]! - spans.start[span]!), duration(Math.round(slack))])),
    el("p", { class: "after-table" }, "Slack: how much later it could have been over without the end being later.")];
}

/** What the path leads to. */
export function endOf({ to }: CriticalPath): string {
  return to === null ? "the last of them" : to === "ready" ? "ready" : to.replaceAll("-", " ");
}

/** What is said of a span that something waits for; nothing where the path is not known. */
export function worth(head: Head, boot: Boot): (span: number) => [string, Child][] {
  const { path } = head;
  if (!path) return () => [];
  const chain = new Chain(boot.spans, boot.links, path);
  const slacks = chain.slacks();
  const on = new Set(path.steps.map((step) => step.span));
  return (span) => {
    if (!chain.has(span)) return [];
    const took = boot.spans.end[span]! - boot.spans.start[span]!;
    const slack = slacks.get(span);
    if (slack === undefined) return [["critical path", `${endOf(path)} does not wait for it`]];
    const rows: [string, Child][] = [["critical path", on.has(span) ? "it is on it" : `${duration(Math.round(slack))} of slack`]];
    if (on.has(span) && took > 0) {
      const half = Math.round(chain.saved(span, took / 2));
      rows.push(["if it took half", `${endOf(path)} ${duration(half)} sooner, at ${moment(path.end_ns - half, 1e6)} (estimate)`]);
    }
    return rows;
  };
}

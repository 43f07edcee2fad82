// What the details panel says of things in the timeline that are no spans.

import { el, type Child } from "../dom.ts";
import { count, duration, moment, percent } from "../format.ts";
import type { Boot, Part } from "../model.ts";
import type { Thing } from "../timeline/types.ts";

export interface About {
  boot: number;
  name: string;
  /** Where it begins, ns. */
  from: number;
  facts: [string, Child][];
}

/** What is known of it; null if there is no such thing. */
export function thingOf(boots: Boot[], { kind, boot, index, part }: Thing): About | null {
  const head = boots[boot]?.head;
  if (!head) return null;
  const about = (name: string, from: number, to: number | null, more: [string, Child][] = []): About => ({
    boot, name, from,
    facts: [["took", to !== null && duration(to - from)], ["from", moment(from)], ["to", to !== null && moment(to)], ...more],
  });
  const stretch = (name: string, of: Part) => about(name, of.start_ns, of.end_ns,
    [["instructions", of.instructions !== null && count(of.instructions)]]);
  const phase = head.phases[index];
  if (kind === "phase") return phase ? stretch(phase.title, phase) : null;
  if (kind === "part") {
    const found = phase?.parts[part ?? 0];
    return found ? stretch(found.name, found) : null;
  }
  if (kind === "gap") {
    const gap = head.gaps[index];
    return gap ? about("silence on the console", gap.start_ns, gap.end_ns, [
      ["waiting", gap.idle_share !== null && percent(gap.idle_share)],
      ["after", el("code", {}, gap.before.trim() || "(nothing)")], ["until", el("code", {}, gap.after.trim() || "(nothing)")],
    ]) : null;
  }
  if (kind === "mark") {
    const mark = head.marks[index];
    return mark && mark.at_ns !== null ? about(mark.name, mark.at_ns, null, [
      ["is", mark.milestone], ["read from", `${mark.evidence.file}:${mark.evidence.line}`]]) : null;
  }
  const finding = head.findings[index];
  return finding?.at_ns ? about(finding.title, finding.at_ns[0], finding.at_ns[1],
    [["why", finding.why], ["fix", finding.fix], ["risk", finding.risk]]) : null;
}

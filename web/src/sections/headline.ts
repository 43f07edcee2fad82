// The first line of the page, and the time to ready in large digits: how sure it is, and
// against what it stands.

import { el } from "../dom.ts";
import { change, count, duration, times } from "../format.ts";
import { extentOf, type Comparison, type Facts, type Head, type Page } from "../model.ts";

/** The first line: what was booted, and what kind of time this is. */
export function topbar({ head }: Page, ...controls: HTMLElement[]): HTMLElement {
  return el("header", { class: "brand" }, el("span", { class: "logo" }, "bootlap"),
    el("h1", { title: head.target.startsWith("/") && head.target }, nameOf(head.target)),
    el("span", { class: "label", title: timeNote(head.time) }, `${head.time || "unlabelled"} time`), ...controls);
}

export function headline({ head }: Page): HTMLElement {
  const ready = head.ready_ns;
  const old = head.before?.ready_ns ?? null;
  const [start, end] = extentOf(head);
  const number = ready !== null
    ? el("p", { class: "headline" }, bigNumber(ready), el("span", {}, " to ready"))
    : head.awaited
      ? el("p", { class: "headline" }, el("strong", { class: "bad" }, "not ready"),
        el("span", {}, ` seen for ${duration(end - start)}`))
      : el("p", { class: "headline" }, head.extent || head.phases.length > 0
        ? [...bigNumber(end - start), el("span", {}, endOf(head))] : el("span", {}, "nothing says when"));
  return el("div", { class: "number-block" }, number,
    ready !== null && old !== null ? ratioLine(old, ready) : head.before && notBothReady(head, head.before), head.comparison && changes(head.comparison),
    el("p", { class: "facts" }, facts(head).map((fact) => el("span", {}, fact))));
}

/** What a boot's end is, where nobody said what ready looks like. */
function endOf({ extent }: Page["head"]): string {
  if (!extent?.end) return " to the last line";
  const more = extent.last_ns - extent.end_ns;
  return ` to ${extent.end}` + (more >= 1e6 ? `; the log goes on for ${duration(more)}` : "");
}

/** A target's name; of a path that was given instead, what tells it apart. */
function nameOf(target: string): string {
  if (!target.startsWith("/")) return target || "this boot";
  return target.split("/").filter(Boolean).slice(-2).join("/");
}

function bigNumber(ns: number): HTMLElement[] {
  const [value, unit] = duration(ns).split(" ");
  return [el("strong", {}, value), el("em", {}, unit)];
}

function ratioLine(old: number, now: number): HTMLElement {
  const faster = now <= old;
  const ratio = faster ? times(old, now) : times(now, old);
  return el("p", { class: "ratio" },
    el("b", { class: faster ? "good" : "bad" },
      duration(now) === duration(old) ? "as fast as before" : `${ratio} ${faster ? "faster" : "slower"}`),
    el("span", {}, `${duration(old)} → ${duration(now)}`));
}

/** Of two boots that did not both get ready: logs that end anywhere prove no change. */
function notBothReady(now: Facts, old: Facts): HTMLElement {
  const line = (text: string, bad = false) => el("p", { class: "ratio" }, el("b", { class: bad && "bad" }, text));
  if (now.ready_ns !== null) return line(old.awaited ? "before, it did not get ready" : "nothing says when it was before");
  if (now.awaited) return line(old.ready_ns !== null ? "no longer gets ready" : "not before, either", true);
  return line("nothing says when both were ready");
}

/** What shrank most and what grew most. */
function changes({ parts }: Comparison): HTMLElement {
  const sorted = [...parts].sort((a, b) => a.delta_ns - b.delta_ns);
  const most = [sorted[0], sorted.at(-1)].filter((part) => part && Math.abs(part.delta_ns) >= 1000);
  return el("ul", { class: "changes" }, [...new Set(most)].map((part) =>
    part && el("li", {}, el("b", { class: part.delta_ns < 0 ? "good" : "bad" }, change(part.delta_ns)), ` ${part.name}`)));
}

function timeNote(time: string): string {
  if (time === "simulated") {
    return "Time of an emulated machine that counts instructions: exact and repeatable, and not the time of a board.";
  }
  if (time === "measured") return "Wall-clock time.";
  return "The kind of time is not known.";
}

function facts(head: Head): string[] {
  const list = [];
  if (head.instructions !== null) list.push(`${count(head.instructions)} instructions`);
  if (head.identical === true) list.push("booted twice, bit for bit the same");
  if (head.identical === false) list.push("booted twice, not the same");
  // A boot alone: the spread of others is not in it.
  if (head.identical === null && !head.before) {
    list.push(head.time === "simulated" ? "booted once" : "one boot: how much others differ is not known");
  }
  if (head.before && head.before.time !== head.time) {
    list.push(`before is ${head.before.time} time: the two do not compare`);
  }
  if (head.machine) list.push(head.machine);
  return list;
}

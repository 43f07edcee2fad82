// The time to ready in large digits, and what kind of time that is.

import { el } from "../dom.ts";
import { count, duration, times } from "../format.ts";
import { extentOf, type Head, type Page } from "../model.ts";

export function headline({ head }: Page): HTMLElement {
  const ready = head.ready_ns;
  const old = head.before?.ready_ns ?? null;
  const [start, end] = extentOf(head);
  const number = ready !== null
    ? el("p", { class: "headline" }, bigNumber(ready), el("span", {}, " to ready"))
    : head.awaited
      ? el("p", { class: "headline" }, el("strong", { class: "bad" }, "not ready"),
        el("span", {}, ` seen for ${duration(end - start)}`))
      : el("p", { class: "headline" }, bigNumber(end - start), el("span", {}, endOf(head)));
  return el("header", {},
    el("p", { class: "brand" }, el("span", {}, "bootlap"),
      el("span", { class: "label", title: timeNote(head.time) }, `${head.time || "unlabelled"} time`)),
    el("h1", { title: head.target.startsWith("/") && head.target }, nameOf(head.target)), number,
    head.before && ready !== null && old !== null && ratioLine(old, ready),
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
      now === old ? "as fast as before" : `${ratio} ${faster ? "faster" : "slower"}`),
    el("span", {}, `${duration(old)} → ${duration(now)}`));
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
  if (head.before && head.before.time !== head.time) {
    list.push(`before is ${head.before.time} time: the two do not compare`);
  }
  if (head.machine) list.push(head.machine);
  return list;
}

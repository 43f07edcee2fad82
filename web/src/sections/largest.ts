// The longest spans as a table: the timeline for those who cannot see it, who
// print it, or who would rather read.

import { button, el, section, table } from "../dom.ts";
import { duration, moment } from "../format.ts";
import { END_KNOWN, type Page, type Spans } from "../model.ts";

const SHOWN = 40;

export function largest({ boots, go }: Page): HTMLElement | null {
  const { spans, head, evidence } = boots[0]!;
  const kinds = head.tracks.map((track) => track.kind);
  const top = longest(spans, SHOWN, (i) => kinds[spans.track[i]!] !== "console");
  if (top.length === 0) return null;
  const row = (i: number) => [
    button(duration(spans.end[i]! - spans.start[i]!), "show it in the timeline", () => {
      go.show({ boot: 0, span: i });
    }, "link"),
    moment(spans.start[i]!, 1e6), kinds[spans.track[i]!] ?? "", el("code", {}, spans.name(i).trim().slice(0, 200)),
  ];
  const list = el("div", { tabindex: "0" });
  // Names can stand in the evidence.
  void evidence.then(() => list.replaceChildren(table(
    [["time", "number"], ["from", "number"], ["lane", ""], ["what", "text"]], top.map(row), `the ${top.length} longest spans`)));
  return section("largest", "longest spans", "", el("details", { class: "more" },
    el("summary", {}, "the timeline as a table"), list));
}

/** The spans that took longest, the longest first, of those that `counts`. */
export function longest(spans: Spans, most: number, counts: (i: number) => boolean): number[] {
  const length = (i: number) => spans.end[i]! - spans.start[i]!;
  let top: number[] = [];
  let least = 0;
  const cut = () => {
    top = top.sort((a, b) => length(b) - length(a) || a - b).slice(0, most);
    if (top.length === most) least = length(top[most - 1]!);
  };
  for (let i = 0; i < spans.count; i++) {
    if (spans.endKind[i] !== END_KNOWN || length(i) <= least || !counts(i)) continue;
    top.push(i);
    // Sorting now and then keeps one pass over a million spans cheap.
    if (top.length >= 16 * most) cut();
  }
  cut();
  return top;
}

// The lines that something was read from, and where they stand.

import { el } from "../dom.ts";
import type { Boot, Place } from "../model.ts";

/** More than this of one line stays folded. */
export const LONGEST_LINE = 2_000;

/** A place and what stands there, as soon as the evidence is unpacked. */
export function evidenceFigure(boot: Boot, place: Place): HTMLElement {
  const figure = el("figure", { class: "evidence" }, el("figcaption", {}, `${place.file}:${place.line}`));
  const show = (text: string | null) => {
    if (text !== null) figure.append(el("pre", {}, text.replace(/\r?\n$/, "").split(/\r*\n\r*/).map(lineNode)));
  };
  if (place.text !== null && place.text !== undefined) {
    show(place.text);
  } else {
    const file = boot.head.files.findIndex((file) => file.name === place.file);
    void boot.evidence.then((evidence) => show(file < 0 ? null : evidence.text(file, place.start, place.end)));
  }
  return figure;
}

/** A line; one that is very long can be unfolded, piece by piece. */
export function lineNode(line: string): HTMLElement {
  const node = el("span", {}, line.slice(0, LONGEST_LINE));
  let shown = LONGEST_LINE;
  if (line.length <= shown) return node;
  const more = el("button", { type: "button", class: "more-bytes" });
  const label = () => { more.textContent = `… ${line.length - shown} more characters`; };
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    // The browser would lay out a megabyte without a break for seconds.
    const next = shown + 32 * LONGEST_LINE;
    more.before(el("span", { class: "rest" }, line.slice(shown, next)));
    shown = Math.min(next, line.length);
    if (shown < line.length) label();
    else more.remove();
  });
  label();
  node.append(more);
  return node;
}

// All keys, as `?` shows them.

import { openDialog } from "../dialog.ts";
import { facts } from "../dom.ts";

const KEYS: [string, string][] = [
  ["← → or A D", "earlier, later"], ["↑ ↓, Page up and down", "lanes up, down"], ["W S, wheel, pinch", "zoom in, out"], ["+ −", "the same, in steps"],
  ["0, Home", "whole boot"], ["N P", "next, previous span of the row"], ["Enter, F", "zoom to what is selected"],
  ["drag", "select a range of time; with Shift, or over the names, move"], ["R", "the range of what is selected, or of what is in view"],
  ["[ ]", "the range begins, ends with what is selected, or with the view"], ["M", "the next two clicks are a range"],
  ["/", "find; ↓ goes into the list of matches"], ["U", "undo"], ["Esc", "let go: the range, the selection, the search"], ["?", "these keys"],
];

export function openKeys(): void {
  openDialog("keys", facts(KEYS),
    "The timeline takes them while it has the focus: click into it, or press Tab until it is framed. Then the wheel zooms, and does not scroll the page.");
}

/** `?` works wherever nothing is typed into. */
export function listenForHelp(): void {
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.key !== "?" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    openKeys();
  });
}

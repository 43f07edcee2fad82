// Which lanes are shown, and which stand first.

import { openDialog } from "../dialog.ts";
import { el } from "../dom.ts";
import type { Actions } from "./toolbar.ts";

export function openTracks(actions: Pick<Actions, "tracks" | "track">): void {
  const row = ({ key, title, shown, pinned }: ReturnType<Actions["tracks"]>[number]) => {
    const show = el("input", { type: "checkbox" });
    const pin = el("input", { type: "checkbox" });
    [show.checked, pin.checked] = [shown, pinned];
    const change = () => actions.track(key, { shown: show.checked, pinned: pin.checked });
    for (const box of [show, pin]) box.addEventListener("change", change);
    return el("li", {}, el("label", {}, show, " ", title), el("label", { class: "pin", "aria-label": `pin ${title}` }, pin, " pin"));
  };
  openDialog("tracks", el("p", { class: "note tracks-note" }, "Pinned ones stand at the top, in the order in which they were pinned."),
    el("ul", { class: "tracks" }, actions.tracks().map(row)));
}

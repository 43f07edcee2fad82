// Which lanes are shown, and in which order: by mouse, by touch, by keys.

import { openDialog } from "../dialog.ts";
import { button, el } from "../dom.ts";
import type { Actions } from "./toolbar.ts";

export function openTracks(actions: Pick<Actions, "tracks" | "showTrack" | "moveTrack">): void {
  const said = el("p", { class: "note", role: "status" });
  const list = el("ul", { class: "tracks" });
  /** Tells the timeline where a row stands now. */
  const moved = (row: HTMLElement, title: string) => {
    const next = row.nextElementSibling as HTMLElement | null;
    actions.moveTrack(row.dataset.key!, next?.dataset.key ?? null);
    said.textContent = `${title}: ${[...list.children].indexOf(row) + 1} of ${list.children.length}`;
  };
  const rows = actions.tracks().map(({ key, title, shown }) => {
    const show = el("input", { type: "checkbox" });
    show.checked = shown;
    show.addEventListener("change", () => actions.showTrack(key, show.checked));
    const by = (step: -1 | 1, name: string, sign: string) => {
      const press = button(sign, `${title} ${name}`, () => {
        const beside = step < 0 ? row.previousElementSibling : row.nextElementSibling;
        if (!beside) return;
        if (step < 0) beside.before(row);
        else beside.after(row);
        moved(row, title);
        press.focus();
      });
      return press;
    };
    const grip = el("span", { class: "grip", "aria-hidden": "true" }, "⠿");
    const row: HTMLElement = el("li", { "data-key": key }, grip, el("label", {}, show, " ", title), by(-1, "up", "↑"), by(1, "down", "↓"));
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      drag(list, row, () => moved(row, title));
    });
    return row;
  });
  list.append(...rows);
  openDialog("tracks", el("p", { class: "note tracks-note" }, "Drag a row by its handle, or move it by its arrows."), list, said);
}

/** Moves a row to where the pointer is, until it is let go. (A moved node loses a captured pointer.) */
function drag(list: HTMLElement, row: HTMLElement, done: () => void): void {
  const move = (event: PointerEvent) => {
    const others = [...list.children].filter((one) => one !== row);
    const next = others.find((one) => { const box = one.getBoundingClientRect(); return event.clientY < box.top + box.height / 2; }) ?? null;
    if (next !== row.nextElementSibling) list.insertBefore(row, next);
  };
  const drop = () => {
    row.classList.remove("dragged");
    document.removeEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) document.removeEventListener(end, drop);
    done();
  };
  row.classList.add("dragged");
  document.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop);
}

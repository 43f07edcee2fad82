// A dialog over the page: its own focus, Escape and a click beside it close it.

import { button, el, type Child } from "./dom.ts";

/** Opens it; it is gone when it is closed, and the focus is where it was. */
export function openDialog(title: string, ...children: (Child | Child[])[]): void {
  document.querySelector("dialog")?.remove();
  const close = button("close", "", () => dialog.close());
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": "dialog-title" },
    el("h2", { id: "dialog-title" }, title), ...children, el("p", { class: "controls" }, close));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// The first line of the page: a way past everything for keyboards, and light
// or dark.

import { button, el } from "./dom.ts";
import { isDark, onThemeChange, setTheme, theme, type Theme } from "./theme.ts";

/** A link that jumps to the timeline; shown when it has the focus. The address
 * holds the view, so it must not become `#timeline`. */
export function skipLink(): HTMLElement {
  const click = (event: Event) => {
    event.preventDefault();
    const target = document.getElementById("timeline");
    target?.scrollIntoView();
    target?.querySelector<HTMLElement>("canvas[tabindex]")?.focus({ preventScroll: true });
  };
  return el("a", { class: "skip", href: "#timeline", on: { click } }, "skip to the timeline");
}

/** A button that goes round: as the system, the other one, back. */
export function themeButton(onChange: () => void): HTMLElement {
  const node: HTMLElement = button("", "", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const other: Theme = dark ? "light" : "dark";
    setTheme(theme() === "auto" ? other : "auto");
    onChange();
  }, "theme");
  const label = () => {
    node.textContent = isDark() ? "light" : "dark";
    node.setAttribute("aria-label", `switch to ${isDark() ? "light" : "dark"} colours`);
  };
  onThemeChange(label);
  label();
  return node;
}

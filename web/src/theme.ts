// Light, dark, or what the reader's system says. Colours are custom
// properties of style/theme.css; canvases ask for them here.

export type Theme = "auto" | "light" | "dark";

const listeners = new Set<() => void>();
const colors = new Map<string, string>();
let probe: HTMLElement | null = null;

/** The present value of a colour, for a canvas: `color("--kernel")`. */
export function color(name: string): string {
  let value = colors.get(name);
  if (value === undefined) {
    if (probe === null) {
      probe = document.createElement("span");
      probe.hidden = true;
      document.body.append(probe);
    }
    probe.style.color = "";
    probe.style.color = `var(${name}, gray)`;
    value = getComputedStyle(probe).color;
    colors.set(name, value);
  }
  return value;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const set = document.documentElement.dataset["theme"];
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function theme(): Theme {
  const set = document.documentElement.dataset["theme"];
  return set === "light" || set === "dark" ? set : "auto";
}

export function setTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  changed();
}

/** Calls `listener` whenever colours became others, printing included: then
 * canvases have to be drawn before it returns. */
export function onThemeChange(listener: () => void): void {
  listeners.add(listener);
}

function changed(): void {
  colors.clear();
  for (const listener of listeners) listener();
}

/** Follows the system and the printer; once, at the start. */
export function watchTheme(): void {
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", changed);
  }
}

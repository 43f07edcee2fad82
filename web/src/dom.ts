// Building the page. Everything becomes a text node or an attribute of a
// fixed name: text from evidence is never parsed as anything.

/** What a text or an element may hold; what is falsy is left out. */
export type Child = Node | string | number | null | undefined | false;

/** Element properties: `on` holds event handlers, `style` declarations (set
 * one by one, which the page's policy allows), the others are attributes. */
export interface Properties {
  on?: { [event: string]: (event: never) => void };
  style?: Record<string, string>;
  [name: string]: unknown;
}

/** Text with what would act made visible: control characters as their
 * pictures, characters that reorder or hide text as U+FFFD. The same rules as
 * crates/report/src/clean.rs. */
export function visible(text: unknown): string {
  return String(text)
    .replace(/\x1b\[[\x20-\x3f]*[\x40-\x7e]/g, "")
    .replace(/\t/g, " ")
    .replace(/[\x00-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\x7f/g, "\u2421")
    .replace(
      /[\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu,
      "\ufffd",
    );
}

/** An element. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: (Child | Child[])[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill<T extends HTMLElement | SVGElement>(node: T, properties: Properties, children: (Child | Child[])[]): T {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(properties.on ?? {})) {
        node.addEventListener(event, handler as (event: Event) => void);
      }
    } else if (name === "style") {
      for (const [key, setting] of Object.entries(properties.style ?? {})) node.style.setProperty(key, setting);
    } else {
      node.setAttribute(name, value === true ? "" : visible(value));
    }
  }
  node.append(...nodes(children));
  return node;
}

/** Children as nodes; falsy ones are left out. */
export function nodes(children: (Child | Child[])[]): Node[] {
  return children.flat()
    .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(visible(child))));
}

/** A sentence in which `code` stands between backticks, as the rules' texts have it. */
export function prose(text: string): Child[] {
  return text.split("`").map((part, at, all) => (at % 2 === 1 && at < all.length - 1 ? el("code", {}, part) : part));
}

/** A section with a heading, and a line under it that explains. */
export function section(id: string, title: string, note: Child, ...children: (Child | Child[])[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title), note && el("p", { class: "note" }, note), ...children);
}

/** A table; columns are `[heading, class]`, rows lists of cells. */
export function table(columns: [string, string][], rows: Child[][], caption?: string): HTMLElement {
  const head = el("tr", {}, columns.map(([name, kind]) =>
    // A picture's column has no name.
    name === "" ? el("td", { class: kind }) : el("th", { class: kind, scope: "col" }, name)));
  const body = rows.map((cells) => el("tr", {},
    cells.map((value, at) => el("td", { class: columns[at]?.[1] ?? "" }, value))));
  return reachable(el("div", { class: "scroll" }, el("table", {},
    caption !== undefined && el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body))));
}

/** What scrolls can be scrolled by keys. */
export function reachable(box: HTMLElement): HTMLElement {
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }).observe(box);
  return box;
}

/** Terms and what stands for them. */
export function facts(list: [string, Child][]): HTMLElement {
  return el("dl", {}, list.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** A button that is a word or two. */
export function button(text: Child | Child[], title: string, click: () => void, kind = ""): HTMLButtonElement {
  return el("button", { type: "button", title: title || null, class: kind || null, on: { click } }, text);
}

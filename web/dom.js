// Building the page. Everything becomes a text node or an attribute of a
// fixed name: text from evidence is never parsed as anything.

/** Text with what would act made visible: control characters as their
 * pictures, characters that reorder or hide text as U+FFFD. The same rules as
 * crates/report/src/clean.rs. @param {string} text @returns {string} */
function visible(text) {
  return String(text)
    // eslint-disable-next-line no-control-regex
    .replace(/\x1b\[[\x20-\x3f]*[\x40-\x7e]/g, "")
    .replace(/\t/g, " ")
    // eslint-disable-next-line no-control-regex
    .replace(/[\x00-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\x7f/g, "\u2421")
    .replace(
      /[\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu,
      "\ufffd",
    );
}

/**
 * An element. Properties: `class`, `title`, `on` (event handlers), `style`
 * (set one by one, which the page's policy allows), others as attributes.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElement}
 */
function el(tag, properties = {}, ...children) {
  return /** @type {HTMLElement} */ (fill(document.createElement(tag), properties, children));
}

/** The same for SVG. @param {string} tag @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children @returns {SVGElement} */
function svg(tag, properties = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return /** @type {SVGElement} */ (fill(node, properties, children));
}

/** @param {any} node @param {Record<string, any>} properties @param {any[]} children */
function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (name === "style") {
      for (const [key, setting] of Object.entries(value)) node.style.setProperty(key, setting);
    } else {
      node.setAttribute(name, visible(value));
    }
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

/** A section with a heading, and a line under it that explains.
 * @param {string} id @param {string} title @param {string} note
 * @param {...any} children */
function section(id, title, note, ...children) {
  const heading = el("h2", {}, title);
  return el("section", { id }, heading, note && el("p", { class: "note" }, note), ...children);
}

/** A table; columns are `[heading, class]`, rows lists of cells.
 * @param {[string, string][]} columns @param {any[][]} rows */
function table(columns, rows) {
  const cell = (/** @type {string} */ tag, /** @type {any} */ value, /** @type {number} */ at) =>
    el(tag, { class: columns[at]?.[1] ?? "" }, value);
  const head = el("tr", {}, ...columns.map(([name], at) => cell("th", name, at)));
  const body = rows.map((cells) => el("tr", {}, ...cells.map((value, at) => cell("td", value, at))));
  return el("div", { class: "scroll" },
    el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
}

/** The value of a custom property of the page. @param {string} name */
function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

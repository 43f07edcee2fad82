// A table whose rows open: a tree grid, as the ARIA practices describe it.

import { el, visible, type Child } from "../dom.ts";
import { count, duration, percent } from "../format.ts";
import type { Branch } from "./calls.ts";

/** Rows of one level that are shown at first, and with each further request. */
const SHOWN = 50;
const INDENT_PX = 16;

interface Row { element: HTMLTableRowElement; branch: Branch; level: number; open: boolean; leaf: boolean }

/** Shows branches, shares of `whole` ns; `choose` gets the name of a row that is gone to. */
export function treeGrid(label: string, time: string, branches: Branch[], whole: number, choose: (name: string) => void): HTMLElement {
  const body = el("tbody");
  const rows: Row[] = [];
  const place = (row: Row) => rows.indexOf(row);
  /** Behind the last row that is within this one. */
  const end = (row: Row) => {
    let at = place(row) + 1;
    while (at < rows.length && rows[at]!.level > row.level) at++;
    return at;
  };
  const insert = (at: number, row: Row) => {
    body.insertBefore(row.element, rows[at]?.element ?? null);
    rows.splice(at, 0, row);
  };
  const focus = (row: Row | undefined) => {
    if (!row) return;
    for (const other of rows) other.element.tabIndex = -1;
    row.element.tabIndex = 0;
    row.element.focus();
  };

  function row(branch: Branch, level: number): Row {
    const leaf = branch.branches().length === 0;
    const made: Row = { branch, level, open: false, leaf, element: el("tr", {
      role: "row", "aria-level": String(level), "aria-expanded": leaf ? null : "false", tabindex: "-1",
      on: {
        click: () => { focus(made); toggle(made); },
        focus: () => choose(branch.name),
        keydown: (event: KeyboardEvent) => key(event, made),
      },
    },
    cell("text", el("span", { class: "twist", "aria-hidden": "true", style: { "margin-left": `${(level - 1) * INDENT_PX}px` } }),
      el("code", {}, branch.name || "(no name)")),
    cell("number", duration(Math.round(branch.ns))), cell("number", percent(branch.ns / Math.max(1, whole))),
    cell("number", count(branch.calls))) };
    return made;
  }

  function add(branches: Branch[], level: number, at: number): void {
    branches.slice(0, SHOWN).forEach((branch, n) => insert(at + n, row(branch, level)));
    const rest = branches.slice(SHOWN);
    if (rest.length === 0) return;
    const more: Row = { level, open: false, leaf: true, branch: { name: "", ns: 0, calls: 0, branches: () => [] }, element: el("tr", {
      role: "row", "aria-level": String(level), tabindex: "-1",
      on: { click: () => unfold(), keydown: (event: KeyboardEvent) => (event.key === "Enter" ? unfold() : key(event, more)) },
    }, el("td", { role: "gridcell", class: "note", colspan: "4" },
      `${count(rest.length)} more of ${duration(Math.round(rest.reduce((ns, branch) => ns + branch.ns, 0)))}: Enter or a click shows them`)) };
    const unfold = () => {
      const at = place(more);
      more.element.remove();
      rows.splice(at, 1);
      add(rest, level, at);
      focus(rows[at]);
    };
    insert(at + SHOWN, more);
  }

  function toggle(row: Row): void {
    if (row.leaf) return;
    if (row.open) for (const gone of rows.splice(place(row) + 1, end(row) - place(row) - 1)) gone.element.remove();
    else add(row.branch.branches(), row.level + 1, place(row) + 1);
    row.open = !row.open;
    row.element.setAttribute("aria-expanded", String(row.open));
  }

  function key(event: KeyboardEvent, row: Row): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = place(row);
    const to = {
      ArrowDown: () => focus(rows[at + 1]),
      ArrowUp: () => focus(rows[at - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows[rows.length - 1]),
      ArrowRight: () => (row.open || row.leaf ? focus(rows[at + 1]) : toggle(row)),
      ArrowLeft: () => (row.open ? toggle(row) : focus(rows.slice(0, at).findLast((other) => other.level < row.level))),
      Enter: () => toggle(row),
      " ": () => toggle(row),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    to();
  }

  add(branches, 1, 0);
  if (rows[0]) rows[0].element.tabIndex = 0;
  const heads: [string, string][] = [["function", "text"], [time, "number"], ["share", "number"], ["calls", "number"]];
  return el("div", { class: "scroll tree" }, el("table", { role: "treegrid", "aria-label": visible(label) },
    el("thead", {}, el("tr", { role: "row" }, heads.map(([name, kind]) => el("th", { role: "columnheader", scope: "col", class: kind }, name)))), body));
}

const cell = (kind: string, ...children: Child[]) => el("td", { role: "gridcell", class: kind }, ...children);

// Search, buttons and choices above the timeline, the legend under it.

import { el, visible, type Child } from "../dom.ts";
import { count } from "../format.ts";
import { openKeys } from "./help.ts";
import { openTracks } from "./tracks.ts";
import { END_OPEN, END_UNKNOWN, type Selection } from "../model.ts";
import type { Placed } from "./boot.ts";
import type { Alignment } from "./compare.ts";
import type { TimelineBoot } from "./types.ts";

export interface Actions {
  search(text: string): void;
  step(by: number): void;
  filter(on: boolean): void;
  zoom(factor: number): void;
  pan(share: number): void;
  home(): void;
  fit(): void;
  measure(): void;
  align(key: string): void;
  undo(): void;
  tracks(): { key: string; title: string; shown: boolean }[];
  showTrack(key: string, shown: boolean): void;
  moveTrack(key: string, before: string | null): void;
  selectAndShow(selection: Selection): void;
}

/** A span that a search found. */
export interface Match extends Selection {
  name: string;
  at: string;
  took: string;
}

export class Toolbar {
  readonly input = el("input", {
    type: "search", class: "tl-search", placeholder: "Find: name, /regex/, >5ms", "aria-label": "find spans",
    spellcheck: "false", autocomplete: "off",
  });
  private readonly result = el("span", { class: "tl-count", role: "status" });
  private readonly list = el("ul", { class: "tl-matches", "aria-label": "what was found" });
  private readonly only = el("input", { type: "checkbox" });
  private readonly measuring = this.button("measure", "Select a range between two points (M; or drag; or R for what is selected)", () => this.actions.measure());
  private readonly fitting = this.button("fit", "Zoom to what is selected (F)", () => this.actions.fit());
  private readonly choice: HTMLSelectElement | null;
  readonly element: HTMLElement;

  constructor(private readonly actions: Actions, alignments: readonly Alignment[]) {
    const { input } = this;
    let waiting = 0;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => actions.search(input.value), 60);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        clearTimeout(waiting);
        actions.search(input.value);
        actions.step(event.shiftKey ? -1 : 1);
      }
      else if (event.key === "ArrowDown" && this.list.childElementCount > 0) this.list.querySelector("button")?.focus();
      else if (event.key !== "Escape") return;
      else if (input.value !== "") actions.search((input.value = ""));
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.list.addEventListener("keydown", (event) => {
      const at = document.activeElement?.parentElement;
      const to = event.key === "ArrowDown" ? at?.nextElementSibling : event.key === "ArrowUp" ? at?.previousElementSibling ?? input.parentElement : null;
      if (event.key === "Escape") input.focus();
      else if (to) to.querySelector<HTMLElement>("button, input")?.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.only.addEventListener("change", () => actions.filter(this.only.checked));
    this.choice = alignments.length > 0
      ? el("select", { "aria-label": "align the two boots at" }, alignments.map(({ key, title }) => el("option", { value: key }, title))) : null;
    this.choice?.addEventListener("change", () => actions.align(this.choice!.value));
    this.element = el("div", { class: "tl-bar", role: "toolbar", "aria-label": "timeline" },
      el("span", { class: "tl-find" }, input, this.result, this.list),
      this.group(
        this.button("‹", "The match before (Shift+Enter)", () => actions.step(-1)),
        this.button("›", "The next match (Enter)", () => actions.step(1))),
      el("label", { class: "tl-only", title: "Hide what does not match" }, this.only, "only matches"),
      this.choice && el("label", { class: "tl-align" }, "align at ", this.choice),
      el("span", { class: "tl-space" }),
      this.group(this.measuring, this.fitting),
      this.group(
        this.button("←", "Earlier (A or the left arrow)", () => actions.pan(-0.4)),
        this.button("→", "Later (D or the right arrow)", () => actions.pan(0.4)),
        this.button("−", "Zoom out (S)", () => actions.zoom(2)),
        this.button("+", "Zoom in (W)", () => actions.zoom(0.5))),
      this.button("whole boot", "Show the whole boot (0)", () => actions.home()),
      this.group(
        this.button("undo", "Back to before the last change (U)", () => actions.undo()),
        this.button("tracks", "Hide lanes, or put them in another order", () => openTracks(actions)),
        this.button("?", "All keys (?)", () => openKeys())));
  }

  /** The list under the search: shown while the search or the list has the focus. */
  showMatches(matches: Match[]): void {
    this.list.replaceChildren(...matches.map(({ boot, span, name, at, took }) => el("li", {},
      el("button", { type: "button", on: { click: () => this.actions.selectAndShow({ boot, span }) } },
        el("b", {}, name), el("span", {}, took), el("span", {}, at)))));
  }

  /** Shows how many of all spans match; `at` is the one that is selected, from 1. */
  showCount(found: number | null, all: number, at: number | null, error: string | null, busy = false): void {
    const text = busy ? "…" : error ?? (found === null ? "" : `${at === null ? "" : `${count(at)} / `}${count(found)} of ${count(all)}`);
    this.result.textContent = visible(text);
    this.result.classList.toggle("bad", error !== null);
  }

  showState(state: { query: string; filter: boolean; measuring: boolean; selected: boolean; alignment: string | null }): void {
    if (this.input.value !== state.query && document.activeElement !== this.input) this.input.value = state.query;
    this.only.checked = state.filter;
    this.measuring.setAttribute("aria-pressed", String(state.measuring));
    this.fitting.disabled = !state.selected;
    if (this.choice && state.alignment !== null) this.choice.value = state.alignment;
  }

  private group(...children: Child[]): HTMLElement {
    return el("span", { class: "tl-group" }, children);
  }

  private button(text: string, title: string, click: () => void): HTMLButtonElement {
    return el("button", { type: "button", title, "aria-label": /^\p{L}/u.test(text) ? null : title, on: { click } }, text);
  }
}

/** What the drawing's signs mean: only those that are in it. */
export function legend(boots: readonly Placed[]): HTMLElement {
  const sign = (kind: string, text: string) => el("span", {}, el("i", { class: `tl-sign tl-${kind}`, "aria-hidden": "true" }), text);
  const any = (test: (boot: TimelineBoot) => boolean) => boots.some((placed) => test(placed.boot));
  return el("div", { class: "tl-legend" },
    boots.some((placed) => placed.anyAssumed) && sign("assumed", "its clock's place is assumed, nothing tells it"),
    any(({ spans }) => spans.endKind.includes(END_UNKNOWN)) && sign("unknown", "nobody saw its end"),
    any(({ spans }) => spans.endKind.includes(END_OPEN)) && sign("open", "still going on at the end"),
    any(({ head }) => head.gaps.length > 0 && head.tracks.some((track) => track.kind === "console")) && sign("gap", "silence on the console"),
    any(({ head }) => head.findings.some((finding) => finding.at_ns)) && sign("pin", "advice, by its number"));
}

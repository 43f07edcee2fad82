// The timeline: what can be done with it, from inside and from the page.

import { el, visible } from "../dom.ts";
import { duration, moment } from "../format.ts";
import { END_KNOWN, type Selection } from "../model.ts";
import { bounds, Placed } from "./boot.ts";
import { align, alignments, type Alignment } from "./compare.ts";
import { factsOf, spoken } from "./facts.ts";
import { hitAt, snapped, type Hit } from "./hit.ts";
import { PointerInput } from "./input.ts";
import { KeyInput, type Motion } from "./keys.ts";
import { everyLane, laneOf, lanesOf, ordered, type Lane } from "./lanes.ts";
import { layOut, placeOf, ROW } from "./layout.ts";
import { listenMinimap } from "./minimap.ts";
import { lowerBound } from "./pyramid.ts";
import { firstOf, moved } from "./order.ts";
import { intervalOf, scaleOf, type Scene } from "./scene.ts";
import { isEmpty, nextMatch, parseQuery, search, type Query } from "./search.ts";
import { Stage } from "./stage.ts";
import { format, parse } from "./state.ts";
import { legend, Toolbar, type Match } from "./toolbar.ts";
import { Tooltip } from "./tooltip.ts";
import type { Thing, TimelineBoot, View } from "./types.ts";
import { Viewport } from "./viewport.ts";

/** Matches of a search in its list, and changes that can be undone. */
const MATCHES = 50;
const UNDONE = 200;

export interface TimelineOptions {
  onSelect(selection: Selection | null): void;
  /** The moment under the pointer, on the report's own boot's clock. */
  onTime(ns: number | null): void;
  /** A numbered pin was clicked: the finding's place in the head's list. */
  onFinding?(index: number, boot: number): void;
  /** A phase, part, silence or mark was clicked; null if it is let go. */
  onThing?(thing: Thing | null): void;
  /** A range of time was selected, on the shared axis; null if it is let go. */
  onRange?(range: View | null): void;
  /** state() is another now; not more often than a few times a second. */
  onChange?(): void;
  /** How high the lanes may be, px; else most of the window. */
  room?(): number;
}

export class Timeline {
  /** Toolbar, minimap, lanes and legend. */
  readonly element: HTMLElement;
  readonly scene: Scene;
  private readonly stage: Stage;
  private readonly viewport: Viewport;
  private readonly toolbar: Toolbar;
  private readonly tooltip = new Tooltip();
  private readonly live = el("div", { class: "tl-live", "aria-live": "polite" });
  private readonly pointer: PointerInput;
  private readonly places: Alignment[];
  private alignment: Alignment;
  private text = "";
  private query: Query = parseQuery("");
  private searches = 0;
  /** Ends when the search that is on has ended; null if none is. */
  private running: Promise<void> | null = null;
  private filtering = false;
  private armed = false;
  private announced = 0;
  /** All lanes, from top to bottom, also those that are hidden. */
  private readonly lanes: Lane[];
  private hidden: readonly string[] = [];
  private pinned: readonly string[] = [];
  /** How it stood before each change, to go back to. */
  private readonly past: string[] = [];
  private last = "";

  constructor(boots: readonly TimelineBoot[], private readonly options: TimelineOptions) {
    const placed = boots.slice(0, 2).map((boot, index) => new Placed(boot, index)).reverse();
    this.places = alignments(placed);
    this.alignment = this.places[0]!;
    align(placed, this.alignment);
    const lanes = this.lanes = ordered(placed.map(lanesOf));
    const [home, limits] = bounds(placed);
    this.scene = {
      boots: placed, lanes, layout: layOut(lanes), view: home, scroll: 0, width: 0, height: 0, gutter: 0, head: 0,
      selected: null, hovered: null, thing: null, found: null, measure: null, cursor: null, targets: [],
    };
    this.viewport = new Viewport(home, limits, () => { this.scene.view = this.viewport.view; this.changed(); });
    this.stage = new Stage(this.scene, () => this.viewport.home,
      () => options.room?.() ?? Math.max(320, Math.min(800, innerHeight * 0.7)), () => this.scrollTo(this.scene.scroll));
    this.toolbar = new Toolbar(this, placed.length > 1 ? this.places : []);
    this.pointer = new PointerInput(this.stage.canvas, this);
    new KeyInput(this.stage.canvas, this);
    listenMinimap(this.stage.minimap, this.scene, this.viewport);
    this.stage.frame.append(this.tooltip.element);
    this.element = el("div", { class: "tl" }, this.toolbar.element,
      el("div", { class: "tl-box" }, this.stage.minimap, this.stage.frame), legend(placed), this.live);
    this.last = this.state();
    for (const one of placed) void one.boot.evidence?.then(() => this.renamed(one)).catch(() => undefined);
    this.changed();
  }

  // What the page asks for.

  /** Brings an interval of a boot's own clock into view, and selects it. */
  visit(startNs: number, endNs: number, boot = 0): void {
    const shift = this.reveal(startNs, endNs, boot);
    // With two boots one range cannot be both of theirs.
    if (this.scene.boots.length === 1 && endNs > startNs) this.range({ start: startNs + shift, end: endNs + shift });
  }

  /** Brings an interval of a boot's own clock into view; returns where that is on the shared axis. */
  private reveal(startNs: number, endNs: number, boot: number): number {
    const shift = this.scene.boots.find((placed) => placed.index === boot)?.shift ?? 0;
    this.viewport.reveal(startNs + shift, endNs + shift);
    return shift;
  }

  select(selection: Selection | null): void {
    const { scene } = this;
    const known = selection && scene.boots.find((placed) => placed.index === selection.boot);
    const chosen = known && selection.span >= 0 && selection.span < known.boot.spans.count ? selection : null;
    if (chosen?.span === scene.selected?.span && chosen?.boot === scene.selected?.boot) return;
    scene.selected = chosen;
    this.setThing(null);
    if (chosen) {
      this.uncover(chosen);
      this.live.textContent = visible(spoken(scene, chosen.boot, chosen.span));
    }
    this.showCount();
    this.changed();
    this.options.onSelect(chosen);
  }

  state(): string {
    const { scene, viewport } = this;
    const { measure } = scene;
    return format({
      view: viewport.isHome ? null : viewport.target,
      selection: scene.selected, query: this.text, filter: this.filtering,
      toggled: everyLane(scene.lanes).filter((lane) => lane.collapsed !== lane.initiallyCollapsed).map((lane) => lane.key),
      alignment: this.alignment === this.places[0] ? null : this.alignment.key,
      measure: measure && !measure.open ? { start: Math.min(measure.from, measure.to), end: Math.max(measure.from, measure.to) } : null,
      hidden: [...this.hidden], pinned: [...this.pinned],
    });
  }

  restore(text: string): void {
    const state = parse(text);
    for (const lane of everyLane(this.scene.lanes)) lane.collapsed = lane.initiallyCollapsed !== state.toggled.includes(lane.key);
    this.filtering = state.filter;
    this.align(state.alignment ?? this.places[0]!.key);
    [this.hidden, this.pinned] = [state.hidden, state.pinned];
    this.arrange();
    this.search(state.query);
    if (!state.measure || state.selection) this.select(state.selection);
    this.range(state.measure, !state.selection);
    this.viewport.set(state.view ?? this.viewport.home);
  }

  /** Selects a range of the shared axis, and says so if it is to be told. */
  range(range: View | null, tell = true): void {
    this.scene.measure = range && { from: range.start, to: range.end, open: false };
    if (tell) {
      if (range && this.scene.selected) this.select(null);
      this.options.onRange?.(range);
    }
    this.changed();
  }

  /** A range of the shared axis on each boot's own clock, the report's own boot first. */
  ownRanges({ start, end }: View): { boot: number; range: View }[] {
    const own = this.scene.boots.map(({ index, shift }) => ({ boot: index, range: { start: start - shift, end: end - shift } }));
    return own.sort((a, b) => a.boot - b.boot);
  }

  /** The lanes that can be hidden and moved, as they stand. */
  tracks(): { key: string; title: string; shown: boolean }[] {
    const before = (lane: Lane) => (this.scene.boots.length > 1 ? (lane.placed.index === 1 ? ", before" : ", after") : "");
    return firstOf(this.lanes, this.pinned).filter((lane) => lane.type !== "phases").map((lane) => ({
      key: lane.key, title: lane.title + before(lane), shown: !this.hidden.includes(lane.key),
    }));
  }

  /** Hides a lane or shows it again. */
  showTrack(key: string, shown: boolean): void {
    this.hidden = shown ? this.hidden.filter((one) => one !== key) : [...new Set([...this.hidden, key])];
    this.arrange();
  }

  /** Puts a lane before another one, or last. */
  moveTrack(key: string, before: string | null): void {
    this.pinned = moved(this.lanes, this.pinned, key, before);
    this.arrange();
  }

  /** Goes back to how it stood before the last change. */
  undo(): void {
    this.remember();
    const before = this.past.pop();
    if (before === undefined) return;
    this.last = before;
    this.restore(before);
  }

  // Moving: Controls of input.ts, KeyActions of keys.ts, Actions of toolbar.ts.

  hit(x: number, y: number): Hit | null {
    return hitAt(this.scene, x, y);
  }

  move(ns: number, px: number): void {
    if (px !== 0) this.scrollTo(this.scene.scroll + px);
    if (ns !== 0) this.viewport.pan(ns);
    else this.changed();
  }

  zoom(factor: number, around?: number): void {
    const { start, end } = this.viewport.target;
    if (around !== undefined) {
      this.viewport.zoom(factor, around);
      return;
    }
    const middle = (start + end) / 2;
    const half = ((end - start) / 2) * factor;
    this.viewport.glide({ start: middle - half, end: middle + half });
  }

  pan(share: number): void {
    const { start, end } = this.viewport.target;
    const ns = (end - start) * share;
    this.viewport.glide({ start: start + ns, end: end + ns });
  }

  home(): void {
    this.viewport.glide(this.viewport.home);
  }

  /** Zooms to what is selected: a span, a measurement, a phase. */
  fit(): void {
    const { scene } = this;
    const { selected, measure, thing } = scene;
    const placed = scene.boots.find((one) => one.index === selected?.boot);
    const interval = thing && intervalOf(scene, thing);
    if (selected && placed) this.reveal(placed.boot.spans.start[selected.span]!, placed.end[selected.span]!, selected.boot);
    else if (measure) this.viewport.reveal(Math.min(measure.from, measure.to), Math.max(measure.from, measure.to));
    else if (interval) this.viewport.reveal(interval.start, interval.end);
  }

  glide(motion: Motion, seconds: number): boolean {
    const { scene } = this;
    const length = scene.view.end - scene.view.start;
    if (motion.scroll !== 0) {
      const before = scene.scroll;
      this.scrollTo(before + motion.scroll * seconds * (scene.height - scene.head));
      if (motion.pan === 0 && motion.zoom === 0) return scene.scroll !== before || this.scrollable > 0;
    }
    if (motion.pan !== 0) this.viewport.pan(motion.pan * seconds * length);
    if (motion.zoom !== 0) {
      // Around the pointer if it is here, else around the middle.
      this.viewport.zoom(Math.exp(motion.zoom * seconds), scene.cursor ?? (scene.view.start + scene.view.end) / 2);
    }
    return true;
  }

  press(key: string): boolean {
    const page = this.scene.height - this.scene.head - ROW;
    const actions: Record<string, () => void> = {
      "0": () => this.home(), Home: () => this.home(), f: () => this.fit(), F: () => this.fit(),
      n: () => this.next(1), N: () => this.next(1), p: () => this.next(-1), P: () => this.next(-1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      m: () => this.measure(), M: () => this.measure(), "/": () => this.toolbar.input.focus(),
      r: () => this.rangeOf(), R: () => this.rangeOf(), "[": () => this.bound("start"), "]": () => this.bound("end"),
      u: () => this.undo(), U: () => this.undo(),
      PageUp: () => this.scrollTo(this.scene.scroll - page), PageDown: () => this.scrollTo(this.scene.scroll + page),
      Enter: () => (this.scene.selected || this.scene.thing ? this.fit() : this.next(1)), Escape: () => this.letGo(),
    };
    const action = actions[key];
    action?.();
    return action !== undefined;
  }

  // Pointing and choosing.

  point(x: number, y: number): void {
    const { scene } = this;
    const hit = this.hit(x, y);
    const inLanes = x >= scene.gutter;
    scene.cursor = inLanes ? scaleOf(scene).ns(x) : null;
    scene.hovered = hit?.type === "span" ? hit : null;
    if (hit?.type === "thing") scene.thing = hit.thing;
    else if (!this.kept) scene.thing = null;
    this.stage.canvas.style.cursor = this.armed || hit?.type === "axis" ? "crosshair" : hit && hit.type !== "chart" ? "pointer" : "";
    const facts = hit && !this.armed ? factsOf(scene, hit) : null;
    if (facts) this.tooltip.show(facts, x, y);
    else this.tooltip.hide();
    this.options.onTime(scene.cursor);
    this.stage.request();
  }

  leave(): void {
    const { scene } = this;
    scene.cursor = scene.hovered = null;
    if (!this.kept) scene.thing = null;
    this.tooltip.hide();
    this.options.onTime(null);
    this.stage.request();
  }

  click(hit: Hit | null, again: boolean): void {
    if (hit?.type === "span") {
      this.select({ boot: hit.boot, span: hit.span });
      if (again) this.fit();
    } else if (hit?.type === "thing") {
      if (hit.thing.kind === "finding") this.options.onFinding?.(hit.thing.index, hit.thing.boot);
      else this.select(null);
      this.setThing(hit.thing);
      if (again) this.fit();
    } else if ((hit?.type === "title" || hit?.type === "strip") && !again) {
      this.toggle(hit.lane);
    } else if (!again) {
      this.select(null);
      this.setThing(null);
    }
  }

  /** Selects the next or the previous span of the row. */
  next(by: number): void {
    const { scene } = this;
    const { selected } = scene;
    const lane = selected && laneOf(scene.lanes, selected.boot, selected.span);
    if (!lane || !selected) {
      const first = this.firstInView();
      if (first) this.select(first);
      return;
    }
    const at = lane.rowOf(selected.span);
    const span = lane.isNamed ? lane.label(at + by)?.span : lane.row(at).ids[lowerBound(lane.row(at).ids, selected.span) + by];
    if (span !== undefined) this.selectAndShow({ boot: selected.boot, span });
  }

  toggle(lane: Lane): void {
    lane.collapsed = !lane.collapsed;
    this.relayout();
  }

  // Measuring.

  get measuring(): boolean {
    return this.armed;
  }

  measure(step?: "from" | "to" | "done", x = 0, y = 0): void {
    const { scene } = this;
    if (step === undefined) {
      this.armed = !this.armed;
      if (scene.measure) this.range(null);
      this.changed();
      return;
    }
    const at = snapped(scene, Math.max(x, scene.gutter), y);
    if (step === "from") scene.measure = { from: at, to: at, open: true };
    else if (scene.measure && (scene.measure.open || step === "done")) scene.measure.to = at;
    if (step === "done") {
      this.armed = false;
      const { from, to } = scene.measure ?? { from: 0, to: 0 };
      if (scene.measure) this.range(from === to ? null : { start: Math.min(from, to), end: Math.max(from, to) });
    }
    this.changed();
  }

  /** What is selected as a range: a span, a phase, a silence; else what is in view. */
  private rangeOf(): void {
    const { scene } = this;
    const placed = scene.boots.find((one) => one.index === scene.selected?.boot);
    const interval = this.kept && intervalOf(scene, this.kept);
    const span = scene.selected?.span;
    if (placed && span !== undefined) this.range({ start: placed.boot.spans.start[span]! + placed.shift, end: placed.end[span]! + placed.shift });
    else if (interval && interval.end > interval.start) this.range({ start: interval.start, end: interval.end });
    else this.range(scene.view);
  }

  /** Begins or ends the range where the selected span does, or the view. */
  private bound(which: "start" | "end"): void {
    const { scene } = this;
    const placed = scene.boots.find((one) => one.index === scene.selected?.boot);
    const span = scene.selected?.span;
    const at = placed && span !== undefined
      ? (which === "start" ? placed.boot.spans.start[span]! : placed.end[span]!) + placed.shift : scene.view[which];
    const { from, to } = scene.measure ?? { from: scene.view.start, to: scene.view.end };
    const range = { start: Math.min(from, to), end: Math.max(from, to), [which]: at };
    if (range.end > range.start) this.range(range, scene.selected === null || scene.measure !== null);
    // The other end is still to come: the selection stays for that.
    else this.range({ start: at, end: which === "start" ? scene.view.end : at }, false);
  }

  // Searching.

  search(text: string): void {
    if (text === this.text) return;
    this.text = text;
    this.query = parseQuery(text);
    this.startSearch();
  }

  filter(on: boolean): void {
    this.filtering = on;
    this.applyFilter();
  }

  /** Selects the next match, from what is selected or from where one looks. */
  step(by: number): void {
    const { scene } = this;
    if (this.running) {
      // Who types and presses Enter at once means what was typed.
      void this.running.then(() => this.step(by));
      return;
    }
    const found = scene.found;
    if (!found) return;
    const lists = scene.boots.map((placed) => ({ boot: placed.index, ids: found[placed.index]!.ids }));
    const next = nextMatch(lists, scene.selected, by, (boot) => {
      const placed = scene.boots.find((one) => one.index === boot)!;
      return lowerBound(placed.boot.spans.start, scene.view.start - placed.shift);
    });
    if (next) this.selectAndShow(next);
  }

  // Two boots.

  align(key: string): void {
    const alignment = this.places.find((one) => one.key === key) ?? this.places[0]!;
    if (alignment !== this.alignment) {
      this.alignment = alignment;
      align(this.scene.boots, alignment);
      const [home, limits] = bounds(this.scene.boots);
      const wasHome = this.viewport.isHome;
      Object.assign(this.viewport, { home, limits });
      this.viewport.set(wasHome ? home : this.viewport.target);
    }
    this.stage.renewMap();
    this.changed();
  }

  // Inside.

  /** The thing that stays marked when the pointer leaves it. */
  private kept: Thing | null = null;

  private setThing(thing: Thing | null): void {
    if (thing === null && this.kept === null) return;
    this.kept = this.scene.thing = thing;
    this.options.onThing?.(thing);
    this.changed();
  }

  private letGo(): void {
    const { scene } = this;
    if (this.armed || scene.measure) {
      this.armed = false;
      this.range(null, scene.measure !== null && !scene.selected);
    } else if (scene.selected || this.kept) {
      this.select(null);
      this.setThing(null);
    } else if (this.text) {
      this.search("");
    } else {
      this.stage.canvas.blur();
    }
    this.changed();
  }

  private startSearch(): void {
    const mine = this.runSearch().finally(() => {
      if (this.running === mine) this.running = null;
    });
    this.running = mine;
  }

  private async runSearch(): Promise<void> {
    const mine = ++this.searches;
    const { scene, query } = this;
    if (isEmpty(query)) {
      scene.found = null;
    } else {
      this.toolbar.showCount(null, 0, null, null, true);
      const found = await search(query, scene.boots, () => mine !== this.searches);
      if (!found) return;
      scene.found = scene.boots.map((_, index) => found[scene.boots.findIndex((placed) => placed.index === index)]!);
    }
    this.showCount();
    this.applyFilter();
  }

  /** The evidence has come, and with it names. */
  private renamed(placed: Placed): void {
    placed.forgetLabels();
    if (this.text) this.startSearch();
    this.stage.request();
  }

  private applyFilter(): void {
    const { scene } = this;
    for (const lane of scene.lanes) {
      if (lane.type === "spans") lane.keep(this.filtering ? scene.found?.[lane.placed.index]?.flags ?? null : null);
    }
    this.relayout();
    this.stage.renewMap();
  }

  private showCount(): void {
    const { scene, query } = this;
    const all = scene.boots.reduce((sum, placed) => sum + placed.boot.spans.count, 0);
    const found = scene.found?.reduce((sum, one) => sum + one.ids.length, 0) ?? null;
    const mine = scene.selected && scene.found?.[scene.selected.boot];
    let at: number | null = null;
    if (mine && scene.selected && mine.flags[scene.selected.span]) {
      at = lowerBound(mine.ids, scene.selected.span) + 1;
      for (const placed of scene.boots) {
        if (placed.index === scene.selected.boot) break;
        at += scene.found?.[placed.index]?.ids.length ?? 0;
      }
    }
    this.toolbar.showCount(found, all, at, query.error);
    const list: Match[] = [];
    for (const placed of scene.boots) {
      const { spans } = placed.boot;
      for (const span of scene.found?.[placed.index]?.ids.subarray(0, MATCHES - list.length) ?? []) {
        const took = spans.endKind[span] === END_KNOWN ? duration(spans.end[span]! - spans.start[span]!) : "";
        list.push({ boot: placed.index, span, name: placed.label(span), at: moment(spans.start[span]!, 1e6), took });
      }
    }
    this.toolbar.showMatches(list);
  }

  /** Selects a span and brings it into view. */
  selectAndShow(selection: Selection): void {
    this.select(selection);
    const placed = this.scene.boots.find((one) => one.index === selection.boot)!;
    const [start, end] = [placed.boot.spans.start[selection.span]! + placed.shift, placed.end[selection.span]! + placed.shift];
    const { view } = this.scene;
    const small = (end - start) / (view.end - view.start) < 0.002;
    if (end < view.start || start > view.end || small) {
      // Close enough to see it, but not so close that nothing else is seen.
      const length = Math.min(view.end - view.start, Math.max((end - start) * 20, 200_000));
      const middle = (start + end) / 2;
      this.viewport.glide({ start: middle - length / 2, end: middle + length / 2 });
    }
  }

  /** Opens the lane of a span and scrolls to it. */
  private uncover({ boot, span }: Selection): void {
    const { scene } = this;
    const lane = laneOf(scene.lanes, boot, span);
    if (!lane) return;
    const hidden = [lane, lane.parent].filter((one) => one?.collapsed);
    for (const one of hidden) one!.collapsed = false;
    if (hidden.length > 0) this.relayout();
    const place = placeOf(scene.layout, lane, span);
    const room = scene.height - scene.head;
    if (!place || room <= 0) return;
    if (place.y < scene.scroll + 4) this.scrollTo(place.y - room / 3);
    else if (place.y + place.height > scene.scroll + room - 4) this.scrollTo(place.y + place.height - (2 * room) / 3);
  }

  private firstInView(): Selection | null {
    const { scene } = this;
    for (const { mode, lane, y } of scene.layout.segments) {
      if (mode !== "rows" || y < scene.scroll) continue;
      const row = lane.row(0);
      const at = lowerBound(row.start, scene.view.start - lane.placed.shift);
      if (at < row.count) return { boot: lane.placed.index, span: row.ids[at]! };
    }
    return null;
  }

  private get scrollable(): number {
    const { scene } = this;
    return Math.max(0, scene.layout.height - (scene.height - scene.head));
  }

  private scrollTo(y: number): void {
    this.scene.scroll = Math.round(Math.min(Math.max(0, y), this.scrollable));
    this.stage.request();
  }

  /** Puts the lanes in their order, without those that are hidden. */
  private arrange(): void {
    this.scene.lanes = firstOf(this.lanes, this.pinned).filter((lane) => !this.hidden.includes(lane.key));
    this.relayout();
    this.stage.renewMap();
  }

  /** Keeps how it stood before it was changed. */
  private remember(): void {
    const now = this.state();
    if (now === this.last) return;
    this.past.push(this.last);
    if (this.past.length > UNDONE) this.past.shift();
    this.last = now;
  }

  private relayout(): void {
    this.scene.layout = layOut(this.scene.lanes);
    this.stage.fit();
    this.scrollTo(this.scene.scroll);
    this.pointer.touchAction();
    this.changed();
  }

  private changed(): void {
    const { scene } = this;
    this.toolbar?.showState({
      query: this.text, filter: this.filtering, measuring: this.armed,
      selected: scene.selected !== null || this.kept !== null || scene.measure !== null, alignment: this.alignment.key,
    });
    this.stage?.request();
    this.announced ||= window.setTimeout(() => {
      this.announced = 0;
      this.remember();
      this.options.onChange?.();
    }, 300);
  }
}

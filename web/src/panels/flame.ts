// Where traced functions spend their time: calls summed up by stack, as a flame graph (a canvas,
// for there can be ten thousand frames) and as trees that are opened step by step.

import { button, el, nodes, section, visible } from "../dom.ts";
import { count, duration, percent } from "../format.ts";
import type { Boot } from "../model.ts";
import { color, onThemeChange } from "../theme.ts";
import type { View } from "../timeline/types.ts";
import { bottomUp, topDown } from "./calls.ts";
import { layout, matched, stacksOf, type Box, type Frame } from "./stacks.ts";
import { treeGrid } from "./tree.ts";

const ROW = 20;
const DEEPEST = 40;
const FONT = '12px ui-sans-serif, system-ui, "Segoe UI", sans-serif';

/** The section, and what makes it of a range of time alone. */
export interface FlameSection {
  element: HTMLElement;
  of(range: View | null): void;
}

/** The section, or nothing if no functions were traced. It sums up when it
 * comes into view. */
export function flameSection(boot: Boot): FlameSection | null {
  const traced = new Set(boot.head.tracks.flatMap((track, at) => (track.kind === "function" ? [at] : [])));
  if (traced.size === 0 || !boot.spans.track.some((track) => traced.has(track))) return null;
  const flame = new Flame();
  const element = section("flame", "where functions spend it",
    "Calls summed up by stack; the wider, the longer. Click a frame to look into it, one above it to go back.", flame.element);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    void flame.sumUp(boot);
  }, { rootMargin: "400px" }).observe(element);
  addEventListener("beforeprint", () => void flame.sumUp(boot));
  return { element, of: (range) => flame.of(boot, range) };
}

class Flame {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", {
    tabindex: "0", role: "application",
    "aria-label": "Flame graph. Arrow keys move between frames, Enter looks into one, Escape shows all. A tree of the same follows.",
  });
  private readonly input = el("input", { type: "search", placeholder: "find a function", "aria-label": "find a function" });
  private readonly found = el("span", { class: "note", role: "status" });
  private readonly about = el("p", { class: "flame-about", "aria-live": "polite" }, "summing up …");
  private readonly tree = el("div");
  private readonly ways = [
    button("bottom-up", "what has time of its own, and who called it", () => this.plant(true)),
    button("top-down", "who calls, and what is called", () => this.plant(false)),
  ];
  private root: Frame | null = null;
  private shown: Frame | null = null;
  private current: Frame | null = null;
  private boxes: Box[] = [];
  private started = false;
  private range: View | null = null;
  /** The sum that is being made: another one ends it. */
  private sums = 0;

  constructor() {
    this.element = el("div", { class: "flame" },
      el("div", { class: "controls" }, this.input, button("all", "show all stacks", () => this.zoom(this.root)), this.found),
      el("div", { class: "canvas" }, this.canvas), this.about,
      el("div", { class: "controls" }, this.ways), this.tree);
    this.input.addEventListener("input", () => this.paint());
    this.canvas.addEventListener("mousemove", (event) => this.point(this.at(event)));
    this.canvas.addEventListener("mouseleave", () => this.point(this.shown));
    this.canvas.addEventListener("click", (event) => this.zoom(this.at(event)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.zoom(this.shown)).observe(this.element);
    onThemeChange(() => this.paint());
  }

  async sumUp(boot: Boot): Promise<void> {
    if (this.started) return;
    this.started = true;
    // Names can stand in the evidence.
    await boot.evidence;
    const mine = ++this.sums;
    const steps = stacksOf(boot, "function", this.range ?? undefined);
    for (let step = steps.next(); ; step = steps.next()) {
      if (mine !== this.sums) return;
      if (step.done) {
        this.root = step.value;
        break;
      }
      await new Promise((resume) => setTimeout(resume));
    }
    this.plant(this.ways[1]!.ariaPressed !== "true");
    this.zoom(this.root);
  }

  /** The tree below the picture: from what took the time, or from the callers. */
  private plant(up: boolean): void {
    this.ways.forEach((way, at) => { way.ariaPressed = String((at === 0) === up); });
    if (!this.root) return;
    const [label, time] = up ? ["time of their own, by who called", "of its own"] : ["calls, from the outermost", "with what it calls"];
    const find = (name: string) => { this.input.value = name; this.paint(); };
    this.tree.replaceChildren(treeGrid(label!, time!, up ? bottomUp(this.root) : topDown(this.root), this.root.total, find));
  }

  /** Shows what lies within a range, or all of it again. */
  of(boot: Boot, range: View | null): void {
    if (this.range === range) return;
    this.range = range;
    if (!this.started) return;
    this.started = false;
    void this.sumUp(boot);
  }

  private zoom(frame: Frame | null): void {
    if (!frame) return;
    this.shown = frame;
    this.boxes = layout(frame, 0.5 / this.width()).filter((box) => box.depth < DEEPEST);
    this.point(frame);
  }

  private point(frame: Frame | null): void {
    if (!frame || !this.root) return;
    this.current = frame;
    const own = frame.parent && `, ${duration(frame.self)} of its own, ${count(frame.calls)} ${frame.calls === 1 ? "call" : "calls"}`;
    this.about.replaceChildren(...nodes([el("b", {}, frame.name || "(no name)"), this.range && " in the range",
      ` ${duration(frame.total)}, ${percent(frame.total / Math.max(1, this.root.total))}${own ?? ""}`]));
    this.paint();
  }

  private at(event: MouseEvent): Frame | null {
    const x = event.offsetX / this.width();
    const depth = Math.floor(event.offsetY / ROW);
    return this.boxes.find((box) => box.depth === depth && x >= box.left && x <= box.right)?.frame ?? null;
  }

  private key(event: KeyboardEvent): void {
    const at = this.boxes.findIndex((box) => box.frame === this.current);
    const box = this.boxes[at];
    if (!box) return;
    const beside = this.boxes.filter((other) => other.depth === box.depth);
    const to = {
      ArrowLeft: () => this.point(beside[beside.indexOf(box) - 1]?.frame ?? null),
      ArrowRight: () => this.point(beside[beside.indexOf(box) + 1]?.frame ?? null),
      ArrowUp: () => this.point(box.frame.parent),
      ArrowDown: () => this.point(this.boxes.find((other) => other.frame.parent === box.frame)?.frame ?? null),
      Enter: () => this.zoom(box.frame),
      Escape: () => this.zoom(this.root),
    }[event.key];
    if (!to || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    to();
  }

  private width(): number {
    return Math.max(1, this.canvas.clientWidth);
  }

  private paint(): void {
    if (!this.root) return;
    const ratio = devicePixelRatio || 1;
    const width = this.width();
    const height = ROW * (1 + Math.max(0, ...this.boxes.map((box) => box.depth)));
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = "middle";
    const wanted = this.input.value.trim().toLowerCase();
    const matches = (name: string) => name.toLowerCase().includes(wanted);
    for (const box of this.boxes) this.box(context, box, width, wanted === "" || matches(box.frame.name), wanted !== "");
    this.found.textContent = wanted === "" ? "" : `${percent(matched(this.root, matches))} of the time`;
  }

  private box(context: CanvasRenderingContext2D, { frame, left, right, depth }: Box, width: number, on: boolean, searching: boolean): void {
    const [x, y, w] = [left * width, depth * ROW, Math.max(0.5, (right - left) * width - 1)];
    // Pale enough for text in the page's ink, light and dark.
    context.globalAlpha = !on ? 0.12 : 0.32 + 0.3 * shade(frame.name);
    context.fillStyle = color(searching && on ? "--application" : depth === 0 ? "--firmware" : "--bootloader");
    context.fillRect(x, y + 1, w, ROW - 2);
    context.globalAlpha = 1;
    if (frame === this.current) {
      context.strokeStyle = color("--ink");
      context.strokeRect(x + 0.5, y + 1.5, Math.max(1, w - 1), ROW - 3);
    }
    if (w < 36) return;
    const text = visible(frame.name.slice(0, 200));
    const whole = context.measureText(text).width;
    const kept = whole <= w - 8 ? text : `${text.slice(0, Math.floor((text.length * (w - 18)) / whole))}…`;
    if (kept.length < 4 && kept !== text) return;
    context.fillStyle = color("--ink");
    context.fillText(kept, x + 4, y + ROW / 2 + 0.5);
  }
}

/** A number from 0 to 1 that is the same for the same name. */
function shade(name: string): number {
  let hash = 7;
  for (let i = 0; i < Math.min(name.length, 40); i++) hash = (hash * 31 + name.charCodeAt(i)) % 997;
  return (hash % 100) / 100;
}

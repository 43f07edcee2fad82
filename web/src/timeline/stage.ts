// The canvases: their size, when they are drawn, and in which colours.

import { el } from "../dom.ts";
import { onThemeChange } from "../theme.ts";
import { headHeight } from "./paint/head.ts";
import { paint } from "./paint/frame.ts";
import { MINIMAP, paintMap, paintWindow } from "./paint/minimap.ts";
import { Palette } from "./paint/palette.ts";
import { forgetWidths } from "./paint/text.ts";
import { layOutWithin } from "./layout.ts";
import type { Scene } from "./scene.ts";
import type { View } from "./types.ts";

/** Print has no pixels of a screen: so many per CSS pixel. */
const PRINT_RATIO = 3;
/** How high a page is by its width: of A4 and of US Letter the lower, without margins. */
const PAGE = 1.3;
/** Room for the legend, px. */
const BELOW = 40;
const LEAST_HEIGHT = 160;

export class Stage {
  readonly canvas = el("canvas", {
    class: "tl-canvas", tabindex: "0", role: "application",
    "aria-label": "Timeline of the boot. Arrow keys move, W and S zoom, N and P step through spans, Enter zooms to one, "
      + "R selects its time, [ and ] begin and end a range, 0 shows the whole boot, U undoes, Escape lets go, ? lists all keys.",
  });
  readonly minimap = el("canvas", { class: "tl-map", "aria-hidden": "true" });
  readonly frame = el("div", { class: "tl-frame" }, this.canvas);
  private readonly map = document.createElement("canvas");
  private palette = new Palette();
  private requested = 0;
  private mapKey = "";

  /** `room` is how high the lanes may be, px. */
  constructor(
    private readonly scene: Scene, private readonly whole: () => View, private readonly room: () => number,
    private readonly resized: () => void,
  ) {
    new ResizeObserver(() => this.fit()).observe(this.frame);
    for (const event of ["resize", "bootlap-room"]) addEventListener(event, () => this.fit());
    onThemeChange(() => {
      this.palette = new Palette();
      this.mapKey = "";
      forgetWidths();
      this.paint();
    });
  }

  /** Takes the size that the page gives. */
  fit(): void {
    const width = this.frame.clientWidth;
    if (width === 0) return;
    const { scene } = this;
    scene.width = width;
    scene.gutter = width >= 720 ? 176 : width >= 480 ? 132 : 96;
    scene.head = headHeight(scene);
    scene.height = Math.round(Math.max(LEAST_HEIGHT, Math.min(this.room(), scene.head + scene.layout.height + 4)));
    this.frame.style.height = `${scene.height}px`;
    this.resized();
    this.request();
  }

  /** Draws before the next frame of the screen, once. */
  request(): void {
    this.requested ||= requestAnimationFrame(() => this.paint());
  }

  /** Draws now. */
  paint(): void {
    cancelAnimationFrame(this.requested);
    this.requested = 0;
    const { scene } = this;
    if (scene.width === 0) return;
    const printing = matchMedia("print").matches;
    const ratio = printing ? PRINT_RATIO : Math.min(4, devicePixelRatio || 1);
    const { height, scroll, layout } = scene;
    if (printing) {
      const fitting = layOutWithin(scene.lanes, this.paper() - scene.head);
      Object.assign(scene, { scroll: 0, layout: fitting, height: scene.head + fitting.height });
    }
    const ctx = sized(this.canvas, scene.width, scene.height, ratio);
    if (ctx) paint(ctx, scene, this.palette, ratio);
    Object.assign(scene, { height, scroll, layout });
    this.paintMinimap(ratio);
  }

  /** How high the chart may be to stand on the first page, below the figures, px. */
  private paper(): number {
    const { scene, frame } = this;
    const page = document.documentElement.clientWidth * PAGE;
    const { top, width } = frame.getBoundingClientRect();
    const room = page - (top + scrollY) - BELOW;
    return Math.max(LEAST_HEIGHT, room * (scene.width / Math.max(1, width)));
  }

  /** The map is drawn again only when what it shows changed. */
  private paintMinimap(ratio: number): void {
    const { scene } = this;
    const whole = this.whole();
    const width = scene.width;
    const shifts = scene.boots.map((placed) => placed.shift).join();
    const key = [width, ratio, whole.start, whole.end, shifts, scene.found?.map((one) => one.ids.length).join()].join("|");
    if (key !== this.mapKey) {
      const pen = sized(this.map, width, MINIMAP, ratio);
      if (pen) paintMap(pen, scene, whole, this.palette, ratio, width);
      this.mapKey = key;
    }
    const ctx = sized(this.minimap, width, MINIMAP, ratio);
    if (ctx) paintWindow(ctx, this.map, scene, whole, this.palette, ratio, width);
  }

  /** After a search or another change of what the map shows. */
  renewMap(): void {
    this.mapKey = "";
    this.request();
  }
}

/** A canvas's pen, after its size was set in the screen's own pixels. */
function sized(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): CanvasRenderingContext2D | null {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  return canvas.getContext("2d", { alpha: false });
}

// Pointer, wheel and touch as movements of the timeline.

import { scrollThumb } from "./paint/frame.ts";
import type { Hit } from "./hit.ts";
import { scaleOf, type Scene } from "./scene.ts";

/** What the timeline lets its inputs do. */
export interface Controls {
  readonly scene: Scene;
  hit(x: number, y: number): Hit | null;
  /** Moves by so many ns and scrolls by so many px. */
  move(ns: number, px: number): void;
  zoom(factor: number, around: number): void;
  /** The pointer is here, or nowhere. */
  point(x: number, y: number): void;
  leave(): void;
  click(hit: Hit | null, again: boolean): void;
  /** Begins, moves or ends the ruler. */
  measure(step: "from" | "to" | "done", x: number, y: number): void;
  /** Whether the next click begins or ends a measurement. */
  readonly measuring: boolean;
}

interface Point {
  x: number;
  y: number;
}

type Gesture = "pan" | "measure" | "scrollbar" | "pinch";

export class PointerInput {
  private readonly points = new Map<number, Point>();
  private gesture: Gesture | null = null;
  private start: Point = { x: 0, y: 0 };
  private last: Point = { x: 0, y: 0 };
  private moved = false;
  private spread = 0;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly controls: Controls) {
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.cancel(event));
    canvas.addEventListener("pointerleave", () => { if (this.points.size === 0) controls.leave(); });
    canvas.addEventListener("dblclick", (event) => controls.click(controls.hit(event.offsetX, event.offsetY), true));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("focus", () => this.touchAction());
    canvas.addEventListener("blur", () => this.touchAction());
  }

  /** A finger moves the page up and down, unless the timeline has the focus and
   * more lanes than fit. */
  touchAction(): void {
    const { scene } = this.controls;
    const taken = document.activeElement === this.canvas && scrollThumb(scene) !== null;
    this.canvas.style.touchAction = taken ? "none" : "pan-y";
  }

  private down(event: PointerEvent): void {
    if (event.button > 1) return;
    const point = { x: event.offsetX, y: event.offsetY };
    this.points.set(event.pointerId, point);
    this.canvas.setPointerCapture(event.pointerId);
    if (this.points.size === 2) {
      this.gesture = "pinch";
      this.spread = this.distance();
      this.last = this.middle();
      return;
    }
    this.start = this.last = point;
    this.moved = false;
    const hit = this.controls.hit(point.x, point.y);
    if (hit?.type === "scrollbar") this.gesture = "scrollbar";
    else if (this.controls.measuring || hit?.type === "axis") this.gesture = "measure";
    // A mouse selects time as it selects text; a finger moves the paper.
    else if (event.pointerType === "touch" || event.shiftKey || event.button === 1 || point.x < this.controls.scene.gutter) this.gesture = "pan";
    else this.gesture = "measure";
  }

  private drag(event: PointerEvent): void {
    const point = { x: event.offsetX, y: event.offsetY };
    if (!this.points.has(event.pointerId)) {
      if (this.controls.measuring) this.controls.measure("to", point.x, point.y);
      this.controls.point(point.x, point.y);
      return;
    }
    this.points.set(event.pointerId, point);
    const threshold = event.pointerType === "touch" ? 8 : 3;
    if (!this.moved && Math.hypot(point.x - this.start.x, point.y - this.start.y) > threshold) {
      this.moved = true;
      if (this.gesture === "measure" && !this.controls.measuring) this.controls.measure("from", this.start.x, this.start.y);
      this.controls.leave();
    }
    if (!this.moved && this.gesture !== "pinch") return;
    const { scene } = this.controls;
    switch (this.gesture) {
      case "pinch":
        this.pinch();
        break;
      case "measure":
        this.controls.measure("to", point.x, point.y);
        break;
      case "scrollbar":
        this.controls.move(0, (point.y - this.last.y) * (scrollThumb(scene)?.travel ?? 0));
        break;
      case "pan":
        this.canvas.style.cursor = "grabbing";
        this.controls.move((this.last.x - point.x) * scaleOf(scene).perPixel, this.last.y - point.y);
        break;
      case null:
        break;
    }
    if (this.gesture !== "pinch") this.last = point;
  }

  private up(event: PointerEvent): void {
    if (!this.points.delete(event.pointerId)) return;
    const { x, y } = { x: event.offsetX, y: event.offsetY };
    const was = this.gesture;
    this.canvas.style.cursor = "";
    if (this.points.size > 0) {
      // One finger of two is left: it goes on from where it is.
      this.gesture = "pan";
      this.moved = true;
      this.last = this.start = [...this.points.values()][0]!;
      return;
    }
    this.gesture = null;
    if (was === "measure") {
      const armed = this.controls.measuring;
      if (this.moved) this.controls.measure("done", x, y);
      else if (armed) this.controls.measure(this.controls.scene.measure ? "done" : "from", x, y);
      if (this.moved || armed) return;
    }
    if (!this.moved && (was === "pan" || was === "measure")) this.controls.click(this.controls.hit(x, y), false);
  }

  private cancel(event: PointerEvent): void {
    this.points.delete(event.pointerId);
    this.gesture = null;
    this.canvas.style.cursor = "";
    this.controls.leave();
  }

  private pinch(): void {
    const { scene } = this.controls;
    const middle = this.middle();
    const spread = this.distance();
    const scale = scaleOf(scene);
    if (spread > 10 && this.spread > 10) this.controls.zoom(this.spread / spread, scale.ns(middle.x));
    this.controls.move((this.last.x - middle.x) * scaleOf(scene).perPixel, 0);
    this.spread = spread;
    this.last = middle;
  }

  private middle(): Point {
    const [a, b] = [...this.points.values()];
    return { x: (a!.x + (b ?? a!).x) / 2, y: (a!.y + (b ?? a!).y) / 2 };
  }

  private distance(): number {
    const [a, b] = [...this.points.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  /** Ctrl zooms; with the focus the wheel zooms without it; sideways pans.
   * Over the lanes' names it moves the lanes. Else the page scrolls. */
  private wheel(event: WheelEvent): void {
    const { scene } = this.controls;
    const unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? 30 : 300;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const active = document.activeElement === this.canvas;
    const scale = scaleOf(scene);
    if (event.ctrlKey || event.metaKey) {
      this.zoomBy(dy, event);
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      this.controls.move((Math.abs(dx) > Math.abs(dy) ? dx : dy) * scale.perPixel, 0);
    } else if (active && (event.altKey || event.offsetX < scene.gutter)) {
      if (!scrollThumb(scene)) return;
      this.controls.move(0, dy);
    } else if (active) {
      this.zoomBy(dy, event);
    } else {
      return;
    }
    event.preventDefault();
    this.controls.point(event.offsetX, event.offsetY);
  }

  private zoomBy(delta: number, event: WheelEvent): void {
    const { scene } = this.controls;
    // A pinch on a touchpad comes as small steps with ctrl.
    const step = event.ctrlKey && Math.abs(delta) < 40 ? delta / 100 : delta / 400;
    this.controls.zoom(Math.exp(Math.max(-1, Math.min(1, step))), scaleOf(scene).ns(Math.max(event.offsetX, scene.gutter)));
  }
}

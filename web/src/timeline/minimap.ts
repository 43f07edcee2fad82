// Moving by the minimap: the window is dragged, its edges are dragged, a click
// elsewhere brings the window there.

import { mapScale, windowOf } from "./paint/minimap.ts";
import type { Scene } from "./scene.ts";
import type { Viewport } from "./viewport.ts";

/** So near to an edge is on it, px. */
const EDGE = 7;

export function listenMinimap(canvas: HTMLCanvasElement, scene: Scene, viewport: Viewport): void {
  let grip: { part: "start" | "end" | "all"; at: number } | null = null;
  const scale = () => mapScale(scene, viewport.home, canvas.clientWidth);
  const partAt = (x: number) => {
    const [left, right] = windowOf(scene, viewport.home, canvas.clientWidth);
    if (Math.abs(x - left) <= EDGE && right - left > 3 * EDGE) return "start";
    if (Math.abs(x - right) <= EDGE && right - left > 3 * EDGE) return "end";
    return x > left - EDGE && x < right + EDGE ? "all" : null;
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const ns = scale().ns(event.offsetX);
    const part = partAt(event.offsetX);
    if (part === null) {
      const half = (scene.view.end - scene.view.start) / 2;
      viewport.set({ start: ns - half, end: ns + half });
    }
    grip = { part: part ?? "all", at: ns };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grip) {
      const part = partAt(event.offsetX);
      canvas.style.cursor = part === "all" ? "grab" : part ? "ew-resize" : "pointer";
      return;
    }
    const ns = scale().ns(Math.min(Math.max(event.offsetX, scene.gutter), canvas.clientWidth));
    const { start, end } = scene.view;
    if (grip.part === "all") {
      canvas.style.cursor = "grabbing";
      viewport.pan(ns - grip.at);
      grip.at = ns;
    } else if (grip.part === "start") {
      viewport.set({ start: Math.min(ns, end - 1000), end });
    } else {
      viewport.set({ start, end: Math.max(ns, start + 1000) });
    }
  });
  for (const event of ["pointerup", "pointercancel"]) canvas.addEventListener(event, () => { grip = null; });
  canvas.addEventListener("dblclick", () => viewport.glide(viewport.home));
}

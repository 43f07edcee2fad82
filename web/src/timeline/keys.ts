// The keyboard: keys that are held move smoothly, others act once.

/** What a held key does, in one second. */
export interface Motion {
  /** Widths of the view. */
  pan: number;
  /** Natural logarithm of the factor. */
  zoom: number;
  /** Heights of the view. */
  scroll: number;
}

const HELD: Record<string, Partial<Motion>> = {
  a: { pan: -1 }, d: { pan: 1 }, w: { zoom: -2.4 }, s: { zoom: 2.4 },
  arrowleft: { pan: -1 }, arrowright: { pan: 1 }, arrowup: { scroll: -1.2 }, arrowdown: { scroll: 1.2 },
};

/** A short press moves as much as a hold of this many seconds. */
const TAP = 0.12;

export interface KeyActions {
  /** Moves by a share of a second's motion. Says whether it could. */
  glide(motion: Motion, seconds: number): boolean;
  /** Acts on a key; says whether it knows it. */
  press(key: string, shift: boolean): boolean;
}

export class KeyInput {
  private readonly held = new Map<string, number>();
  private frame = 0;
  private last = 0;

  constructor(canvas: HTMLCanvasElement, private readonly actions: KeyActions) {
    canvas.addEventListener("keydown", (event) => this.down(event));
    canvas.addEventListener("keyup", (event) => this.held.delete(event.key.toLowerCase()));
    canvas.addEventListener("blur", () => this.held.clear());
  }

  private down(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const motion = HELD[key];
    if (motion) {
      if (event.repeat || this.held.has(key)) {
        event.preventDefault();
        return;
      }
      // A key that cannot move anything stays the page's.
      if (!this.actions.glide({ pan: 0, zoom: 0, scroll: 0, ...motion }, TAP)) return;
      event.preventDefault();
      this.held.set(key, performance.now());
      this.last = performance.now();
      this.frame ||= requestAnimationFrame((now) => this.step(now));
    } else if (this.actions.press(event.key, event.shiftKey)) {
      event.preventDefault();
    }
  }

  private step(now: number): void {
    this.frame = 0;
    if (this.held.size === 0) return;
    const seconds = Math.min(0.1, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    const motion: Motion = { pan: 0, zoom: 0, scroll: 0 };
    for (const [key, since] of this.held) {
      // The tap has moved this much already.
      if (now - since < TAP * 1000) continue;
      for (const [name, amount] of Object.entries(HELD[key] ?? {})) motion[name as keyof Motion] += amount;
    }
    this.actions.glide(motion, seconds);
    this.frame = requestAnimationFrame((next) => this.step(next));
  }
}

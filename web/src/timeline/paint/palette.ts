// Colours of the page as canvases need them: as words, and as numbers for
// pixels that are set by hand.

import { color } from "../../theme.ts";

export type Rgb = readonly [number, number, number];

export class Palette {
  private readonly parsed = new Map<string, Rgb>();
  private readonly mixed = new Map<string, string>();
  private readonly hatched = new Map<string, CanvasPattern>();

  /** A custom property's colour. */
  of(name: string): string {
    return color(name);
  }

  rgb(name: string): Rgb {
    let rgb = this.parsed.get(name);
    if (!rgb) {
      const numbers = /^rgba?\((\d+)[, ]+(\d+)[, ]+(\d+)/.exec(color(name));
      rgb = numbers ? [Number(numbers[1]), Number(numbers[2]), Number(numbers[3])] : [128, 128, 128];
      this.parsed.set(name, rgb);
    }
    return rgb;
  }

  /** `share` of one colour in another: `mix("--kernel", "--card", 0.3)`. */
  mix(name: string, ground: string, share: number): string {
    const key = `${name} ${ground} ${share}`;
    let mixed = this.mixed.get(key);
    if (!mixed) {
      const [a, b] = [this.rgb(name), this.rgb(ground)];
      mixed = `rgb(${a.map((n, i) => Math.round(n * share + b[i]! * (1 - share))).join(",")})`;
      this.mixed.set(key, mixed);
    }
    return mixed;
  }

  /** Diagonal lines, for what is not known for certain. */
  hatch(ctx: CanvasRenderingContext2D, name: string): CanvasPattern | string {
    let pattern = this.hatched.get(name);
    if (!pattern) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 8;
      const pen = tile.getContext("2d");
      if (!pen) return this.of(name);
      pen.strokeStyle = this.of(name);
      pen.lineWidth = 1.6;
      pen.beginPath();
      for (const shift of [-8, 0, 8]) {
        pen.moveTo(shift - 1, 9);
        pen.lineTo(shift + 9, -1);
      }
      pen.stroke();
      pattern = ctx.createPattern(tile, "repeat") ?? undefined;
      if (!pattern) return this.of(name);
      this.hatched.set(name, pattern);
    }
    return pattern;
  }
}

/** A pixel for ImageData: not premultiplied, little-endian as all browsers' machines are. */
export function pixel([red, green, blue]: Rgb, alpha: number): number {
  return ((Math.round(alpha * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

// Pixels set by hand: thousands of narrow spans are written into memory and
// drawn at once, which a canvas could not do one by one.

export interface Region {
  /** The first row of the memory that it takes. */
  at: number;
  /** How many rows of memory; a region of one is stretched to its height. */
  rows: number;
  y: number;
  height: number;
}

export class Raster {
  private canvas: HTMLCanvasElement | null = null;
  private image: ImageData | null = null;
  private regions: Region[] = [];
  private used = 0;
  pixels = new Uint32Array(0);
  width = 0;

  /** Begins a frame: `width` in the screen's own pixels. */
  begin(width: number): void {
    this.regions = [];
    if (this.width !== width) {
      this.width = width;
      this.image = null;
    } else {
      this.pixels.fill(0, 0, this.used * width);
    }
    this.used = 0;
  }

  /** Room for `rows` rows of pixels, drawn at `y` with a height in CSS pixels. */
  region(rows: number, y: number, height: number): Region {
    const region = { at: this.used, rows, y, height };
    this.used += rows;
    this.regions.push(region);
    if (!this.image || this.used > this.image.height) this.grow();
    return region;
  }

  /** Draws all regions, from `left`, `width` CSS pixels wide. */
  flush(ctx: CanvasRenderingContext2D, left: number, width: number): void {
    if (this.used === 0 || !this.image) return;
    this.canvas ??= document.createElement("canvas");
    const { canvas, image } = this;
    if (canvas.width !== image.width || canvas.height !== image.height) {
      canvas.width = image.width;
      canvas.height = image.height;
    }
    canvas.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0, 0, 0, image.width, this.used);
    ctx.imageSmoothingEnabled = false;
    for (const { at, rows, y, height } of this.regions) ctx.drawImage(canvas, 0, at, this.width, rows, left, y, width, height);
    ctx.imageSmoothingEnabled = true;
  }

  private grow(): void {
    const rows = Math.max(64, 2 ** Math.ceil(Math.log2(this.used)));
    const image = new ImageData(Math.max(1, this.width), rows);
    const pixels = new Uint32Array(image.data.buffer);
    if (this.image && this.image.width === image.width) pixels.set(this.pixels.subarray(0, Math.min(this.pixels.length, pixels.length)));
    this.image = image;
    this.pixels = pixels;
  }
}

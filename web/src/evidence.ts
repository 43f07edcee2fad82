// The raw files of a boot, read as text where somebody looks.

import type { Evidence } from "./model.ts";

const NEWLINE = 10;

/** Files one after the other in `bytes`, as long as `lengths` says; null of a
 * file that was not kept. */
export class BytesEvidence implements Evidence {
  private files: (Uint8Array | null)[] = [];
  private lines: (Float64Array | undefined)[] = [];
  private readonly decoder = new TextDecoder();

  constructor(private readonly lengths: (number | null)[]) {}

  /** Whether the bytes have come. */
  filled = false;

  /** Takes the bytes, which can come later than all else: until then no file has text. */
  fill(bytes: Uint8Array): void {
    let from = 0;
    this.filled = true;
    this.lines = [];
    this.files = this.lengths.map((length) => {
      if (length === null) return null;
      from += length;
      return bytes.subarray(from - length, from);
    });
  }

  text(file: number, start: number, end: number): string | null {
    const bytes = this.files[file];
    return bytes ? this.decoder.decode(bytes.subarray(start, end)) : null;
  }

  lineCount(file: number): number {
    return this.ends(file).length;
  }

  line(file: number, n: number): string {
    const [start, end] = this.lineBytes(file, n);
    return this.text(file, start, end) ?? "";
  }

  /** From where to where line `n` goes, without its end: CR LF, or GRUB's LF CR. */
  lineBytes(file: number, n: number): [number, number] {
    const ends = this.ends(file);
    const bytes = this.files[file];
    let start = n === 0 ? 0 : ends[n - 1]! + 1;
    let end = ends[n] ?? start;
    while (bytes && end > start && bytes[end - 1] === 13) end--;
    while (bytes && end > start && bytes[start] === 13) start++;
    return [start, end];
  }

  lineAt(file: number, byte: number): number {
    const ends = this.ends(file);
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < byte) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, Math.max(0, ends.length - 1));
  }

  /** Where each line's newline stands; found once, when somebody asks. */
  private ends(file: number): Float64Array {
    const known = this.lines[file];
    if (known) return known;
    const bytes = this.files[file] ?? new Uint8Array();
    const ends: number[] = [];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at);
    if (bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE) ends.push(bytes.length);
    return (this.lines[file] = Float64Array.from(ends));
  }
}

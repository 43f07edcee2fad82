// Which spans were read from which line of a file, and which line was printed
// at which moment. Made when somebody looks: a boot can have a million spans.

import type { Boot } from "../model.ts";

export class FileLines {
  /** Spans read from this file, in order of start. */
  private readonly byTime: Uint32Array;
  /** The same in order of line; lines of them, from 0. */
  private readonly byLine: Uint32Array;
  private readonly line: Uint32Array;
  private readonly boot: Boot;

  constructor(boot: Boot, file: number) {
    const { spans } = boot;
    this.boot = boot;
    const found: number[] = [];
    this.line = new Uint32Array(spans.count);
    for (let i = 0; i < spans.count; i++) {
      const evidence = spans.evidence(i);
      if (evidence.file !== file) continue;
      found.push(i);
      this.line[i] = Math.max(0, evidence.line - 1);
    }
    this.byTime = Uint32Array.from(found);
    this.byLine = this.byTime.slice().sort((a, b) => this.line[a]! - this.line[b]! || a - b);
  }

  /** The line, from 0, that was the last one at this moment; null if none was
   * read from this file so early. */
  lineAtTime(ns: number): number | null {
    const { start } = this.boot.spans;
    const at = lastNotAbove(this.byTime, (span) => start[span]!, ns);
    return at < 0 ? null : this.line[this.byTime[at]!]!;
  }

  /** The span that was read from this line, or from the last lines before it:
   * a burst of console text is one span. Of several, the one that is not
   * console text, for that one says more. */
  spanAtLine(line: number): number | null {
    let at = lastNotAbove(this.byLine, (span) => this.line[span]!, line);
    if (at < 0) return null;
    const own = this.line[this.byLine[at]!]!;
    let best = this.byLine[at]!;
    for (; at >= 0 && this.line[this.byLine[at]!] === own; at--) {
      const span = this.byLine[at]!;
      if (this.isConsole(best) || !this.isConsole(span)) best = span;
    }
    return best;
  }

  /** When this line was printed, ns; null if no span begins with it. */
  timeOfLine(line: number): number | null {
    const at = lastNotAbove(this.byLine, (span) => this.line[span]!, line);
    if (at < 0 || this.line[this.byLine[at]!] !== line) return null;
    return this.boot.spans.start[this.byLine[at]!]!;
  }

  private isConsole(span: number): boolean {
    return this.boot.head.tracks[this.boot.spans.track[span]!]?.kind === "console";
  }
}

/** The last place in `list`, sorted by `key`, whose key is at most `limit`. */
function lastNotAbove(list: Uint32Array, key: (item: number) => number, limit: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The file that holds most of the console; the longest one if none does. */
export function consoleFile(boot: Boot): number {
  const { head, spans } = boot;
  const votes = head.files.map((file) => file.total / 1e9);
  for (let i = 0; i < spans.count; i++) {
    if (head.tracks[spans.track[i]!]?.kind !== "console") continue;
    const { file } = spans.evidence(i);
    if (file < votes.length) votes[file]!++;
  }
  return votes.length === 0 ? 0 : votes.indexOf(Math.max(...votes));
}

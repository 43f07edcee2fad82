// What held what up, and what would change if something took less: the chain of links from
// span to span, walked forwards. What comes out is an estimate: orderings are kept, gaps stay
// as long as they were, and CPU, disk and devices are not shared out anew.

import { END_KNOWN, SPAWNS, type CriticalPath, type Links, type Spans } from "./model.ts";

/** Moments that belong together are taken one after the other, ns; as crates/analysis/src/path.rs. */
const SLACK_NS = 1_000_000;

/** Orderings lie in a few dozen layers; cycles of a damaged file end here. */
const MOST_PASSES = 64;

interface Tie {
  from: number;
  /** When it let the other go. */
  at: number;
  /** Whether that was its beginning, not its end. */
  starts: boolean;
}

export class Chain {
  /** What each span had to wait for. */
  private readonly ties = new Map<number, Tie[]>();
  /** Spans that are tied to others, in order of start. */
  private readonly linked: number[];

  constructor(private readonly spans: Spans, links: Links, private readonly path: CriticalPath) {
    const linked = new Set<number>();
    for (let link = 0; link < links.count; link++) {
      const tie = this.tie(links.from[link]!, links.to[link]!, links.kind[link] === SPAWNS);
      if (!tie) continue;
      const to = links.to[link]!;
      const known = this.ties.get(to);
      if (known) known.push(tie);
      else this.ties.set(to, [tie]);
      linked.add(tie.from).add(to);
    }
    this.linked = [...linked].sort((a, b) => spans.start[a]! - spans.start[b]! || a - b);
  }

  /** The link, if the first was over when the second began: else it held nobody up. */
  private tie(from: number, to: number, starts: boolean): Tie | null {
    const { spans } = this;
    if (!starts && spans.endKind[from] !== END_KNOWN) return null;
    const at = starts ? spans.start[from]! : spans.end[from]!;
    const slack = Math.max(spans.err[from]!, spans.err[to]!, SLACK_NS);
    return at <= spans.start[to]! + slack ? { from, at, starts } : null;
  }

  has(span: number): boolean {
    return this.ties.has(span) || this.linked.includes(span);
  }

  /** How much sooner the boot would end if a span took so much less, ns. Never more than that. */
  saved(span: number, less: number): number {
    /** By how much each span begins sooner. */
    const sooner = new Map<number, number>();
    const moved = (tie: Tie) => tie.at - (sooner.get(tie.from) ?? 0) - (tie.from === span && !tie.starts ? less : 0);
    this.settle(this.linked, (one, ties) => {
      const before = Math.max(...ties.map((tie) => tie.at));
      const by = before - Math.max(...ties.map(moved));
      if (by <= (sooner.get(one) ?? 0)) return false;
      sooner.set(one, by);
      return true;
    });
    const last = this.last();
    if (last === null) return 0;
    return (sooner.get(last) ?? 0) + (last === span ? less : 0);
  }

  /** How much later each span could have been over without the end being later, ns; spans that
   * the end does not wait for are not in it. */
  slacks(): Map<number, number> {
    const slack = new Map<number, number>();
    const last = this.last();
    if (last === null) return slack;
    slack.set(last, 0);
    this.settle([...this.linked].reverse(), (one, ties) => {
      const own = slack.get(one);
      if (own === undefined) return false;
      const bound = Math.max(...ties.map((tie) => tie.at));
      let changed = false;
      for (const tie of ties) {
        const less = own + bound - tie.at;
        if (less >= (slack.get(tie.from) ?? Infinity)) continue;
        slack.set(tie.from, less);
        changed = true;
      }
      return changed;
    });
    return slack;
  }

  /** Passes over spans that wait for others until nothing changes: what began at the same moment
   * can stand in any order. */
  private settle(order: number[], pass: (one: number, ties: Tie[]) => boolean): void {
    for (let n = 0, changed = true; changed && n < MOST_PASSES; n++) {
      changed = false;
      for (const one of order) {
        const ties = this.ties.get(one);
        if (ties && pass(one, ties)) changed = true;
      }
    }
  }

  private last(): number | null {
    return this.path.steps.at(-1)?.span ?? null;
  }
}

// Where the things are that a comparison names, in either boot.

import { button, type Child } from "../dom.ts";
import { took, type Boot, type Page } from "../model.ts";

export class Places {
  private readonly page: Page;
  private readonly spans: Map<string, number>[] = [];

  constructor(page: Page) {
    this.page = page;
  }

  /** What was looked up before the evidence was there may be found now. */
  forget(): void {
    this.spans.length = 0;
  }

  /** `label` as a button that shows the place in every boot that has it; as
   * it is if none has. */
  link(name: string, label: Child): Child {
    const at = this.page.boots.map((_, boot) => this.find(name, boot));
    if (!at.some((place) => place !== null)) return label;
    const visit = () => at.forEach((place, boot) => place && this.page.go.visit(place[0], place[1], boot));
    return button(label, "show it in the timeline", visit, "link");
  }

  /** The interval of this name: a phase, a part of one, a cost, or the
   * longest span that is called so. */
  private find(name: string, at: number): [number, number] | null {
    const boot = this.page.boots[at];
    if (!boot) return null;
    const { phases, costs } = boot.head;
    const known = phases.find((phase) => phase.title === name)
      ?? phases.flatMap((phase) => phase.parts).find((part) => part.name === name)
      ?? costs.find((cost) => cost.name === name);
    if (known) return [known.start_ns, known.end_ns];
    const span = this.index(boot, at).get(name);
    return span === undefined ? null : [boot.spans.start[span]!, boot.spans.end[span]!];
  }

  /** Longest spans by name, of those that a comparison could name. */
  private index(boot: Boot, at: number): Map<string, number> {
    let index = this.spans[at];
    if (index) return index;
    index = this.spans[at] = new Map();
    const { spans, head } = boot;
    const wanted = new Set((this.page.head.comparison?.parts ?? []).map((delta) => delta.name));
    if (wanted.size === 0) return index;
    for (let i = 0; i < spans.count; i++) {
      if (head.tracks[spans.track[i]!]?.kind === "console") continue;
      const name = spans.name(i);
      if (!wanted.has(name)) continue;
      const known = index.get(name);
      if (known === undefined || (took(spans, i) ?? 0) > (took(spans, known) ?? 0)) index.set(name, i);
    }
    return index;
  }
}

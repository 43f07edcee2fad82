// What the disks were asked for, phase by phase, and how long the CPU waited for them.

import { section, table } from "../dom.ts";
import { bytes, count, duration } from "../format.ts";
import type { Asked, Disks, Head, Page } from "../model.ts";

export function disks({ head }: Page): HTMLElement | null {
  const { disks } = head;
  if (!disks) return null;
  const columns: [string, string][] = [["phase", "text"], ["read", "number"], ["written", "number"], ["flushes", "number"]];
  const text = takesTime(disks)
    ? "What the disks were asked for, and how long the CPU waited: it was idle, or polled, while one of them worked."
    : "What the disks were asked for; they take no time here.";
  if (takesTime(disks)) columns.push(["CPU waits", "number"]);
  return section("disks", "disks", text, table(columns, rowsOf(disks, head.phases)));
}

/** A row for each phase, and one for all where there are several. */
export function rowsOf(disks: Disks, phases: Pick<Head["phases"][number], "name" | "title">[]): string[][] {
  const row = (name: string, asked: Asked) => {
    const again = asked.again_bytes > 0 ? ` (${bytes(asked.again_bytes)} of it again)` : "";
    const cells = [name, amount(asked.reads, asked.read_bytes) + again, amount(asked.writes, asked.written_bytes), some(asked.flushes, count)];
    return takesTime(disks) ? [...cells, some(asked.waited_ns, duration)] : cells;
  };
  const rows = disks.phases.map((one) => row(phases.find(({ name }) => name === one.phase)?.title ?? one.phase, one));
  return rows.length > 1 ? [...rows, row("together", disks)] : rows;
}

/** In simulated time disks take none. */
function takesTime(disks: Disks): boolean {
  return disks.waited_ns > 0;
}

/** How much, and in how many requests. */
function amount(requests: number, of: number): string {
  return some(requests, (n) => `${bytes(of)} in ${count(n)}`);
}

function some(n: number, text: (n: number) => string): string {
  return n === 0 ? "–" : text(n);
}

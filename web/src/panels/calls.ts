// Calls as trees that are opened step by step: from the callers down, or from what took the time
// up to who called it.

import type { Frame } from "./stacks.ts";

export interface Branch {
  name: string;
  /** What it stands for, ns: top-down with what it called; bottom-up time of the outermost
   * function's own that passed on this way. */
  ns: number;
  calls: number;
  /** The next ones, the longest first; made when somebody opens it. */
  branches(): Branch[];
}

const byLength = (a: Branch, b: Branch) => b.ns - a.ns || (a.name < b.name ? -1 : 1);

/** Who calls, then what is called. */
export function topDown(frame: Frame): Branch[] {
  const branch = (child: Frame): Branch => ({
    name: child.name, ns: child.total, calls: child.calls, branches: () => topDown(child),
  });
  return [...frame.children.values()].map(branch).sort(byLength);
}

/** A call's time on its way to the callers. */
interface Way { at: Frame; ns: number; calls: number }

/** What has time of its own, then who called it. */
export function bottomUp(root: Frame): Branch[] {
  const ways: Way[] = [];
  const look = (frame: Frame) => {
    if (frame.calls > 0) ways.push({ at: frame, ns: frame.self, calls: frame.calls });
    for (const child of frame.children.values()) look(child);
  };
  look(root);
  return grouped(ways);
}

function grouped(ways: Way[]): Branch[] {
  const by = new Map<string, Way[]>();
  for (const way of ways) {
    const same = by.get(way.at.name);
    if (same) same.push(way);
    else by.set(way.at.name, [way]);
  }
  const branch = ([name, ways]: [string, Way[]]): Branch => ({
    name,
    ns: ways.reduce((sum, way) => sum + way.ns, 0),
    calls: ways.reduce((sum, way) => sum + way.calls, 0),
    // All stacks begin in the root, which is no caller.
    branches: () => grouped(ways.flatMap(({ at, ns, calls }) => (at.parent?.parent ? [{ at: at.parent, ns, calls }] : []))),
  });
  return [...by].map(branch).sort(byLength);
}

// Finding spans: by a part of their name, by /regex/, by how long they took.
// A million names are looked through in slices, so that typing stays smooth.

import { END_UNKNOWN, type Selection } from "../model.ts";
import type { Placed } from "./boot.ts";
import { lowerBound } from "./pyramid.ts";

export interface Query {
  /** Lower case; empty matches every name. */
  text: string;
  regex: RegExp | null;
  /** Durations in ns, both ends allowed. */
  least: number;
  most: number;
  /** What is wrong with it, for people. */
  error: string | null;
}

const UNITS: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, "": 1e6 };

/** `usb`, `/^usb.*init/`, `>5ms`, `usb >5ms <1s`. A number without a unit is in ms. */
export function parseQuery(input: string): Query {
  const query: Query = { text: "", regex: null, least: -Infinity, most: Infinity, error: null };
  const rest = input.replace(/(^|\s)([<>])=?\s*(\d+(?:\.\d+)?)\s*(ns|us|[µμ]s|ms|s|)(?=\s|$)/gu, (_, _space, sign, number, unit) => {
    const ns = Number(number) * UNITS[unit as string]!;
    if (sign === ">") query.least = Math.max(query.least, ns);
    else query.most = Math.min(query.most, ns);
    return " ";
  }).trim();
  const pattern = /^\/(.+?)\/?(i?)$/.exec(rest);
  if (pattern && rest.length > 1) {
    try {
      query.regex = new RegExp(pattern[1]!, "iu");
    } catch {
      query.error = "not a regular expression";
    }
  } else {
    query.text = rest.toLowerCase();
  }
  return query;
}

/** Whether the query asks for anything. */
export function isEmpty(query: Query): boolean {
  return query.text === "" && !query.regex && query.least === -Infinity && query.most === Infinity && !query.error;
}

/** A test of one span. Answers about names are kept: names repeat. */
export function matcher(query: Query, placed: Placed): (span: number) => boolean {
  const { spans } = placed.boot;
  const { text, regex, least, most } = query;
  if (query.error) return () => false;
  const timed = least > -Infinity || most < Infinity;
  const known = new Map<string, boolean>();
  const byName = (name: string) => {
    let answer = known.get(name);
    if (answer === undefined) {
      answer = regex ? regex.test(name) : name.toLowerCase().includes(text);
      if (known.size < 200_000) known.set(name, answer);
    }
    return answer;
  };
  return (span) => {
    if (timed) {
      // Nobody knows how long these took.
      if (spans.endKind[span] === END_UNKNOWN) return false;
      const took = placed.end[span]! - spans.start[span]!;
      if (took < least || took > most) return false;
    }
    return (text === "" && !regex) || byName(spans.name(span));
  };
}

/** The spans found, per boot: one byte each, and a list in order of start. */
export interface Found {
  flags: Uint8Array;
  ids: Uint32Array;
}

/** Gives way to the browser; resolves when it is our turn again. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** How long one slice may take, ms. */
const SLICE = 12;

/** Looks through all spans of all boots; null if `stopped` says so meanwhile. */
export async function search(
  query: Query, boots: readonly Placed[], stopped: () => boolean, pause = nextTurn,
): Promise<Found[] | null> {
  const all: Found[] = [];
  let until = performance.now() + SLICE;
  for (const placed of boots) {
    const matches = matcher(query, placed);
    const { count } = placed.boot.spans;
    const flags = new Uint8Array(count);
    let total = 0;
    for (let i = 0; i < count; i++) {
      if (matches(i)) {
        flags[i] = 1;
        total++;
      }
      if ((i & 1023) === 1023 && performance.now() > until) {
        await pause();
        if (stopped()) return null;
        until = performance.now() + SLICE;
      }
    }
    const ids = new Uint32Array(total);
    for (let i = 0, n = 0; n < total; i++) if (flags[i]) ids[n++] = i;
    all.push({ flags, ids });
  }
  return all;
}

/** The match after or before what is selected, over all boots and round again.
 * Without a selection: the first one from `inView` on. Null if there is none. */
export function nextMatch(
  all: readonly { boot: number; ids: Uint32Array }[], selected: Selection | null, by: number, inView: (boot: number) => number,
): Selection | null {
  const lists = all.filter(({ ids }) => ids.length > 0);
  let list = Math.max(0, lists.findIndex(({ boot }) => boot === selected?.boot));
  const here = lists[list];
  if (!here) return null;
  const from = selected?.boot === here.boot ? selected.span : inView(here.boot) - (by > 0 ? 1 : 0);
  let at = by > 0 ? lowerBound(here.ids, from + 1) : lowerBound(here.ids, from) - 1;
  if (at < 0 || at >= here.ids.length) {
    list = (list + by + lists.length) % lists.length;
    at = by > 0 ? 0 : lists[list]!.ids.length - 1;
  }
  return { boot: lists[list]!.boot, span: lists[list]!.ids[at]! };
}

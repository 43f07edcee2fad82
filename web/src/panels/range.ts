// What happened between two moments: sums for each lane and each name, of the time that lies
// within; how much of it was silence and waiting, what was printed, and how much of the critical
// path it is.

import { button, el, facts, table, type Child } from "../dom.ts";
import { bytes, count, duration, moment, percent } from "../format.ts";
import { END_UNKNOWN, type Boot, type Selection, type Total } from "../model.ts";
import { lowerBound } from "../timeline/pyramid.ts";

export interface Range {
  /** On the boot's own clock, ns. */
  start: number;
  end: number;
}

export interface Sum {
  name: string;
  lane: string;
  /** How many were there, and how long altogether within the range, ns. */
  count: number;
  ns: number;
  /** The longest of them. */
  span: number;
}

export interface LaneSum {
  lane: string;
  count: number;
  /** How long anything in it went on, ns; and all of them added up. */
  busy: number;
  ns: number;
}

export interface Sums {
  names: Sum[];
  lanes: LaneSum[];
  /** Silences within, and how much of them the CPU waited; null where nobody knows. */
  silent: number;
  waiting: number | null;
  lines: number;
  printed: number;
  /** Time of the critical path's steps within, ns; null where there is no path. */
  path: number | null;
  /** Of what only grows: the least and the most that can lie within. */
  totals: { name: string; unit: string; least: number; most: number }[];
}

const overlap = (range: Range, start: number, end: number) => Math.max(0, Math.min(range.end, end) - Math.max(range.start, start));

/** The least and the most of it up to a moment: what is known before it, and after. */
function until({ at, sum, whole }: Total, moment: number): [number, number] {
  const before = lowerBound(at, moment);
  const n = before + Number(at[before] === moment);
  const least = n > 0 ? sum[n - 1]! : 0;
  if (whole || at[n - 1] === moment) return [least, least];
  return [least, n < sum.length ? sum[n]! : least];
}

function totalsOf(totals: Total[], range: Range): Sums["totals"] {
  return totals.map((total) => {
    const [from, to] = [until(total, range.start), until(total, range.end)];
    return { name: total.name, unit: total.unit, least: Math.max(0, to[0] - from[1]), most: to[1] - from[0] };
  });
}

/** All that lies within, at least in part. */
export function sumsOf(boot: Boot, range: Range): Sums {
  const { spans, head } = boot;
  const names = new Map<string, Sum>();
  const lanes = new Map<string, LaneSum & { until: number }>();
  let [lines, printed] = [0, 0];
  for (let i = 0; i < spans.count && spans.start[i]! < range.end; i++) {
    const [start, end] = [spans.start[i]!, Math.max(spans.start[i]!, spans.end[i]!)];
    if (end < range.start || (end === range.start && start < range.start)) continue;
    const kind = head.tracks[spans.track[i]!]?.kind ?? "";
    if (kind === "console") {
      if (start < range.start) continue;
      const place = spans.evidence(i);
      lines++;
      printed += place.end - place.start;
      continue;
    }
    if (spans.endKind[i] === END_UNKNOWN) continue;
    const ns = overlap(range, start, end);
    const lane = lanes.get(kind) ?? { lane: kind, count: 0, busy: 0, ns: 0, until: range.start };
    lane.count++;
    lane.ns += ns;
    // In order of start: what goes on when this ends was not counted yet.
    lane.busy += overlap(range, Math.max(start, lane.until), end);
    lane.until = Math.max(lane.until, end);
    lanes.set(kind, lane);
    const name = spans.name(i).trim() || "(blank)";
    const key = `${kind}\0${name}`;
    const sum = names.get(key) ?? { name, lane: kind, count: 0, ns: 0, span: i };
    sum.count++;
    sum.ns += ns;
    if (spans.end[i]! - start > spans.end[sum.span]! - spans.start[sum.span]!) sum.span = i;
    names.set(key, sum);
  }
  let [silent, waiting, known] = [0, 0, false];
  for (const gap of head.gaps) {
    const ns = overlap(range, gap.start_ns, gap.end_ns);
    silent += ns;
    if (gap.idle_share !== null && ns > 0) [waiting, known] = [waiting + ns * gap.idle_share, true];
  }
  const steps = head.path?.steps.reduce((sum, step) => sum + overlap(range, step.start_ns, step.end_ns), 0);
  return {
    names: [...names.values()].sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1)),
    lanes: [...lanes.values()].map(({ until: _, ...lane }) => lane).sort((a, b) => b.busy - a.busy),
    silent, waiting: known ? waiting : null, lines, printed, path: steps ?? null, totals: totalsOf(head.totals, range),
  };
}

/** The sums as text with a separator, for other programs. */
export function asText(sums: Sums, separator: "," | "\t"): string {
  const cell = (text: string) => (separator === "," && /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text.replace(/[\t\r\n]/g, " "));
  const rows = [["lane", "name", "count", "ns"], ...sums.names.map((sum) => [sum.lane, sum.name, String(sum.count), String(sum.ns)])];
  return rows.map((row) => row.map(cell).join(separator)).join("\n") + "\n";
}

const SHOWN = 60;

/** What is known to a hundredth is one number. */
function amount({ unit, least, most }: Sums["totals"][number]): string {
  const shown = (n: number) => (unit === "B" ? bytes(Math.round(n)) : count(Math.round(n)));
  if (least === most) return shown(least);
  return most - least <= most / 100 ? `about ${shown((least + most) / 2)}` : `${shown(least)} to ${shown(most)}`;
}

/** The same as nodes for a panel. */
export function rangeNodes(boot: Boot, range: Range, n: number, choose: (selection: Selection) => void): Node[] {
  const sums = sumsOf(boot, range);
  const length = range.end - range.start;
  const share = (ns: number) => percent(length > 0 ? ns / length : 0);
  const rows: [string, Child][] = [
    ["from", moment(range.start)], ["to", moment(range.end)],
    ["silent", sums.silent > 0 && `${duration(Math.round(sums.silent))}, ${share(sums.silent)}`],
    ["waiting", sums.waiting !== null && `${duration(Math.round(sums.waiting))}, ${share(sums.waiting)}`],
    ["printed", sums.lines > 0 && `${count(sums.lines)} lines, ${bytes(sums.printed)}`],
    ...sums.totals.filter((total) => total.most > 0).map((total): [string, Child] => [total.name, amount(total)]),
    ["critical path", sums.path !== null && `${duration(Math.round(sums.path))} of its steps, ${share(sums.path)}`],
  ];
  const said = el("span", { class: "note", role: "status" });
  const copy = (separator: "," | "\t") => () => {
    void navigator.clipboard.writeText(asText(sums, separator)).then(() => { said.textContent = "copied"; },
      () => { said.textContent = "the browser does not let pages copy here"; });
  };
  const picked = sums.names.slice(0, SHOWN);
  const rest = sums.names.length - picked.length;
  return [
    el("h3", {}, `${duration(Math.round(length))} selected`),
    facts(rows.filter(([, value]) => value)),
    sums.lanes.length > 0 && table([["lane", "text"], ["busy", "number"], ["", "number"], ["spans", "number"], ["added up", "number"]],
      sums.lanes.map((lane) => [lane.lane, duration(Math.round(lane.busy)), share(lane.busy), count(lane.count), duration(Math.round(lane.ns))])),
    picked.length > 0 && table([["name", "text"], ["within", "number"], ["times", "number"]],
      picked.map((sum) => [button(sum.name.slice(0, 120), "select the longest", () => choose({ boot: n, span: sum.span }), "link"),
        duration(Math.round(sum.ns)), count(sum.count)])),
    rest > 0 && el("p", { class: "note" }, `and ${count(rest)} more`),
    el("p", { class: "controls" }, button("copy as text", "", copy("\t")), button("copy as CSV", "", copy(",")), said),
  ].filter((node): node is HTMLElement => node instanceof Node);
}

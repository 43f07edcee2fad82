// Puts the page together.

import { Bench } from "./bench.ts";
import { el } from "./dom.ts";
import { formatHash, parseHash } from "./hash.ts";
import type { Boot, Page, Selection } from "./model.ts";
import { load, PAINTED } from "./pack.ts";
import { ConsolePanel } from "./panels/console.ts";
import { DetailsPanel } from "./panels/details.ts";
import { flameSection } from "./panels/flame.ts";
import { thingOf } from "./panels/thing.ts";
import { basis } from "./sections/basis.ts";
import { comparison } from "./sections/comparison.ts";
import { costs } from "./sections/costs.ts";
import { findings } from "./sections/findings.ts";
import { gaps } from "./sections/gaps.ts";
import { topbar } from "./sections/headline.ts";
import { groups } from "./sections/groups.ts";
import { largest } from "./sections/largest.ts";
import { notices } from "./sections/notices.ts";
import { criticalPath } from "./sections/path.ts";
import { disks } from "./sections/disks.ts";
import { splits } from "./sections/splits.ts";
import { trials } from "./sections/trials.ts";
import { verdict } from "./sections/verdict.ts";
import { setTheme, theme, watchTheme } from "./theme.ts";
import { listenForHelp } from "./timeline/help.ts";
import { Timeline } from "./timeline/timeline.ts";
import { skipLink, themeButton } from "./topbar.ts";

function show(root: HTMLElement, boots: Boot[]): void {
  // Panels select through the timeline, which tells all of them.
  const choose = (selection: Selection) => timeline.selectAndShow(selection);
  const details = new DetailsPanel(boots, choose);
  const lines = new ConsolePanel(boots, choose);
  const timeline: Timeline = new Timeline(boots, {
    onSelect: (selection) => {
      details.show(selection);
      if (selection) void lines.show(selection);
    },
    onThing: (thing) => {
      const about = thing && thingOf(boots, thing);
      if (!about) return;
      details.showThing(about);
      void lines.showMoment(about.boot, about.from);
    },
    onRange: (range) => {
      flame?.of(range && timeline.ownRanges(range)[0]!.range);
      if (!range) {
        details.show(null);
        return;
      }
      const parts = timeline.ownRanges(range);
      details.showRange(parts);
      void lines.showMoment(parts[0]!.boot, parts[0]!.range.start);
    },
    onFinding: openFinding,
    onTime: () => undefined,
    onChange: () => address.save(),
    room: () => bench.room(),
  });
  const flame = flameSection(boots[0]!);
  const bench: Bench = new Bench(timeline.element, [details.element, lines.element], () => address.save());
  const address = addressOf(timeline, bench, (text) => {
    timeline.search(text);
    void boots[0]!.evidence.then(() => {
      const span = firstNamed(boots[0]!, text);
      if (span !== null) page.go.show({ boot: 0, span });
    });
  });
  const page: Page = { boots, head: boots[0]!.head, go: {
    select: (selection) => timeline.select(selection),
    show: (selection) => {
      choose(selection);
      bench.show();
    },
    visit: (start, end, boot) => {
      timeline.visit(start, end, boot);
      bench.show();
    },
    advice: openFinding,
  } };
  document.body.prepend(skipLink());
  root.append(...[
    topbar(page, themeButton(() => address.save())), groups(page), verdict(page), bench.element,
    el("div", { class: "texts" }, ...[
      comparison(page), costs(page), findings(page), splits(page), disks(page), criticalPath(page), trials(page), flame?.element ?? null,
      gaps(page), largest(page), notices(page), basis(page),
    ]),
  ].filter((node) => node !== null));
  listenForHelp();
  address.restore();
  // A link to something shows it.
  if (location.hash.length > 1 && !/^#(theme|dock)=/.test(location.hash)) bench.show();
  addEventListener("hashchange", address.restore);
  afterPaint(() => {
    performance.mark(PAINTED);
    dispatchEvent(new Event(PAINTED));
    void lines.start();
  });
}

/** A pin in the timeline leads to its advice, which only the first boot has. */
function openFinding(index: number, boot = 0): void {
  const entry = boot === 0 ? document.getElementById(`finding-${index}`) : null;
  if (!(entry instanceof HTMLDetailsElement)) return;
  entry.open = true;
  entry.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

/** The first span with this in its name: rather one that says something than
 * the console's text. */
function firstNamed({ spans, head }: Boot, text: string): number | null {
  const wanted = text.toLowerCase();
  let line: number | null = null;
  for (let i = 0; i < spans.count; i++) {
    const isLine = head.tracks[spans.track[i]!]?.kind === "console";
    if ((isLine && line !== null) || !spans.name(i).toLowerCase().includes(wanted)) continue;
    if (!isLine) return i;
    line = i;
  }
  return line;
}

/** Keeps the page's address and what is shown the same. */
function addressOf(timeline: Timeline, bench: Bench, find: (text: string) => void): { save: () => void; restore: () => void } {
  let written: string | null = null;
  const save = () => {
    written = formatHash({ timeline: timeline.state(), theme: theme(), dock: bench.state() });
    if (written === location.hash.slice(1)) return;
    // Some browsers refuse too many changes in a short time.
    try {
      history.replaceState(null, "", written === "" ? location.pathname + location.search : `#${written}`);
    } catch { /* the address stays as it was */ }
  };
  const restore = () => {
    if (location.hash.slice(1) === written) return;
    const address = parseHash(location.hash);
    setTheme(address.theme);
    bench.restore(address.dock);
    timeline.restore(address.timeline);
    if (address.find) find(address.find);
  };
  return { save, restore };
}

function afterPaint(then: () => void): void {
  requestAnimationFrame(() => setTimeout(then));
}

const root = document.getElementById("report")!;
watchTheme();
setTheme(parseHash(location.hash).theme);
try {
  show(root, await load());
} catch (error) {
  root.append(el("p", { class: "bad", role: "alert" }, `This page cannot show its data: ${error}`));
  console.error(error);
}

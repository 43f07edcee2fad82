// Puts the page together.

import { el, section } from "./dom.ts";
import { formatHash, parseHash } from "./hash.ts";
import type { Boot, Page, Selection } from "./model.ts";
import { load } from "./pack.ts";
import { ConsolePanel } from "./panels/console.ts";
import { DetailsPanel } from "./panels/details.ts";
import { flameSection } from "./panels/flame.ts";
import { basis } from "./sections/basis.ts";
import { comparison } from "./sections/comparison.ts";
import { costs } from "./sections/costs.ts";
import { findings } from "./sections/findings.ts";
import { gaps } from "./sections/gaps.ts";
import { headline } from "./sections/headline.ts";
import { largest } from "./sections/largest.ts";
import { notices } from "./sections/notices.ts";
import { splits } from "./sections/splits.ts";
import { trials } from "./sections/trials.ts";
import { setTheme, theme, watchTheme } from "./theme.ts";
import { Timeline } from "./timeline/timeline.ts";
import { skipLink, themeButton } from "./topbar.ts";

function show(root: HTMLElement, boots: Boot[]): void {
  const select = (selection: Selection | null) => {
    details.show(selection);
    if (selection) void lines.show(selection);
    address.save();
  };
  // Panels select through the timeline, which tells `select`.
  const details = new DetailsPanel(boots, (selection) => timeline.select(selection));
  const lines = new ConsolePanel(boots, (selection) => timeline.select(selection));
  const timeline = new Timeline(boots, { onSelect: select, onTime: () => undefined });
  const address = addressOf(timeline);
  const page: Page = { boots, head: boots[0]!.head, go: {
    select: (selection) => timeline.select(selection),
    visit: (start, end, boot) => {
      timeline.visit(start, end, boot);
      timeline.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
    },
  } };
  const header = headline(page);
  header.querySelector(".brand")?.append(themeButton(address.save));
  document.body.prepend(skipLink());
  root.append(...[
    header, splits(page), comparison(page),
    section("timeline", "timeline", "", timeline.element, el("div", { class: "panels" }, details.element, lines.element)),
    costs(page), findings(page), trials(page), flameSection(boots[0]!), gaps(page), largest(page), notices(page), basis(page),
  ].filter((node) => node !== null));
  address.restore();
  addEventListener("hashchange", address.restore);
  afterPaint(() => {
    performance.mark("bootlap-painted");
    void lines.start();
  });
}

/** Keeps the page's address and what is shown the same. */
function addressOf(timeline: Timeline): { save: () => void; restore: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = "";
  const write = () => {
    written = formatHash({ timeline: timeline.state(), theme: theme() });
    if (written === location.hash.slice(1)) return;
    // Some browsers refuse too many changes in a short time.
    try {
      history.replaceState(null, "", written === "" ? location.pathname + location.search : `#${written}`);
    } catch { /* the address stays as it was */ }
  };
  const save = () => {
    clearTimeout(timer);
    timer = setTimeout(write, 300);
  };
  for (const event of ["wheel", "pointerup", "keyup", "input", "click"]) {
    timeline.element.addEventListener(event, save, { passive: true });
  }
  const restore = () => {
    if (location.hash.slice(1) === written && written !== "") return;
    const address = parseHash(location.hash);
    setTheme(address.theme);
    timeline.restore(address.timeline);
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

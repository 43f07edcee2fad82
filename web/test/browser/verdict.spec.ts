// The first screen, the workbench and what is selected: with the mouse, by touch, by keys alone;
// the five tasks that people open the page for, each within two clicks; and what axe finds.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { axeFinds, browser, fixture, grabserial, open, Pages } from "./harness.ts";

const pages = new Pages();
let chromium: Browser;
let debian: string;
let pair: string;

beforeAll(async () => {
  chromium = await browser();
  const boot = (name: string) => fixture(`boots/debian13-systemd257/${name}`);
  debian = pages.report("debian", boot("console.stamps.gz"), boot("plot.json"), boot("units.txt.gz"), boot("dmesg.txt.gz"), "--ready", "APP_READY");
  const lines = ["U-Boot 2024.01", "Hit any key to stop autoboot:  0", "Starting kernel ...", "[    0.000000] Linux version 6.1.0", "Run /sbin/init as init process", "login:"];
  pair = pages.report("pair", pages.write("new.log", grabserial(lines)), "--before", pages.write("old.log", grabserial(lines, 0.2)));
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

/** Whether all of an element is in the window. */
const inSight = (page: Page, selector: string) => page.locator(selector).first().evaluate((node) => {
  const { top, bottom, left, right } = node.getBoundingClientRect();
  return top >= -1 && left >= -1 && bottom <= innerHeight + 1 && right <= innerWidth + 1;
});

const heading = (page: Page) => page.locator(".details h3").first().textContent();

/** Where a moment is in the timeline's lanes. */
async function place(page: Page, seconds: number, y = 0.9): Promise<{ x: number; y: number }> {
  const box = (await page.locator(".tl-canvas").boundingBox())!;
  // The gutter is 176 px at this width; the view has 1.2 % of room at each side.
  const [from, length] = [176 + box.x, box.width - 176];
  return { x: from + length * ((seconds / 13.578 + 0.012) / 1.024), y: box.y + box.height * y };
}

describe("the first screen", () => {
  for (const [width, height] of [[1440, 900], [2560, 1440]] as const) {
    it(`has the verdict, the costs with their fixes, and the timeline: ${width} px`, async () => {
      const { page } = await open(chromium, debian, { viewport: { width, height } });
      for (const part of [".headline", ".top-costs", "#verdict .segments", ".tl-bar", ".tl-map"]) expect(await inSight(page, part), part).toBe(true);
      expect(await page.locator(".headline").textContent()).toContain("13.578");
      expect(await page.locator(".top-costs li").count()).toBe(3);
      expect(await page.locator(".top-costs .fix").count()).toBeGreaterThan(0);
      // The whole width is used.
      const lanes = (await page.locator(".bench").boundingBox())!;
      expect(lanes.width).toBeGreaterThan(width - 60);
      await page.context().close();
    });
  }

  it("labels silences where there is room, and leads to them", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    const silence = page.locator(".silence").first();
    expect(await silence.getAttribute("aria-label")).toMatch(/^silent \d/);
    expect(await page.locator('.silence[data-shows="long"], .silence[data-shows="short"]').count()).toBeGreaterThan(0);
    const cut = await page.locator('.silence:not([data-shows="none"])').evaluateAll((all) => all.filter((box) => {
      const word = box.querySelector<HTMLElement>(box.getAttribute("data-shows") === "long" ? ".long" : ".short")!;
      return word.getBoundingClientRect().right > box.getBoundingClientRect().right + 1;
    }).length);
    expect(cut).toBe(0);
    await silence.click();
    expect(await heading(page)).toMatch(/ selected$/);
    await page.context().close();
  });

  it("is not red where nothing was asked for", async () => {
    const quiet = pages.report("quiet", pages.write("quiet.log", grabserial(["Linux version 6.1.0", "a line", "the last"])));
    const { page } = await open(chromium, quiet);
    expect(await page.locator(".headline .bad").count()).toBe(0);
    await page.context().close();
  });
});

describe("the workbench", () => {
  it("keeps what is selected in sight, wherever it is asked for", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    await page.locator("#path button.link").last().click();
    expect(await inSight(page, ".details h3")).toBe(true);
    expect(await inSight(page, ".tl-canvas")).toBe(true);
    await page.waitForFunction(() => /s\d+/.test(location.hash));
    // A link to it opens at it.
    const again = await open(chromium, page.url(), { viewport: { width: 1440, height: 900 } });
    expect(await heading(again.page)).toBe(await heading(page));
    expect(await inSight(again.page, ".details h3")).toBe(true);
    await again.page.context().close();
    await page.context().close();
  });

  it("has a dock whose size and side the address remembers: by mouse and by keys", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    const width = async () => (await page.locator(".bench-dock").boundingBox())!.width;
    const before = await width();
    const handle = (await page.locator(".bench-handle").boundingBox())!;
    await page.mouse.move(handle.x + 7, handle.y + 50);
    await page.mouse.down();
    await page.mouse.move(handle.x - 93, handle.y + 50, { steps: 4 });
    await page.mouse.up();
    expect(await width()).toBeCloseTo(before + 100, -1);
    await page.focus(".bench-handle");
    await page.keyboard.press("ArrowRight");
    const after = await width();
    expect(after).toBeCloseTo(before + 76, -1);
    await page.waitForFunction(() => location.hash.includes("dock="));
    const again = await open(chromium, page.url(), { viewport: { width: 1440, height: 900 } });
    expect((await again.page.locator(".bench-dock").boundingBox())!.width).toBe(after);
    await again.page.click(".bench-turn");
    const [lanes, dock] = await Promise.all([".bench-lanes", ".bench-dock"].map((part) => again.page.locator(part).boundingBox()));
    expect(dock!.y).toBeGreaterThanOrEqual(lanes!.y + lanes!.height);
    expect(dock!.y + dock!.height - lanes!.y).toBeLessThanOrEqual(900);
    await again.page.context().close();
    await page.context().close();
  });

  it("shows no place of what is only known to be long", async () => {
    const blame = pages.report("blame", fixture("fixtures/systemd/handmade/time-and-blame/input"));
    const { page } = await open(chromium, blame, { viewport: { width: 1440, height: 900 } });
    expect(await page.locator(".top-costs .cost").first().textContent()).toBe("9.012 s NetworkManager-wait-online.service");
    for (const place of [".top-costs button.cost", ".costs button.time", ".costs .where"]) expect(await page.locator(place).count(), place).toBe(0);
    await page.context().close();
  });

  it("stands below on a telephone, and nothing is wider than that", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    expect(await inSight(page, ".headline")).toBe(true);
    await page.locator(".top-costs .cost").first().tap();
    expect(await heading(page)).toMatch(/ selected$/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.context().close();
  });
});

describe("a range", () => {
  it("is dragged, summed up, copied, and let go", async () => {
    const { page, complaints } = await open(chromium, debian, { viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
    const [from, to] = [await place(page, 6.5), await place(page, 9.5)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 5 });
    await page.mouse.up();
    const seconds = Number.parseFloat((await heading(page))!);
    expect(seconds).toBeGreaterThan(2.8);
    expect(seconds).toBeLessThan(3.2);
    const terms = await page.locator(".details dt").allTextContents();
    expect(terms).toEqual(expect.arrayContaining(["from", "to", "silent", "printed", "instructions", "critical path"]));
    const lane = page.locator(".details table").first().locator("tr", { hasText: "unit" });
    const busy = Number.parseFloat((await lane.locator("td").nth(1).textContent())!);
    expect(busy).toBeLessThanOrEqual(seconds + 0.001);
    await page.click("text=copy as CSV");
    const csv = await page.evaluate(() => navigator.clipboard.readText());
    expect(csv.split("\n")[0]).toBe("lane,name,count,ns");
    expect(csv.split("\n").length).toBeGreaterThan(10);
    // The address has it, and Escape takes it away.
    await page.waitForFunction(() => /m\d+_\d+/.test(location.hash));
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("Escape");
    expect(await heading(page)).toBe("nothing selected");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("is made by keys alone: of a span, and from one to another", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("n");
    const took = await page.locator(".details dd").first().textContent();
    await page.keyboard.press("r");
    expect(await heading(page)).toBe(`${took} selected`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("r");
    expect(Number.parseFloat((await heading(page))!)).toBeGreaterThan(13.5);
    await page.keyboard.press("u");
    await page.keyboard.press("u");
    await page.context().close();
  });
});

describe("the critical path", () => {
  it("is a lane, a table and arrows, and says what half of a step is worth", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    const rows = page.locator("#path tbody").first().locator("tr");
    expect(await rows.count()).toBeGreaterThan(10);
    const last = rows.last().locator("td");
    expect(await last.first().textContent()).toBe("kiosk.service");
    // What the last step saves, the boot saves: nothing runs beside it.
    const [took, half, without] = await Promise.all([3, 4, 5].map(async (n) => Number.parseFloat((await last.nth(n).textContent())!)));
    expect(half! * 2).toBeCloseTo(took!, 0);
    expect(without).toBeCloseTo(took!, 0);
    await last.first().locator("button").click();
    const said = await page.locator(".details").textContent();
    expect(said).toContain("it is on it");
    expect(said).toMatch(/ready 4\d\d\.\d ms sooner, at 13\.1\d+ s \(estimate\)/);
    expect(await page.locator("#path h3").textContent()).toBe("close behind");
    await page.context().close();
  });
});

describe("tracks, matches, keys, undo", () => {
  it("hides and moves lanes, and the address holds it", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    await page.click("text=tracks");
    const rows = page.locator(".tracks li");
    const names = async () => (await rows.locator("label").allTextContents()).map((name) => name.trim());
    const before = await names();
    await page.locator(".tracks li", { hasText: "console" }).locator("input").uncheck();
    // With the mouse: the last row to the top.
    const grip = (at: number) => rows.nth(at).locator(".grip");
    const [from, to] = [(await grip(before.length - 1).boundingBox())!, (await grip(0).boundingBox())!];
    await page.mouse.move(from.x + 4, from.y + 4);
    await page.mouse.down();
    await page.mouse.move(to.x + 4, to.y - 2, { steps: 5 });
    await page.mouse.up();
    expect(await names()).toEqual([before.at(-1), ...before.slice(0, -1)]);
    // By keys: one down again.
    await rows.first().locator("button").last().focus();
    await page.keyboard.press("Enter");
    const after = [before[0], before.at(-1), ...before.slice(1, -1)];
    expect(await names()).toEqual(after);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
    // The address, once it says all.
    const settled = async () => {
      for (let before: string | null = null; ;) {
        const now = await page.evaluate(() => location.hash);
        if (now === before) return now;
        before = now;
        await page.waitForTimeout(500);
      }
    };
    const moved = await settled();
    expect(moved).toMatch(/hconsole.*~p/);
    // What follows at once is one change to undo; on a slow machine it is a few.
    for (let tries = 0, now = moved; tries < 4 && /hconsole|~p/.test(now); tries++) {
      await page.locator(".tl-canvas").focus();
      await page.keyboard.press("u");
      now = await settled();
    }
    await page.click("text=tracks");
    expect(await names()).toEqual(before);
    // Who opens the address sees the same.
    await page.goto(`${debian}${moved}`);
    await page.reload();
    await page.click("text=tracks");
    expect(await names()).toEqual(after);
    await page.context().close();
  });

  it("moves lanes by touch", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    await page.tap("text=tracks");
    const grips = page.locator(".tracks .grip");
    const last = (await page.locator(".tracks label").last().textContent())!;
    const [from, to] = [(await grips.last().boundingBox())!, (await grips.first().boundingBox())!];
    const fingers = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...y: number[]) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: y.map((y) => ({ x: from.x + 8, y })) });
    await touch("touchStart", from.y + 10);
    for (const part of [0.25, 0.5, 0.75, 1]) await touch("touchMove", from.y + 10 + (to.y - 12 - from.y) * part);
    await touch("touchEnd");
    await page.waitForFunction((name) => document.querySelector(".tracks label")?.textContent === name, last);
    await page.context().close();
  });

  it("lists what was found, for the mouse and for keys", async () => {
    const { page } = await open(chromium, debian, { viewport: { width: 1440, height: 900 } });
    await page.fill(".tl-search", "udev");
    await page.waitForSelector(".tl-matches button");
    await page.press(".tl-search", "ArrowDown");
    await page.keyboard.press("ArrowDown");
    const second = await page.locator(".tl-matches b").nth(1).textContent();
    await page.keyboard.press("Enter");
    expect(await heading(page)).toBe(second);
    await page.context().close();
  });

  it("shows its keys on ?, and the focus comes back", async () => {
    const { page } = await open(chromium, debian);
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("?");
    expect(await page.locator("dialog dt").count()).toBeGreaterThan(8);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("tl-canvas");
    await page.context().close();
  });
});

/** Clicks that a task takes: each is counted, typing is not. */
describe("what people open the page for takes at most two clicks", () => {
  const task = async (address: string, run: (page: Page, click: (selector: string) => Promise<void>) => Promise<void>) => {
    const { page } = await open(chromium, address, { viewport: { width: 1440, height: 900 } });
    let clicks = 0;
    await run(page, async (selector) => {
      clicks++;
      await page.locator(selector).first().click();
    });
    await page.context().close();
    return clicks;
  };

  it("the largest cost and its fix: none", async () => {
    expect(await task(debian, async (page) => {
      expect(await inSight(page, ".top-costs .fix")).toBe(true);
    })).toBe(0);
  });

  it("what ready waited for: none, its lane is on the first screen", async () => {
    expect(await task(debian, async (page) => {
      const lanes = await page.locator(".tl-canvas").boundingBox();
      expect(lanes!.y + 200).toBeLessThan(900);
      expect(await page.locator("#path").count()).toBe(1);
    })).toBe(0);
  });

  it("how long something took, and its line: one, after typing its name", async () => {
    expect(await task(debian, async (page, click) => {
      await page.fill(".tl-search", "systemd-udevd.service");
      await click(".tl-matches button");
      expect(await page.locator(".details dt").first().textContent()).toBe("took");
      await page.waitForSelector(".details .itself");
      expect(await inSight(page, ".details h3")).toBe(true);
    })).toBe(1);
  });

  it("what changed between two boots: none", async () => {
    expect(await task(pair, async (page) => {
      expect(await inSight(page, ".ratio")).toBe(true);
      expect(await inSight(page, "#verdict .bar-label.after")).toBe(true);
    })).toBe(0);
  });

  it("the sum of a range: one drag", async () => {
    expect(await task(debian, async (page) => {
      const [from, to] = [await place(page, 2), await place(page, 3)];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 3 });
      await page.mouse.up();
      expect(await inSight(page, ".details h3")).toBe(true);
      expect(await page.locator(".details table").count()).toBeGreaterThan(0);
    })).toBe(0);
  });
});

describe("axe", () => {
  for (const [name, width, colorScheme] of [["wide", 1440, "light"], ["wide", 1440, "dark"], ["narrow", 390, "light"]] as const) {
    it(`finds nothing: ${name}, ${colorScheme}`, async () => {
      for (const address of [debian, pair]) {
        const { page } = await open(chromium, address, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
        await page.locator("#largest summary, #gaps button").first().click();
        expect(await axeFinds(page)).toEqual([]);
        await page.context().close();
      }
    });
  }
});

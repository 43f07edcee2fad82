// The timeline in use: mouse, keys, touch, search, selection, the address.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { browser, fixture, open, Pages, type Opened } from "./harness.ts";

const pages = new Pages();
let chromium: Browser;
let debian: string;
let opened: Opened;

beforeAll(async () => {
  chromium = await browser();
  const files = ["console.stamps.gz", "dmesg.txt.gz", "plot.json", "units.txt.gz"].map((file) => fixture(`boots/debian13-systemd257/${file}`));
  debian = pages.report("debian", ...files);
});
afterEach(async () => {
  expect([opened.requests, opened.complaints]).toEqual([[], []]);
  await opened.page.context().close();
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

/** The interval in view, as the page's address tells it; null for the whole. */
async function view(page: Page): Promise<[number, number] | null> {
  const hash = new URL(page.url()).hash;
  const [, from, length] = /(?:^#|~)v(-?\d+)_(\d+)/.exec(hash) ?? [];
  return from === undefined ? null : [Number(from), Number(length)];
}

/** Waits until the address tells of another view than `before`, and rests. */
async function moved(page: Page, before: string): Promise<[number, number] | null> {
  await page.waitForFunction((before) => location.hash !== before, before);
  for (let last = ""; last !== page.url();) {
    last = page.url();
    await page.waitForTimeout(700);
  }
  return view(page);
}

async function canvas(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const lanes = page.locator(".tl-canvas");
  await lanes.scrollIntoViewIfNeeded();
  return (await lanes.boundingBox())!;
}

const hash = (page: Page) => new URL(page.url()).hash;

describe("the timeline", () => {
  it("zooms by wheel once it has the focus, around the pointer", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    const box = await canvas(page);
    await page.locator(".tl-canvas").focus();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
    const before = hash(page);
    await page.mouse.wheel(0, -600);
    const near = await moved(page, before);
    expect(near).not.toBeNull();
    const between = hash(page);
    await page.mouse.wheel(0, -600);
    const nearer = await moved(page, between);
    expect(nearer![1]).toBeLessThan(near![1]);
    expect(nearer![0]).toBeGreaterThan(near![0]);
    expect(nearer![0] + nearer![1]).toBeLessThan(near![0] + near![1]);
  });

  it("pans by drag with Shift and by keys, zooms by keys, and 0 shows the whole boot", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    const box = await canvas(page);
    await page.locator(".tl-canvas").focus();
    let before = hash(page);
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    const zoomed = await moved(page, before);
    before = hash(page);
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height - 12);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height - 12, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const dragged = await moved(page, before);
    expect(dragged![0]).toBeGreaterThan(zoomed![0]);
    expect(dragged![1] / zoomed![1]).toBeCloseTo(1, 2);
    before = hash(page);
    await page.keyboard.press("a", { delay: 150 });
    expect((await moved(page, before))![0]).toBeLessThan(dragged![0]);
    before = hash(page);
    await page.keyboard.press("0");
    expect(await moved(page, before)).toBeNull();
  });

  it("zooms by two fingers", async () => {
    opened = await open(chromium, debian, { hasTouch: true, isMobile: true, viewport: { width: 800, height: 900 } });
    const { page } = opened;
    const box = await canvas(page);
    const before = hash(page);
    const session = await page.context().newCDPSession(page);
    const fingers = (apart: number) => [-1, 1].map((side, id) => ({ x: box.x + box.width * 0.6 + side * apart, y: box.y + 60, id }));
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(20) });
    for (let apart = 30; apart <= 120; apart += 10) {
      await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(apart) });
    }
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    const pinched = await moved(page, before);
    expect(pinched).not.toBeNull();
    expect(pinched![1]).toBeGreaterThan(0);
  });

  it("finds, selects, and shows the line that says so", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    await page.fill(".tl-search", "rsyslog.service");
    await page.waitForFunction(() => /\d+ of /.test(document.querySelector(".tl-count")?.textContent ?? ""));
    await page.press(".tl-search", "Enter");
    await page.waitForFunction(() => document.querySelector(".details h3")?.textContent?.includes("rsyslog"));
    const details = page.locator(".details");
    expect(await details.locator("dt").allTextContents()).toEqual(expect.arrayContaining(["took", "from", "to", "lane"]));
    expect(await details.locator("figcaption").textContent()).toMatch(/(console\.stamps|dmesg\.txt|plot|units)\S*:\d+$/);
    await details.locator("pre").waitFor();
    expect(await details.locator("pre").textContent()).toContain("rsyslog");
    // The console stands where that was printed.
    await page.locator(".row.marked").first().waitFor();
  });

  it("goes from a span to those that it waited for", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    await page.fill(".tl-search", "system-getty");
    await page.press(".tl-search", "Enter");
    const link = page.locator(".details .links button").first();
    for (let n = 0; n < 8 && (await link.count()) === 0; n++) {
      await page.press(".tl-search", "Enter");
      await page.waitForTimeout(300);
    }
    const name = await link.textContent();
    await link.click();
    await page.waitForFunction((name) => document.querySelector(".details h3")?.textContent === name, name);
  });

  it("selects what a line of the console tells of", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    const row = page.locator(".row").filter({ has: page.locator(".when:not(:empty)") }).nth(3);
    await row.scrollIntoViewIfNeeded();
    await row.click();
    await page.waitForFunction(() => document.querySelector(".details dl") !== null);
    await page.waitForFunction(() => /(^#|~)s\d+/.test(location.hash));
  });

  it("tells in the address what is seen, and opens there again", async () => {
    opened = await open(chromium, debian);
    const { page } = opened;
    await page.click("#largest summary");
    await page.locator("#largest tbody button").nth(4).click();
    await moved(page, "");
    const name = await page.locator(".details h3").textContent();
    const address = page.url();
    const again = await open(chromium, address);
    expect(await again.page.locator(".details h3").textContent()).toBe(name);
    await again.page.waitForTimeout(800);
    expect(again.page.url()).toBe(address);
    await again.page.locator(".row.marked").first().waitFor();
    expect([again.requests, again.complaints]).toEqual([[], []]);
    await again.page.context().close();
  });

  it("opens with a search", async () => {
    opened = await open(chromium, `${debian}#find=rsyslog`);
    expect(await opened.page.inputValue(".tl-search")).toBe("rsyslog");
    await opened.page.waitForFunction(() => /\d+ of /.test(document.querySelector(".tl-count")?.textContent ?? ""));
  });

  it("bears any address", async () => {
    for (const nonsense of ["#v999999999999999999_1~s999999~qx%E0%A4%A", "#%%%~~&&theme=&find=%", "#v-5_0~sNaN~t~a~m"]) {
      opened = await open(chromium, debian + nonsense);
      expect(await opened.page.locator(".tl-canvas").count()).toBe(1);
      expect(opened.complaints).toEqual([]);
      await opened.page.context().close();
    }
    opened = await open(chromium, debian);
  });
});

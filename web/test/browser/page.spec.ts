// The page as a whole: what it says, that it asks for nothing, its colours,
// its printed form, its use without a mouse.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { browser, contrast, fixture, luminance, open, Pages, grabserial } from "./harness.ts";

const pages = new Pages();
let chromium: Browser;
let debian: string;
let pair: string;

beforeAll(async () => {
  chromium = await browser();
  debian = pages.report("debian", fixture("boots/debian13-systemd257/console.stamps.gz"));
  const boot = ["U-Boot 2024.01", "Hit any key to stop autoboot:  0", "Starting kernel ...", "Run /sbin/init as init process", "login:"];
  pair = pages.report("pair", pages.write("new.log", grabserial(boot)), "--before", pages.write("old.log", grabserial(boot, 0.05)));
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

describe("the page", () => {
  it("opens from disk, asks for nothing, and complains of nothing", async () => {
    for (const address of [debian, pair]) {
      const { page, requests, complaints } = await open(chromium, address);
      for (const place of ["#verdict .segment", "#timeline canvas", "#basis"]) expect(await page.locator(place).count()).toBeGreaterThan(0);
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      expect([requests, complaints]).toEqual([[], []]);
      await page.context().close();
    }
  });

  it("fits a telephone", async () => {
    for (const address of [debian, pair]) {
      const { page } = await open(chromium, address, { viewport: { width: 390, height: 800 } });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await page.context().close();
    }
  });

  it("has landmarks, one heading of each section, and names for what can be used", async () => {
    const { page } = await open(chromium, debian);
    expect(await page.locator("main, header, h1").count()).toBe(3);
    const unnamed = await page.evaluate(() => [...document.querySelectorAll("section")].filter((s) => {
      const by = s.getAttribute("aria-labelledby");
      return !(s.getAttribute("aria-label") ?? (by && document.getElementById(by)?.textContent));
    }).length);
    expect(unnamed).toBe(0);
    const mute = await page.evaluate(() => [...document.querySelectorAll("button, input, select, canvas")].filter((e) =>
      !(e.textContent?.trim() || e.getAttribute("aria-label") || e.getAttribute("title") || e.getAttribute("aria-hidden") || e.closest("label"))).map((e) => e.outerHTML));
    expect(mute).toEqual([]);
    await page.context().close();
  });

  it("can be used by keys alone: the first stop leads to the timeline", async () => {
    const { page } = await open(chromium, debian);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("skip to the timeline");
    const box = await page.locator(".skip").boundingBox();
    expect(box!.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.closest("#timeline") !== null)).toBe(true);
    // What has the focus shows it.
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).not.toBe("none");
    await page.context().close();
  });

  it("offers the longest spans as a table", async () => {
    const { page } = await open(chromium, debian);
    await page.click("#largest summary");
    expect(await page.locator("#largest tbody tr").count()).toBe(40);
    const name = await page.locator("#largest tbody tr").first().locator("td").last().textContent();
    await page.locator("#largest tbody button").first().click();
    expect(await page.locator(".details h3").textContent()).toBe(name);
    await page.context().close();
  });
});

describe("colours", () => {
  const PAIRS: [string, string][] = [["body", "body"], [".note", "body"], [".facts", "body"], [".details dt", ".panel"], [".row code", ".panel"], ["th", "body"], [".good", "body"], [".link", "body"]];

  it("are readable, light and dark, and are not the same", async () => {
    const pictures: Buffer[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await open(chromium, debian, { colorScheme });
      await page.click("#largest summary");
      await page.locator("#largest tbody button").first().click();
      await page.waitForSelector(".row code");
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(luminance(background) > 0.5).toBe(colorScheme === "light");
      for (const [text, on] of PAIRS) {
        const colors = await page.evaluate(([text, on]) => {
          const node = document.querySelector(text!);
          return node && [getComputedStyle(node).color, getComputedStyle(document.querySelector(on!)!).backgroundColor];
        }, [text, on]);
        if (colors) expect(contrast(colors[0]!, colors[1]!), `${text} ${colorScheme}`).toBeGreaterThanOrEqual(4.5);
      }
      pictures.push(await page.screenshot());
      await page.context().close();
    }
    expect(pictures[0]!.equals(pictures[1]!)).toBe(false);
  });

  it("can be switched, and the address remembers", async () => {
    const { page } = await open(chromium, debian, { colorScheme: "light" });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.click("button.theme");
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.waitForFunction(() => location.hash.includes("theme=dark"));
    const again = await open(chromium, page.url(), { colorScheme: "light" });
    expect(await again.page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark);
    await again.page.click("button.theme");
    await again.page.waitForFunction(() => !location.hash.includes("theme"));
    await again.page.context().close();
    await page.context().close();
  });
});

describe("print", () => {
  it("is on white, shows what is folded, and nothing to click", async () => {
    const { page } = await open(chromium, debian, { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    expect(luminance(await page.evaluate(() => getComputedStyle(document.body).backgroundColor))).toBe(1);
    expect(luminance(await page.evaluate(() => getComputedStyle(document.body).color))).toBeLessThan(0.05);
    const canvas = await page.locator(".tl-canvas").boundingBox();
    expect(canvas!.height).toBeGreaterThan(50);
    expect(await page.locator("#largest tbody tr").first().isVisible()).toBe(true);
    expect(await page.locator(".theme, .console-panel, input").evaluateAll((all) => all.filter((e) => e.getClientRects().length > 0).length)).toBe(0);
    // The figures and the whole chart are on the first page, of US Letter, too.
    await page.setViewportSize({ width: 726, height: 964 });
    const end = async () => page.locator(".tl-legend").evaluate((legend) => legend.getBoundingClientRect().bottom + scrollY);
    await expect.poll(end).toBeLessThan(964);
    expect(await page.locator(".tl-box").evaluate((box) => box.getBoundingClientRect().height)).toBeGreaterThan(200);
    // The real printer: pages come out.
    const pdf = await page.pdf();
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    await page.context().close();
  });
});

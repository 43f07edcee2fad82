// Two boots on one page, and the flame graph.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { axeFinds, browser, fixture, grabserial, open, Pages } from "./harness.ts";

const pages = new Pages();
let chromium: Browser;

beforeAll(async () => {
  chromium = await browser();
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

const BOOT = ["U-Boot 2024.01", "Hit any key to stop autoboot:  0", "## Loading kernel", "Starting kernel ...", "[    0.000000] Linux version 6.1.0",
  "[    0.100000] Memory: 2 MB", "Run /sbin/init as init process", "login:"];

describe("two boots", () => {
  it("stand one above the other, with what grew and what shrank", async () => {
    const address = pages.report("pair", pages.write("new.log", grabserial(BOOT)), "--before", pages.write("old.log", grabserial(BOOT, 0.2)));
    const { page, requests, complaints } = await open(chromium, address);
    expect(await page.locator("#verdict .bar-label").allTextContents()).toEqual([expect.stringMatching(/^before .*1\.\d+ s/), expect.stringMatching(/^after .*ms/)]);
    expect(await page.locator("#comparison h3").first().textContent()).toBe("what shrank");
    expect(await page.locator("#comparison tbody tr").count()).toBeGreaterThan(2);
    expect(await page.locator(".tl-align option").count()).toBeGreaterThan(1);
    // Both timelines go to what is clicked.
    const before = page.url();
    await page.locator("#comparison button.link").first().click();
    await page.waitForFunction((before) => location.href !== before && /v-?\d+_\d+/.test(location.hash), before);
    // Each boot's lines can be read.
    await page.waitForSelector(".row code");
    const lines = page.locator(".console-panel select");
    expect(await lines.locator("option").allTextContents()).toEqual([expect.stringMatching(/^after: .*new\.log$/), expect.stringMatching(/^before: .*old\.log$/)]);
    await lines.selectOption({ index: 1 });
    await page.waitForFunction(() => document.querySelector(".row code")?.textContent?.startsWith("[0.200000"));
    await page.locator(".row", { hasText: "Starting kernel" }).click();
    expect(await page.locator(".details dd").allTextContents()).toEqual(expect.arrayContaining([expect.stringMatching(/^before: /)]));
    expect([requests, complaints]).toEqual([[], []]);
  });

  it("of groups: the verdict comes first, and each boot is a dot that says which it is", async () => {
    for (const [side, slower] of [["a", 1], ["b", 1.2]] as const) {
      mkdirSync(join(pages.folder, side), { recursive: true });
      for (let n = 0; n < 6; n++) pages.write(`${side}/boot${n}.log`, grabserial(BOOT, 0.2 * slower * (1 + n / 500)));
    }
    const { page, complaints } = await open(chromium, pages.compare("groups", "a", "b", "--ready", "login:"));
    const first = page.locator("main > section").first();
    expect(await first.getAttribute("id")).toBe("groups");
    expect(await first.locator("h2").textContent()).toMatch(/slower: \+.*6 and 6 boots/);
    expect(await first.locator("tbody tr").count()).toBeGreaterThan(2);
    const dots = first.locator("tbody tr").first().locator(".dots circle");
    expect(await dots.count()).toBe(12);
    expect(await dots.first().locator("title").textContent()).toMatch(/^a\/boot0\.log: 1\.\d+ s|boot0\.log: 1\.\d+ s/);
    // The slower group lies to the right of the other.
    const x = (kind: string) => first.locator("tbody tr").first().locator(`circle.${kind}`).evaluateAll((all) => all.map((dot) => Number(dot.getAttribute("cx"))));
    expect(Math.min(...await x("is"))).toBeGreaterThan(Math.max(...await x("was")));
    expect(await first.locator(".pill").first().textContent()).toBe("slower");
    expect(complaints).toEqual([]);
  });

  it("a click on nothing known is no button", async () => {
    const address = pages.report("same", pages.write("a.log", grabserial(BOOT)), "--before", pages.write("b.log", grabserial(BOOT)));
    const { page, complaints } = await open(chromium, address);
    expect(await page.locator(".ratio").textContent()).toContain("as fast");
    expect(complaints).toEqual([]);
  });

  it("of logs that end anywhere, nothing is said to be faster or slower", async () => {
    const log = (seconds: number) => `[    0.000000] Linux version 6.1.0 (a@b) (gcc 12) #1 SMP\n[    ${seconds}.000000] ends after ${seconds}\n`;
    const address = pages.report("cut", pages.write("long.log", log(9)), "--before", pages.write("short.log", log(2)));
    const { page, complaints } = await open(chromium, address);
    expect(await page.locator(".ratio").textContent()).toBe("nothing says when both were ready");
    expect(await page.locator("#comparison table").first().locator("tr").last().textContent()).toContain("seen");
    expect(complaints).toEqual([]);
  });

  it("of lists without times there are their units, and no total", async () => {
    const list = (wait: number) => `${wait}.123s wait-online.service\n 2.345s app.service\n`;
    const { page, complaints } = await open(chromium, pages.compare("lists", pages.write("a.txt", list(9)), pages.write("b.txt", list(4))));
    expect(await page.locator("#groups h2").textContent()).toContain("there is no total to compare");
    expect(await page.locator("#groups tbody").count()).toBe(0);
    expect(await page.locator(".headline").textContent()).toBe("nothing says when");
    expect(complaints).toEqual([]);
  });
});

describe("the flame graph", () => {
  it("sums up, zooms, finds", async () => {
    const address = pages.report("functions", fixture("fixtures/ftrace/linux-6.1-amd64/graph-events-abstime/input"));
    const { page, requests, complaints } = await open(chromium, address);
    const about = page.locator(".flame-about");
    await page.locator("#flame").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector(".flame-about")?.textContent?.startsWith("all "));
    await page.fill("#flame input", "schedule");
    await page.waitForFunction(() => /^\d+\.\d % of the time$/.test(document.querySelector("#flame .controls .note")?.textContent ?? ""));
    await page.fill("#flame input", "");
    // The first frame of the second row is the widest thread; a click looks into it.
    await page.locator(".flame canvas").click({ position: { x: 20, y: 30 } });
    const zoomed = await about.textContent();
    expect(zoomed).not.toMatch(/^all /);
    await page.locator(".flame canvas").press("Escape");
    expect(await about.textContent()).toMatch(/^all .*100\.0 %$/);
    await page.locator(".flame canvas").press("ArrowDown");
    expect(await about.textContent()).toBe(zoomed);
    // Of a range of time: what lies within it, and all again when it is let go.
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("n");
    await page.keyboard.press("r");
    await page.waitForFunction(() => document.querySelector(".flame-about")?.textContent?.startsWith("all in the range"));
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => /^all \d/.test(document.querySelector(".flame-about")?.textContent ?? ""));
    // The tree of the same: what has most time of its own, then who called it, by keys alone.
    const rows = page.locator("#flame [role=treegrid] tbody tr");
    const name = (at: number) => rows.nth(at).locator("code").textContent();
    expect(await name(0)).toBe("schedule");
    const closed = await rows.count();
    await rows.first().focus();
    await page.keyboard.press("ArrowRight");
    expect([await rows.first().getAttribute("aria-expanded"), await rows.nth(1).getAttribute("aria-level")]).toEqual(["true", "2"]);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    expect([await rows.first().getAttribute("aria-expanded"), await rows.count()]).toEqual(["false", closed]);
    // Where a row is gone to, the picture shows it.
    expect(await page.inputValue("#flame input")).toBe("schedule");
    await page.click("#flame button:text('top-down')");
    expect(await rows.first().locator("td").nth(2).textContent()).toMatch(/^\d+\.\d %$/);
    await rows.first().click();
    expect(await rows.nth(1).getAttribute("aria-level")).toBe("2");
    expect([requests, complaints]).toEqual([[], []]);
  });

  it("and its tree are all right for a screen reader", async () => {
    const address = pages.report("axe", fixture("fixtures/ftrace/linux-6.1-amd64/graph-events-abstime/input"));
    const { page } = await open(chromium, address, { bypassCSP: true });
    await page.locator("#flame").scrollIntoViewIfNeeded();
    await page.locator("#flame [role=treegrid] tbody tr").first().click();
    expect(await axeFinds(page)).toEqual([]);
  });

  it("is not there where no functions were traced", async () => {
    const { page } = await open(chromium, pages.report("none", pages.write("c.log", grabserial(BOOT))));
    expect(await page.locator("#flame").count()).toBe(0);
  });
});

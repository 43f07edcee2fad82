// Evidence that would like to be more than text.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { browser, open, Pages, grabserial, type Opened } from "./harness.ts";

const MEGABYTE = 1_000_000;
const LINES = [
  "U-Boot 2024.01", "Starting kernel ...",
  "</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "--><svg onload=alert(1)>",
  "\x1b[31mred\x1b[0m and \x1b]0;title\x07 bell", "right \u202e to left \u2066 marks \u200b here", "nul \0 byte",
  "Run /sbin/init as init process", `${"A".repeat(MEGABYTE)}<b>end</b>`, "login: ",
];

const pages = new Pages();
let chromium: Browser;
let opened: Opened;

beforeAll(async () => {
  chromium = await browser();
  const log = pages.write("<img src=x onerror=alert(1)>.log", grabserial(LINES));
  opened = await open(chromium, pages.report("hostile", log, "--before", log));
  await opened.page.waitForSelector(".row code");
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

/** The console's rows, from the top. */
const rows = () => opened.page.locator(".row code").allTextContents();

describe("hostile evidence", () => {
  it("stays text", async () => {
    const { page } = opened;
    const text = (await rows()).join("\n");
    for (const line of LINES.slice(2, 5)) expect(text).toContain(line);
    expect(await page.title()).not.toBe("owned");
    expect(await page.locator("img, script:not([type]), iframe, main svg[onload], main b:text('end')").count()).toBe(0);
    expect(await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length)).toBe(0);
    expect([opened.requests, opened.complaints]).toEqual([[], []]);
  });

  it("shows what would act on a terminal or turn text round", async () => {
    const text = (await rows()).join("\n");
    expect(text).toContain("red and \u241b]0;title\u2407 bell");
    expect(text).toContain("right \ufffd to left \ufffd marks \ufffd here");
    expect(text).toContain("nul \u2400 byte");
    // Also where it was selected: panels, and what a screen reader is told.
    await opened.page.locator(".row", { hasText: "bell" }).first().click();
    await opened.page.waitForFunction(() => document.querySelector(".details h3")?.textContent?.includes("bell"));
    const shown = await opened.page.evaluate(() => document.querySelector("main")!.textContent ?? "");
    expect(/[\x00-\x09\x0b-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/.exec(shown)?.[0]).toBeUndefined();
  });

  it("folds a line of a megabyte, and unfolds it piece by piece", async () => {
    const { page } = opened;
    const scroller = page.locator(".scroller");
    await scroller.evaluate((node) => { node.scrollTop = node.scrollHeight; });
    const more = page.locator(".row .more-bytes");
    await more.first().waitFor();
    expect(await more.first().textContent()).toMatch(/^… \d+ more bytes$/);
    for (const row of await rows()) expect(row.length).toBeLessThan(10_000);
    await more.first().evaluate((node: HTMLElement) => node.click());
    const whole = page.locator(".whole-line pre");
    await whole.waitFor();
    for (let n = 0; n < 40 && (await whole.locator(".more-bytes").count()) > 0; n++) {
      await whole.locator(".more-bytes").evaluate((node: HTMLElement) => node.click());
    }
    const text = (await whole.textContent()) ?? "";
    expect(text.length).toBeGreaterThan(MEGABYTE);
    expect(text).toContain("A<b>end</b>");
  });

  it("can be selected and searched like any other text", async () => {
    const { page } = opened;
    // The rows are drawn anew in the next frame: a click before that meets another one.
    await page.locator(".scroller").evaluate((node) => {
      node.scrollTop = 0;
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    await page.locator(".row", { hasText: "<img src=x" }).first().click();
    expect(await page.locator(".details h3").textContent()).toContain("<img src=x onerror=");
    expect(await page.locator(".details figcaption").textContent()).toContain("<img src=x onerror=alert(1)>.log:4");
    expect(await page.locator(".details .itself").first().textContent()).toContain("<img src=x");
    expect(opened.complaints).toEqual([]);
  });
});

// The lines of the evidence: more than a browser's scrollbar can count.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { browser, open, Pages } from "./harness.ts";

const LINES = 450_000;
const pages = new Pages();
let chromium: Browser;
let page: Page;

beforeAll(async () => {
  chromium = await browser();
  const lines = Array.from({ length: LINES }, (_, n) => `[${((n + 1) / 1e5).toFixed(6)} 0.000010] line number ${n}\r\n`);
  ({ page } = await open(chromium, pages.report("long", pages.write("long.log", lines.join("")))));
  await page.waitForSelector(".row code");
});
afterAll(async () => {
  await chromium?.close();
  pages.remove();
});

/** The first and the last line that can be seen whole. */
const seen = () => page.evaluate(() => {
  const box = document.querySelector(".scroller")!.getBoundingClientRect();
  const rows = [...document.querySelectorAll(".row")].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top >= box.top - 1 && bottom <= box.bottom + 1;
  });
  const number = (row?: Element) => Number(/line number (\d+)/.exec(row?.textContent ?? "")?.[1] ?? NaN);
  return [number(rows[0]), number(rows[rows.length - 1])] as [number, number];
});

/** Scrolls to a share of the whole height; waits until that is drawn. */
async function scroll(share: number): Promise<void> {
  await page.locator(".scroller").evaluate((node, share) => {
    node.scrollTop = node.scrollHeight * share;
  }, share);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

it("shows the first, the last and those between, and only a screenful exists", async () => {
  expect((await seen())[0]).toBe(0);
  await scroll(1);
  expect((await seen())[1]).toBe(LINES - 1);
  await scroll(0.5);
  const [first, last] = await seen();
  expect(first).toBeLessThan(LINES / 2 + 100);
  expect(last).toBeGreaterThan(LINES / 2 - 100);
  expect(await page.locator(".row").count()).toBeLessThan(100);
});

it("scrolls to what is selected", async () => {
  await scroll(0);
  await page.fill(".tl-search", "line number 312345");
  await page.press(".tl-search", "Enter");
  await page.waitForFunction(() => document.querySelector(".row.marked")?.textContent?.includes("line number 312345"));
  const [first, last] = await seen();
  expect(first).toBeLessThanOrEqual(312345);
  expect(last).toBeGreaterThanOrEqual(312345);
});

// How fast a report is in the browser, for scripts/table-viewer: prints JSON.
//
// usage: node web/measure.mjs PAGE.html…
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const LOADS = 5;
const SECONDS = 3;

const names = ["chromium", "chromium-browser", "google-chrome"];
const folders = (process.env.PATH ?? "").split(delimiter);
const executablePath = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/** Opens the page; ms from navigation to the first complete paint. */
async function load(/** @type {string} */ file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`file://${resolve(file)}`, { waitUntil: "commit" });
  await page.waitForFunction(() => performance.getEntriesByName("bootlap-painted").length > 0, undefined, { timeout: 120_000 });
  const ms = await page.evaluate(() => performance.getEntriesByName("bootlap-painted")[0]?.startTime ?? NaN);
  return { page, ms };
}

/** Frames per second, and the longest of them in ms, while keys are held. */
async function frames(/** @type {import("playwright-core").Page} */ page, /** @type {string[]} */ keys) {
  await page.evaluate(() => {
    const stamps = (window.stamps = []);
    const frame = (now) => { stamps.push(now); window.watching = requestAnimationFrame(frame); };
    window.watching = requestAnimationFrame(frame);
  });
  for (const key of keys) {
    await page.keyboard.down(key);
    await page.waitForTimeout((SECONDS * 1000) / keys.length);
    await page.keyboard.up(key);
  }
  const stamps = await page.evaluate(() => { cancelAnimationFrame(window.watching); return window.stamps; });
  const took = stamps.slice(1).map((now, at) => now - stamps[at]).sort((a, b) => a - b);
  const seconds = (stamps[stamps.length - 1] - stamps[0]) / 1000;
  return { fps: took.length / seconds, p95_ms: took[Math.floor(took.length * 0.95)], longest_ms: took[took.length - 1] };
}

const pages = [];
for (const file of process.argv.slice(2)) {
  const paints = [];
  for (let n = 0; n < LOADS; n++) {
    const { page, ms } = await load(file);
    paints.push(ms);
    await page.close();
  }
  paints.sort((a, b) => a - b);
  const { page } = await load(file);
  await page.waitForTimeout(1500);
  await page.locator(".tl-canvas").focus();
  // Everything in view is the most to draw; panning needs somewhere to go.
  const zoom = await frames(page, ["w", "s"]);
  await page.keyboard.press("0");
  await page.waitForTimeout(500);
  for (let n = 0; n < 2; n++) {
    await page.keyboard.press("+");
    await page.waitForTimeout(400);
  }
  const pan = await frames(page, ["a", "d", "a"]);
  const memory = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? null);
  pages.push({ file, paint_ms: paints[LOADS >> 1], worst_paint_ms: paints[LOADS - 1], pan, zoom, memory });
  await page.close();
}
console.log(JSON.stringify({ browser: browser.version(), pages }));
await browser.close();

// Pictures of reports for the documentation; scripts/screenshots calls it.
//
// usage: node web/screenshot.mjs PAGE.html OUT.png [--until SELECTOR | --size 390x844] [--find TEXT] [--dark]
//   from the top of the page to the end of SELECTOR, or the first screen of such a
//   window, with the first span selected that TEXT finds; an .svg as it is; or, where
//   OUT is a .pdf, on paper
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [page, out, ...options] = process.argv.slice(2);
const option = (/** @type {string} */ name) => options[options.indexOf(name) + 1 || options.length];
if (!page || !out) {
  console.error("usage: node web/screenshot.mjs PAGE.html OUT.png [--until SELECTOR | --size 390x844] [--find TEXT] [--dark]");
  process.exit(2);
}
const names = ["chromium", "chromium-browser", "google-chrome"];
const folders = (process.env.PATH ?? "").split(delimiter);
const executablePath = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const [width = 1440, screen = 900] = option("--size")?.split("x").map(Number) ?? [];
const context = await browser.newContext({
  viewport: { width, height: screen }, deviceScaleFactor: 1,
  colorScheme: options.includes("--dark") ? "dark" : "light", reducedMotion: "reduce",
});
const tab = await context.newPage();
const find = option("--find");
await tab.goto(`file://${resolve(page)}${find ? `#find=${encodeURIComponent(find)}` : ""}`);
if (page.endsWith(".svg")) {
  await tab.locator("svg").first().screenshot({ path: out });
} else {
  await tab.waitForFunction(() => performance.getEntriesByName("bootlap-painted").length > 0);
  if (find) {
    await tab.waitForSelector(".row.marked");
    // A search fades what it does not find: the picture is of the whole boot.
    await tab.fill(".tl-search", "");
    await tab.locator(".tl-bar button", { hasText: "whole boot" }).last().click();
    await tab.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
    await tab.mouse.move(0, 0);
  }
  await tab.waitForTimeout(800);
  if (out.endsWith(".pdf")) await tab.pdf({ path: out, format: "A4" });
  else await picture();
}
await browser.close();
console.log(out);

async function picture() {
  const until = option("--until") ?? "main";
  const height = option("--size") ? screen : await tab.evaluate((until) => {
    const end = document.querySelector(until)?.getBoundingClientRect().bottom ?? 900;
    return Math.ceil(end + scrollY + 10);
  }, until);
  await tab.screenshot({ path: out, fullPage: true, clip: { x: 0, y: 0, width, height } });
}

// Pages made by the real bootlap, in the distribution's real Chromium.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const top = new URL("../../../", import.meta.url).pathname;

/** BOOTLAP says which program makes the pages; else the one just built. */
const bootlap = process.env["BOOTLAP"] ?? join(process.env["CARGO_TARGET_DIR"] ?? join(top, "target"), "debug/bootlap");

export const fixture = (path: string): string => join(top, "tests", path);

/** A folder for a test file's pages; `remove` it at the end. */
export class Pages {
  readonly folder = mkdtempSync(join(tmpdir(), "bootlap-page-"));

  /** `bootlap report ARGUMENTS`; returns the page's address. */
  report(name: string, ...input: string[]): string {
    if (!existsSync(bootlap)) throw new Error(`${bootlap} is missing: cargo build -p bootlap, or set BOOTLAP`);
    const out = join(this.folder, `${name}.html`);
    execFileSync(resolve(bootlap), ["report", "--quiet", ...input, "-o", out], { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
    return `file://${out}`;
  }

  /** `bootlap compare ARGUMENTS`; returns the page's address. */
  compare(name: string, ...input: string[]): string {
    const out = join(this.folder, `${name}.html`);
    execFileSync(resolve(bootlap), ["compare", "--quiet", ...input, "-o", out], { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
    return `file://${out}`;
  }

  /** Writes a file of evidence; returns its path. */
  write(name: string, bytes: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, bytes);
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A console as grabserial records it, a line every `step` seconds. */
export function grabserial(lines: string[], step = 0.02): string {
  return lines.map((line, n) => `[${((n + 1) * step).toFixed(6)} ${step.toFixed(6)}] ${line}\r\n`).join("");
}

export async function browser(): Promise<Browser> {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = process.env["CHROMIUM"] ?? folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
  if (!found) throw new Error("the page is tested in a real browser: apt-get install chromium");
  return chromium.launch({ executablePath: found, args: ["--no-sandbox", "--disable-gpu", "--disable-quic"] });
}

/** An open page, and what must stay empty while it is open. */
export interface Opened {
  page: Page;
  /** Requests other than for the page itself. */
  requests: string[];
  /** Errors and warnings in the browser's console, policy violations too. */
  complaints: string[];
}

export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const opened: Opened = { page, requests: [], complaints: [] };
  const [file] = address.split("#");
  page.on("request", (request) => { if (request.url().split("#")[0] !== file) opened.requests.push(request.url()); });
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) opened.complaints.push(message.text()); });
  page.on("pageerror", (error) => opened.complaints.push(String(error)));
  await page.goto(address);
  await page.waitForFunction(() => performance.getEntriesByName("bootlap-painted").length > 0);
  return opened;
}

/** Contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Of `rgb(…)` or `rgba(…)`. */
export function luminance(color: string): number {
  const parts = color.match(/[\d.]+/g)?.slice(0, 3).map(Number) ?? [];
  const [r = 0, g = 0, b = 0] = parts.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong for people who cannot see or point. Open the page with `bypassCSP`: its own
 * policy lets no other script in. */
export async function axeFinds(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (window as never as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`).join(" | ")}`);
  });
}

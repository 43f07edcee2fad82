// The timeline alone, with made-up boots: what the mouse, fingers and keys do.

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { browser } from "./harness.ts";
import { page as harnessPage } from "../harness/page.mjs";

let chromium: Browser;
let html: string;
let tab: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [chromium, html] = await Promise.all([browser(), harnessPage()]);
});
afterEach(async () => {
  await tab?.context().close();
  expect(complaints.splice(0)).toEqual([]);
});
afterAll(() => chromium?.close());

async function open(name: string, options: BrowserContextOptions = {}): Promise<{ x: number; y: number; width: number; height: number }> {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  tab = await context.newPage();
  tab.on("pageerror", (error) => complaints.push(String(error.stack)));
  tab.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  await tab.route("http://harness/", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await tab.goto(`http://harness/#${name}`);
  await tab.waitForFunction("window.ready");
  return (await tab.locator(".tl-canvas").boundingBox())!;
}

const state = () => tab.evaluate("timeline.state()") as Promise<string>;
const view = () => tab.evaluate("[timeline.scene.view.start, timeline.scene.view.end]") as Promise<[number, number]>;
const spoken = () => tab.locator(".tl-live").textContent();

/** Where a moment and a lane's row stand on the page. */
async function placeOf(lane: string, ns: number): Promise<{ x: number; y: number }> {
  return await tab.evaluate(({ lane, ns }) => {
    const { scene, stage } = (window as never as { timeline: any }).timeline;
    const box = stage.canvas.getBoundingClientRect();
    const segment = scene.layout.segments.find((one: any) => one.lane.title === lane && (one.mode === "rows" || one.mode === "phases"));
    const x = scene.gutter + ((ns - scene.view.start) / (scene.view.end - scene.view.start)) * (scene.width - scene.gutter);
    return { x: box.x + x, y: box.y + scene.head + segment.y - scene.scroll + segment.rowHeight / 2 };
  }, { lane, ns });
}

it("leaves the wheel to the page until it has the focus", async () => {
  const box = await open("sample", { viewport: { width: 1280, height: 500 } });
  await tab.mouse.move(box.x + 600, box.y + 200);
  await tab.mouse.wheel(0, 120);
  await tab.waitForFunction("scrollY > 0");
  expect(await state()).toBe("");
  await tab.locator(".tl-canvas").focus();
  const scrolled = await tab.evaluate("scrollY");
  await tab.mouse.wheel(0, -200);
  await tab.waitForFunction("timeline.state() !== ''");
  expect(await tab.evaluate("scrollY")).toBe(scrolled);
});

it("says what is under the pointer, selects it, and lets go", async () => {
  await open("sample");
  const { x, y } = await placeOf("boot loader", 0.5e9);
  await tab.mouse.move(x, y);
  expect(await tab.locator(".tl-tip b").textContent()).toBe("autoboot wait");
  expect(await tab.locator(".tl-tip dd").first().textContent()).toBe("300.0 ms");
  await tab.mouse.click(x, y);
  expect(await state()).toMatch(/^s\d+$/);
  expect(await spoken()).toBe("boot loader autoboot wait, 300.0 ms, at 0.350 s");
  await tab.keyboard.press("n");
  expect(await spoken()).toContain("load kernel");
  await tab.keyboard.press("p");
  expect(await spoken()).toContain("autoboot wait");
  await tab.keyboard.press("f");
  const [start, end] = await view();
  expect(start).toBeGreaterThan(0.2e9);
  expect(end).toBeLessThan(0.8e9);
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("0");
  expect(await state()).toBe("");
  expect(await tab.evaluate("events.at(-1)")).toEqual(["select", null]);
});

it("measures between edges, by dragging in the lanes and along the axis", async () => {
  await open("sample");
  const from = await placeOf("boot loader", 0.352e9);
  const to = await placeOf("boot loader", 0.648e9);
  await tab.mouse.move(from.x, from.y);
  await tab.mouse.down();
  await tab.mouse.move(to.x, to.y, { steps: 4 });
  await tab.mouse.up();
  expect(await state()).toBe("m350000000_300000000");
  await tab.keyboard.press("Escape");
  expect(await state()).toBe("");
  const box = (await tab.locator(".tl-canvas").boundingBox())!;
  await tab.mouse.move(from.x, box.y + 8);
  await tab.mouse.down();
  await tab.mouse.move(to.x, box.y + 8, { steps: 4 });
  await tab.mouse.up();
  expect(await state()).toMatch(/^m3\d{8}_/);
  await tab.keyboard.press("m");
  await tab.mouse.click(from.x, from.y);
  await tab.mouse.move(to.x - 60, to.y);
  await tab.mouse.click(to.x, to.y);
  expect(await state()).toBe("m350000000_300000000");
});

it("is moved by the minimap", async () => {
  await open("sample");
  await tab.evaluate("timeline.visit(1.3e9, 1.5e9)");
  const [start, end] = await view();
  const map = (await tab.locator(".tl-map").boundingBox())!;
  const gutter = await tab.evaluate("timeline.scene.gutter") as number;
  const x = (ns: number) => map.x + gutter + (ns / 3.4e9) * (map.width - gutter);
  await tab.mouse.move(x((start + end) / 2), map.y + 20);
  await tab.mouse.down();
  await tab.mouse.move(x((start + end) / 2 + 1e9), map.y + 20, { steps: 4 });
  await tab.mouse.up();
  const [later, until] = await view();
  expect(until - later).toBeCloseTo(end - start, -1);
  expect(Math.abs(later - start - 1e9)).toBeLessThan(0.05e9);
});

it("finds, steps, hides what does not match, and counts", async () => {
  await open("sample");
  await tab.fill(".tl-search", "kiosk");
  await tab.press(".tl-search", "Enter");
  await tab.waitForFunction("document.querySelector('.tl-count').textContent.startsWith('1 / ')");
  const all = await tab.evaluate("timeline.scene.layout.height") as number;
  await tab.check(".tl-only input");
  expect(await tab.evaluate("timeline.scene.layout.height")).toBeLessThan(all);
  const left = await tab.evaluate("timeline.scene.lanes.filter((l) => l.type === 'spans').reduce((n, l) => n + l.ids.length, 0)");
  expect((await tab.locator(".tl-count").textContent())!.replace(/\s/g, " ")).toMatch(new RegExp(`^1 / ${left} of`));
  const shared = await state();
  expect(shared).toMatch(/~?qkiosk~f/);
  await tab.press(".tl-search", "Shift+Enter");
  expect(await tab.locator(".tl-count").textContent()).toMatch(new RegExp(`^${left} / ${left} of`));
  await tab.evaluate((text) => (window as never as { timeline: any }).timeline.restore(text), shared);
  await tab.waitForFunction((text) => (window as never as { timeline: any }).timeline.state() === text, shared);
  await tab.fill(".tl-search", "/(/");
  await tab.waitForFunction("document.querySelector('.tl-count').textContent === 'not a regular expression'");
});

it("opens and closes lanes by their names, and remembers", async () => {
  await open("sample");
  const { y } = await placeOf("units", 0);
  const box = (await tab.locator(".tl-canvas").boundingBox())!;
  // The title stands in the strip above its rows.
  await tab.mouse.click(box.x + 60, y - 18);
  expect(await state()).toBe("tunit");
  await tab.evaluate("timeline.restore('')");
  expect(await state()).toBe("");
  await tab.evaluate("timeline.restore('tunit~tprocess')");
  expect(await state()).toBe("tunit~tprocess");
});

it("leads from a pin to its advice", async () => {
  const box = await open("sample");
  const target = await tab.evaluate("timeline.scene.targets.find((t) => t.thing.kind === 'finding' && t.thing.index === 1)") as { x: number; y: number; width: number };
  await tab.mouse.click(box.x + target.x + 9, box.y + target.y + 9);
  expect(await tab.evaluate("events.filter(([what]) => what === 'finding')")).toEqual([["finding", 1]]);
});

it("shows two boots aligned where one chooses", async () => {
  await open("two");
  const shifts = () => tab.evaluate("timeline.scene.boots.map((b) => b.shift)");
  expect(await shifts()).toEqual([0, 0]);
  await tab.selectOption(".tl-align select", "ready");
  const ready = await tab.evaluate("timeline.scene.boots.map((b) => b.boot.head.ready_ns + b.shift)") as number[];
  expect(ready[0]).toBe(ready[1]);
  expect(await state()).toBe("aready");
  await tab.evaluate("timeline.select({ boot: 1, span: 30 })");
  expect(await spoken()).toMatch(/, boot before$/);
});

it("is moved by one finger, and gives up and down to the page", async () => {
  const box = await open("sample", { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
  await tab.evaluate("timeline.visit(1.0e9, 1.5e9)");
  const [start] = await view();
  const session = await tab.context().newCDPSession(tab);
  const swipe = async (dx: number, dy: number) => {
    const at = (share: number) => [{ x: box.x + 250 + dx * share, y: box.y + 200 + dy * share }];
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
    for (let i = 1; i <= 8; i++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(i / 8) });
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  await swipe(-120, 0);
  expect((await view())[0]).toBeGreaterThan(start);
  await swipe(0, -150);
  await tab.waitForFunction("scrollY > 20");
});

it("shows hostile names as text", async () => {
  await open("hostile");
  const { x, y } = await placeOf("kernel", 5e8);
  await tab.mouse.move(x, y);
  const title = (await tab.locator(".tl-tip b").textContent())!;
  expect(title).toContain("<img src=x onerror=alert(1)>");
  expect(title).not.toMatch(/[\u202e\u001b]/);
  expect(await tab.locator(".tl img, .tl script").count()).toBe(0);
});

it("has nothing to show, and says nothing wrong", async () => {
  await open("empty");
  for (const key of ["n", "p", "f", "Enter", "0", "w", "ArrowDown", "m", "Escape"]) await tab.press(".tl-canvas", key);
  expect(await tab.locator(".tl-canvas").count()).toBe(1);
});

it("bears a million spans: zooms, selects, finds", async () => {
  await open("million");
  await tab.locator(".tl-canvas").focus();
  for (const key of ["w", "w", "d", "s", "0"]) await tab.keyboard.press(key);
  await tab.evaluate("timeline.select({ boot: 0, span: 654321 })");
  expect(await spoken()).toMatch(/^function /);
  await tab.fill(".tl-search", "fn_1a");
  await tab.waitForFunction("/ of 999.998$/.test(document.querySelector('.tl-count').textContent)");
});

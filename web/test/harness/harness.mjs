// Opens the harness in Chromium: measures frames, or takes a picture.
//
// usage: node web/test/harness/harness.mjs frames [initcalls|million|two|sample]
//        node web/test/harness/harness.mjs shot OUT.png NAME [WIDTH] [dark] [STATE]
import { chromium } from "playwright-core";
import { fileURLToPath } from "node:url";
import { page } from "./page.mjs";

export async function open({ name = "sample", width = 1280, height = 900, dark = false, state = "", scale = 1, touch = false } = {}) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", deviceScaleFactor: scale, hasTouch: touch });
  const tab = await context.newPage();
  const errors = [];
  tab.on("pageerror", (error) => errors.push(String(error.stack ?? error)));
  tab.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  const html = await page();
  await tab.route("http://harness/", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await tab.goto(`http://harness/#${name}${state ? `!${state}` : ""}`);
  await tab.waitForFunction("window.ready", null, { timeout: 120_000 });
  return { browser, tab, errors };
}

/** Frames while something moves for two seconds: how many a second, and how long painting took. */
export async function frames(tab, motion) {
  return await tab.evaluate(async (motion) => {
    const { timeline } = window;
    const { scene } = timeline;
    const whole = { ...scene.view };
    const length = whole.end - whole.start;
    const deep = motion === "deep" ? length / 2000 : length / 6;
    timeline.viewport.set({ start: whole.start, end: whole.start + deep });
    const stage = timeline.stage;
    const original = stage.paint.bind(stage);
    const costs = [];
    stage.paint = () => { const t = performance.now(); original(); costs.push(performance.now() - t); };
    const times = [];
    await new Promise((done) => {
      const began = performance.now();
      const step = (now) => {
        times.push(now);
        const share = (performance.now() - began) / 2000;
        if (share > 1) return done();
        if (motion === "zoom") {
          const factor = 10 ** (-3 * Math.abs(Math.sin(share * Math.PI)));
          const middle = whole.start + length * 0.6;
          timeline.viewport.set({ start: middle - length * factor * 0.5, end: middle + length * factor * 0.5 });
        } else {
          timeline.viewport.pan((length * 0.8 * 16) / 2000 * (motion === "deep" ? 0.01 : 1));
        }
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    });
    stage.paint = original;
    timeline.viewport.set(whole);
    costs.sort((a, b) => a - b);
    const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
    return { fps: Math.round(((times.length - 1) * 1000) / (times.at(-1) - times[0])), worstGap: Math.round(gaps.at(-1)), p95Gap: Math.round(gaps[Math.floor(gaps.length * 0.95)]),
      paintMedian: costs[costs.length >> 1]?.toFixed(1), paintMost: costs.at(-1)?.toFixed(1) };
  }, motion);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [command, ...rest] = process.argv.slice(2);
  if (command === "frames") {
    for (const name of rest.length > 0 ? rest : ["sample", "two", "initcalls", "million"]) {
      const { browser, tab, errors } = await open({ name });
      const ready = await tab.evaluate("window.ready");
      console.log(name, `${ready.spans} spans, built ${ready.built.toFixed(0)} ms, painted ${ready.painted.toFixed(0)} ms`, errors.join("\n"));
      for (const motion of ["pan", "deep", "zoom"]) console.log("  collapsed", motion, JSON.stringify(await frames(tab, motion)));
      await tab.evaluate(() => { for (const lane of window.timeline.scene.lanes.flatMap((l) => [l, ...l.children])) lane.collapsed = false; window.timeline.relayout(); });
      for (const motion of ["pan", "deep", "zoom"]) console.log("  open", motion, JSON.stringify(await frames(tab, motion)));
      await browser.close();
    }
  } else {
    const [out, name, width = "1280", ...more] = rest;
    const { browser, tab, errors } = await open({ name, width: Number(width), dark: more.includes("dark"), scale: Number(width) < 600 ? 2 : 1, state: more.filter((word) => word !== "dark")[0] ?? "" });
    await tab.waitForTimeout(400);
    await tab.screenshot({ path: out, fullPage: true });
    console.log(out, errors.join("\n"));
    await browser.close();
  }
}

// Puts a freshly bundled viewer into a report that exists already, so that a
// change can be looked at without cargo.
//
// usage: node web/dev.mjs PAGE.html [OUT.html]     (default: in place)
//        node web/dev.mjs --big PAGE.html          readable, not minified
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { bundle } from "./bundle.mjs";

const big = process.argv.includes("--big");
const [page, out = page] = process.argv.slice(2).filter((word) => word !== "--big");
if (!page) {
  console.error("usage: node web/dev.mjs [--big] PAGE.html [OUT.html]");
  process.exit(2);
}
const { script, style } = await bundle({ minify: !big });
const hash = (/** @type {string} */ text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const html = await readFile(page, "utf8");

/** Replaces what stands between `open` and `close`, the last or first time. */
function between(/** @type {string} */ text, /** @type {string} */ open, /** @type {string} */ close, /** @type {string} */ inside) {
  const start = text.indexOf(open);
  const end = text.indexOf(close, start);
  if (start < 0 || end < 0) throw new Error(`${page}: no ${open}: is it a report of bootlap?`);
  return text.slice(0, start + open.length) + inside + text.slice(end);
}

let text = between(html, '<script type="module" async>', "</script>", script);
text = between(text, "<style>", "</style>", style);
text = text.replace(/script-src 'sha256-[^']*'/, `script-src ${hash(script)}`);
text = text.replace(/style-src 'sha256-[^']*'/, `style-src ${hash(style)}`);
await writeFile(out, text);
console.log(`${out}: viewer ${((script.length + style.length) / 1000).toFixed(1)} kB`);

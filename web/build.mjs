// Writes dist/viewer.js and dist/viewer.css, which are checked in and which
// crates/report includes. With --check: says whether they are up to date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { bundle } from "./bundle.mjs";

const { script, style } = await bundle();
const files = { "viewer.js": script, "viewer.css": style };
const folder = new URL("dist/", import.meta.url);
let stale = false;
if (process.argv.includes("--check")) {
  for (const [name, text] of Object.entries(files)) {
    const there = await readFile(new URL(name, folder), "utf8").catch(() => null);
    if (there !== text) {
      console.error(`web/dist/${name} is not what its sources give; type: make web`);
      stale = true;
    }
  }
} else {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(new URL(name, folder), text);
}
const sizes = Object.entries(files).map(([name, text]) => `${name} ${(text.length / 1000).toFixed(1)} kB`);
console.log(sizes.join(", "));
process.exitCode = stale ? 1 : 0;

// The viewer as two strings: one script, one style sheet, the same for the
// same sources on every machine.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What would leave a text node or the page: the viewer has no use for it. */
const BANNED = [
  "</script", "</style", "<!--", "innerHTML", "outerHTML", "insertAdjacent", "document.write",
  "eval(", "new Function", "fetch(", "XMLHttpRequest", "import(",
];

/** @param {{minify?: boolean}} [options] @returns {Promise<{script: string, style: string}>} */
export async function bundle({ minify = true } = {}) {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: { "viewer.js": "src/main.ts", "viewer.css": "src/style/viewer.css" },
    entryNames: "[name]",
    outdir: "dist",
    bundle: true,
    write: false,
    minify,
    format: "esm",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
  const text = (/** @type {string} */ end) => outputFiles.find((file) => file.path.endsWith(end))?.text ?? "";
  const [script, style] = [text(".js"), text(".css")];
  for (const word of BANNED) {
    if (script.includes(word) || style.includes(word)) throw new Error(`the bundle contains ${word}`);
  }
  return { script, style };
}

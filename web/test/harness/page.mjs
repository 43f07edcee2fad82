// The harness as one page: its script and the report's style, bundled.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

/** @returns {Promise<string>} */
export async function page() {
  const { outputFiles } = await build({
    absWorkingDir: here, entryPoints: { js: "harness.ts", css: "../../src/style/viewer.css" }, entryNames: "[name]", outdir: "out",
    bundle: true, write: false, format: "esm", target: "es2022", logLevel: "warning",
  });
  const text = (/** @type {string} */ end) => outputFiles.find((file) => file.path.endsWith(end))?.text ?? "";
  return `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>harness</title><style>${text(".css")} body{padding:24px;margin:0} @media(max-width:640px){body{padding:12px}}</style>`
    + `<body><script type="module">${text(".js").replaceAll("</script", "<\\/script")}</script>`;
}

// Tests of whole pages in the distribution's Chromium. Pages are big and
// machines are shared: the limits are there to end a hang, not to time.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL(".", import.meta.url).pathname,
    include: ["**/*.spec.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});

// Puts the page together.

import { load } from "./document.ts";
import { el } from "./dom.ts";
import { watchTheme } from "./theme.ts";

const root = document.getElementById("report")!;
watchTheme();
try {
  const boots = await load();
  root.append(el("h1", {}, boots[0]!.head.target));
} catch (error) {
  root.append(el("p", { class: "bad" }, `This page cannot show its data: ${error}`));
  console.error(error);
}

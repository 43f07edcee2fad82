// What the page's address says behind the #: how the timeline stands, and
// light or dark. `#find=TEXT` opens with a search.

import type { Theme } from "./theme.ts";

export interface Address { timeline: string; theme: Theme }

export function parseHash(hash: string): Address {
  const address: Address = { timeline: "", theme: "auto" };
  for (const field of hash.replace(/^#/, "").split("&")) {
    const [, name, value = ""] = /^(find|theme)=(.*)$/.exec(field) ?? [];
    if (name === undefined) address.timeline ||= field;
    else if (name === "find") address.timeline = `q${value}`;
    else if (value === "light" || value === "dark") address.theme = value;
  }
  return address;
}

export function formatHash({ timeline, theme }: Address): string {
  return [timeline, theme === "auto" ? "" : `theme=${theme}`].filter((field) => field !== "").join("&");
}

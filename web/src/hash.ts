// What the page's address says behind the #: how the timeline stands, and
// light or dark. `#find=TEXT` opens with a search, at what it finds first.

import type { Theme } from "./theme.ts";

export interface Address { timeline: string; theme: Theme; find: string }

export function parseHash(hash: string): Address {
  const address: Address = { timeline: "", theme: "auto", find: "" };
  for (const field of hash.replace(/^#/, "").split("&")) {
    const [, name, value = ""] = /^(find|theme)=(.*)$/.exec(field) ?? [];
    if (name === undefined) address.timeline ||= field;
    else if (name === "find") address.find = decoded(value);
    else if (value === "light" || value === "dark") address.theme = value;
  }
  return address;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function formatHash({ timeline, theme }: Omit<Address, "find">): string {
  return [timeline, theme === "auto" ? "" : `theme=${theme}`].filter((field) => field !== "").join("&");
}

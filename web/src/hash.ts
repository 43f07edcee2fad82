// What the page's address says behind the #: how the timeline stands, light or
// dark, and where the dock is. `#find=TEXT` opens with a search, at what it finds first.

import type { Theme } from "./theme.ts";

export interface Address { timeline: string; theme: Theme; find: string; dock: string }

export function parseHash(hash: string): Address {
  const address: Address = { timeline: "", theme: "auto", find: "", dock: "" };
  for (const field of hash.replace(/^#/, "").split("&")) {
    const [, name, value = ""] = /^(find|theme|dock)=(.*)$/.exec(field) ?? [];
    if (name === undefined) address.timeline ||= field;
    else if (name === "find") address.find = decoded(value);
    else if (name === "dock") address.dock = value;
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

export function formatHash({ timeline, theme, dock }: Omit<Address, "find">): string {
  return [timeline, theme === "auto" ? "" : `theme=${theme}`, dock && `dock=${dock}`].filter((field) => field !== "").join("&");
}

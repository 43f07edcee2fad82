// The timeline's state as text for the page's address: short, and the same for
// the same view. Only what differs from the beginning is in it.

export interface State {
  /** On the shared axis, ns; null for the whole boot. */
  view: { start: number; end: number } | null;
  selection: { boot: number; span: number } | null;
  query: string;
  /** Whether what the search does not find is hidden. */
  filter: boolean;
  /** Lanes that were opened or closed by hand. */
  toggled: string[];
  alignment: string | null;
  measure: { start: number; end: number } | null;
  /** Lanes that are not shown, and those that were put first, in that order. */
  hidden: string[];
  pinned: string[];
}

export const NOTHING: State = {
  view: null, selection: null, query: "", filter: false, toggled: [], alignment: null, measure: null, hidden: [], pinned: [],
};

/** Fields are one letter and a value, joined by `~`, which needs no escape. */
export function format(state: State): string {
  const fields: string[] = [];
  if (state.view) fields.push(`v${times(state.view)}`);
  if (state.selection) fields.push(`s${state.selection.span}${state.selection.boot ? `.${state.selection.boot}` : ""}`);
  if (state.query) fields.push(`q${escape(state.query)}`);
  if (state.filter) fields.push("f");
  for (const key of state.toggled) fields.push(`t${escape(key)}`);
  if (state.alignment !== null) fields.push(`a${escape(state.alignment)}`);
  if (state.measure) fields.push(`m${times(state.measure)}`);
  for (const key of state.hidden) fields.push(`h${escape(key)}`);
  for (const key of state.pinned) fields.push(`p${escape(key)}`);
  return fields.join("~");
}

/** What the text says; fields that make no sense are left out. */
export function parse(text: string): State {
  const state: State = { ...NOTHING, toggled: [], hidden: [], pinned: [] };
  for (const field of text.split("~")) {
    const value = field.slice(1);
    if (field[0] === "v") state.view = interval(value);
    else if (field[0] === "m") state.measure = interval(value);
    else if (field[0] === "s") {
      const [, span, boot] = /^(\d{1,9})(?:\.([01]))?$/.exec(value) ?? [];
      if (span !== undefined) state.selection = { boot: Number(boot ?? 0), span: Number(span) };
    } else if (field[0] === "q") state.query = unescape(value);
    else if (field === "f") state.filter = true;
    else if (field[0] === "t" && value) state.toggled.push(unescape(value));
    else if (field[0] === "h" && value) state.hidden.push(unescape(value));
    else if (field[0] === "p" && value) state.pinned.push(unescape(value));
    else if (field[0] === "a") state.alignment = unescape(value);
  }
  return state;
}

/** Two moments: the first in ns and how long, to a ten-thousandth of that. */
function times({ start, end }: { start: number; end: number }): string {
  const length = Math.max(1, end - start);
  const grain = 10 ** Math.max(0, Math.floor(Math.log10(length)) - 4);
  const round = (ns: number) => Math.round(ns / grain) * grain;
  return `${round(start)}_${Math.max(grain, round(length))}`;
}

function interval(text: string): { start: number; end: number } | null {
  const [, start, length] = /^(-?\d{1,18})_(\d{1,18})$/.exec(text) ?? [];
  if (start === undefined || length === undefined || Number(length) === 0) return null;
  return { start: Number(start), end: Number(start) + Number(length) };
}

function escape(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(/~/g, "%7E");
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

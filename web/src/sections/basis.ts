// What all of this rests on: files, clocks, the run.

import { facts, section, table } from "../dom.ts";
import { change, count, duration } from "../format.ts";
import type { Page } from "../model.ts";

export function basis({ head }: Page): HTMLElement {
  const files = head.files.map((file) =>
    [file.name, file.source, count(file.total), count(file.used), count(file.skipped)]);
  const clocks = head.clocks.map((clock) => [clock.kind, clock.simulated ? "simulated" : "measured", clock.how,
    clock.offset_ns === null ? "–" : change(clock.offset_ns), clock.err_ns === null ? "–" : `± ${duration(clock.err_ns)}`]);
  const about: [string, string][] = [["run", head.run], ["machine", head.machine], ["mode", head.mode],
    ["console, SHA-256", head.console_sha256], ["made by", head.tool]];
  return section("basis", "what this rests on", "",
    facts(about.filter(([, text]) => text)),
    files.length > 0 && table([["evidence", "text"], ["read as", ""], ["lines", "number"], ["used", "number"], ["skipped", "number"]], files),
    clocks.length > 0 && table([["clock", ""], ["time", ""], ["placed by", ""], ["offset", "number"], ["error", "number"]], clocks));
}

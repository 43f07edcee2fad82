// What advice is expected to save, in words.

import { duration } from "./format.ts";
import type { Finding } from "./model.ts";

export function saving(finding: Finding): string {
  if (finding.saving_kind === "unknown") {
    return finding.takes_ns > 0 ? `takes ${duration(finding.takes_ns)}, to be tried` : "to be tried";
  }
  const upTo = finding.saving_is_bound ? "up to " : "";
  return finding.predicted_saving_ns === null
    ? `saves ${upTo}${duration(finding.saving_ns)}`
    : `saves ${upTo}${duration(finding.predicted_saving_ns)} of a real board, predicted`;
}

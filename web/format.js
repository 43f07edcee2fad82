// Numbers as people read them; the same rules as crates/report/src/format.rs.

/** Four digits and the unit that fits. @param {number} ns @returns {string} */
function duration(ns) {
  const sign = ns < 0 ? "−" : "";
  const n = Math.abs(ns);
  if (n < 1e3) return `${sign}${n} ns`;
  if (n < 999_950) return `${sign}${fourDigits(n / 1e3)} µs`;
  if (n < 999_950_000) return `${sign}${fourDigits(n / 1e6)} ms`;
  return `${sign}${(n / 1e9).toFixed(3)} s`;
}

/** @param {number} value below 1000 @returns {string} */
function fourDigits(value) {
  return value.toFixed(value < 9.9995 ? 3 : value < 99.995 ? 2 : 1);
}

/** A duration with its sign. @param {number} ns */
function change(ns) {
  return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

/** A moment: seconds with as many decimals as `step` needs to be told apart.
 * @param {number} ns @param {number} [step] */
function moment(ns, step = 1e3) {
  const decimals = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step))));
  return `${(ns / 1e9).toFixed(decimals).replace("-", "−")} s`;
}

/** @param {number} part @param {number} whole */
function share(part, whole) {
  return whole > 0 ? percent(part / whole) : "–";
}

/** @param {number} fraction */
function percent(fraction) {
  return `${(fraction * 100).toFixed(1)} %`;
}

/** Thousands apart, with no-break spaces. @param {number} n */
function count(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
}

/** How many times as much, or null. @param {number} more @param {number} less */
function times(more, less) {
  if (more <= 0 || less <= 0) return null;
  const ratio = more / less;
  return `${ratio.toFixed(ratio >= 9.95 ? 0 : ratio >= 1.095 ? 1 : 3)}×`;
}

// Numbers as people read them; the same rules as crates/report/src/format.rs.

/** Four digits and the unit that fits. */
export function duration(ns: number): string {
  const sign = ns < 0 ? "−" : "";
  const n = Math.abs(ns);
  if (n < 1e3) return `${sign}${n} ns`;
  if (n < 999_950) return `${sign}${fourDigits(n / 1e3)} µs`;
  if (n < 999_950_000) return `${sign}${fourDigits(n / 1e6)} ms`;
  return `${sign}${(n / 1e9).toFixed(3)} s`;
}

/** `value` is below 1000. */
function fourDigits(value: number): string {
  return value.toFixed(value < 9.9995 ? 3 : value < 99.995 ? 2 : 1);
}

/** A duration with its sign. */
export function change(ns: number): string {
  return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

/** Whether a moment is of a wall clock: no machine runs for three years; as crates/report/src/format.rs. */
export function isWall(ns: number): boolean {
  return ns >= 1e17;
}

/** A moment: seconds with as many decimals as `step` needs to be told apart; of a wall clock the
 * time of day, as logs have it. */
export function moment(ns: number, step = 1e3): string {
  const decimals = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step))));
  return isWall(ns) ? timeOfDay(ns, Math.min(6, decimals)) : `${(ns / 1e9).toFixed(decimals).replace("-", "−")} s`;
}

/** To at most microseconds, which are what such a number still holds. */
function timeOfDay(ns: number, decimals: number): string {
  const scale = 10 ** decimals;
  const units = Math.round((ns / 1e9) * scale);
  const seconds = Math.floor(units / scale);
  const two = (n: number) => String(n).padStart(2, "0");
  const time = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  return decimals === 0 ? time : `${time}.${String(units % scale).padStart(decimals, "0")}`;
}

export function share(part: number, whole: number): string {
  return whole > 0 ? percent(part / whole) : "–";
}

export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}

/** Thousands apart, with no-break spaces. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
}

/** How many times as much, or null. */
export function times(more: number, less: number): string | null {
  if (more <= 0 || less <= 0) return null;
  const ratio = more / less;
  return `${ratio.toFixed(ratio >= 9.95 ? 0 : ratio >= 1.095 ? 1 : 3)}×`;
}

/** Bytes, by thousands. */
export function bytes(n: number): string {
  if (n < 1e3) return `${n} B`;
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} kB`;
  return `${(n / 1e6).toFixed(1)} MB`;
}

/** The round number next above `least`: 1, 2 or 5 times a power of ten. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

/** A name as one word of a command to copy; names have no control characters here. */
export function shellWord(name: string): string {
  return /^[\p{L}\p{N}%+,\-./:@_][\p{L}\p{N}%+,\-./:=@_#]*$/u.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

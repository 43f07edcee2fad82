// Bytes out of the page's text: crates/report/src/boot/html/base85.rs writes it.

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,.:;=?@[]^_{|}~";

/** The bytes behind `text`; five digits are four bytes, big-endian, and the
 * last n + 1 digits n bytes. */
export function decoded(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let i = 0; i < 85; i++) values[DIGITS.charCodeAt(i)] = i;
  const whole = Math.floor(text.length / 5);
  const rest = text.length - 5 * whole;
  const bytes = new Uint8Array(4 * whole + Math.max(0, rest - 1));
  const value = (at: number) => values[text.charCodeAt(at)]!;
  for (let n = 0, at = 0, to = 0; n < whole; n++, at += 5, to += 4) {
    const word = (((value(at) * 85 + value(at + 1)) * 85 + value(at + 2)) * 85 + value(at + 3)) * 85 + value(at + 4);
    bytes[to] = word >>> 24;
    bytes[to + 1] = word >>> 16;
    bytes[to + 2] = word >>> 8;
    bytes[to + 3] = word;
  }
  if (rest > 1) {
    let word = 0;
    for (let n = 0; n < 5; n++) word = word * 85 + (n < rest ? value(5 * whole + n) : 84);
    for (let n = 0; n < rest - 1; n++) bytes[4 * whole + n] = word >>> (24 - 8 * n);
  }
  return bytes;
}

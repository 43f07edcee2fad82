// Perfetto's own trace processor, as its UI runs it (WebAssembly), without a
// browser. Reads a trace, answers SQL.
//
// usage: node engine.mjs FOLDER-OF-THE-UI TRACE < queries.json > answers.json
//
// `queries.json` is `{name: sql}`, the answer `{name: [[cell, …], …]}`. 64-bit
// numbers that JSON's readers in JavaScript would round come as text.
//
// The UI's worker, engine_bundle.js, expects the global scope of a Worker and
// a port that carries protobuf messages (TraceProcessorRpcStream of the
// published trace_processor.proto, whose numbers are below).

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import vm from "node:vm";

const APPEND = 1;
const FINALIZE = 2;
const QUERY = 3;
/** The worker takes no larger pieces at once. */
const PIECE = 16 << 20;

function varint(n) {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
}

/** A field: a number as a varint, anything else with its length. */
function field(number, value) {
  if (typeof value === "number") return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** Reads the varint at `cursor.at`. */
function readVarint(bytes, cursor) {
  let n = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[cursor.at++];
    if (byte === undefined) throw new Error("the engine's reply ends in a number");
    n |= BigInt(byte & 127) << shift;
    if (byte < 128) return BigInt.asIntN(64, n);
  }
}

/** The fields of a message, as [number, value]; varints are BigInt. */
function* fields(bytes) {
  const cursor = { at: 0 };
  const take = (length) => bytes.subarray(cursor.at, (cursor.at += length));
  while (cursor.at < bytes.length) {
    const tag = Number(readVarint(bytes, cursor));
    const wire = tag & 7;
    if (wire === 0) yield [tag >> 3, readVarint(bytes, cursor)];
    else if (wire === 1) yield [tag >> 3, take(8)];
    else if (wire === 2) yield [tag >> 3, take(Number(readVarint(bytes, cursor)))];
    else throw new Error(`the engine replied with wire type ${wire}`);
  }
}

function* packed(value) {
  if (typeof value === "bigint") return yield value;
  const cursor = { at: 0 };
  while (cursor.at < value.length) yield readVarint(value, cursor);
}

/** The worker and its port: `call(method, argument)` gives the replies. */
async function start(ui) {
  const log = [];
  const scope = {
    location: { href: "file:///engine_bundle.js" },
    console: { log: (m) => log.push(m), warn: (m) => log.push(m), error: (m) => log.push(m) },
    performance, setTimeout, clearTimeout, TextDecoder, TextEncoder, URL, crypto,
    WorkerGlobalScope: class {},
    // For the WebAssembly file that lies beside the script.
    XMLHttpRequest: class {
      open(_method, url) {
        const bytes = readFileSync(join(ui, basename(url)));
        this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      }
      send() {}
    },
  };
  scope.self = scope;
  const context = vm.createContext(scope);
  vm.runInContext(readFileSync(join(ui, "engine_bundle.js"), "utf8"), context);
  const Bytes = vm.runInContext("Uint8Array", context);

  let replies = [];
  const port = { onmessage: null, postMessage: (bytes) => replies.push(Buffer.from(bytes)) };
  scope.onmessage({ data: port });
  let sequence = 0;
  const call = (method, ...argument) => {
    const request = Buffer.concat([field(1, sequence++), field(2, method), ...argument]);
    replies = [];
    port.onmessage({ data: new Bytes(field(1, request)) });
    const messages = [];
    for (const [, message] of fields(Buffer.concat(replies))) {
      const reply = new Map(fields(message));
      if (reply.has(5)) throw new Error(`${reply.get(5)}\n${log.join("\n")}`);
      messages.push(reply);
    }
    return messages;
  };
  // The worker sets its buffer up in a promise's continuation.
  await new Promise((resolve) => setTimeout(resolve, 0));
  return call;
}

function load(call, bytes) {
  for (let at = 0; at < bytes.length; at += PIECE) {
    for (const reply of call(APPEND, field(101, bytes.subarray(at, at + PIECE)))) {
      const error = new Map(fields(reply.get(201) ?? Buffer.alloc(0))).get(2);
      if (error) throw new Error(`the trace is refused: ${error}`);
    }
  }
  for (const reply of call(FINALIZE)) {
    const error = new Map(fields(reply.get(212) ?? Buffer.alloc(0))).get(2);
    if (error) throw new Error(`the trace is refused: ${error}`);
  }
}

/** The rows of `sql`: columns in order, cells as JSON has them. */
function query(call, sql) {
  const cells = [];
  let columns = 0;
  for (const reply of call(QUERY, field(103, field(1, sql)))) {
    for (const [number, value] of fields(reply.get(203) ?? Buffer.alloc(0))) {
      if (number === 1) columns += 1;
      else if (number === 2) throw new Error(`${value}\nin: ${sql}`);
      else if (number === 3) cells.push(...batch(value));
    }
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
  return rows;
}

function batch(bytes) {
  const types = [];
  const ints = [];
  const floats = [];
  const blobs = [];
  let strings = [];
  for (const [number, value] of fields(bytes)) {
    if (number === 1) types.push(...packed(value));
    else if (number === 2) ints.push(...packed(value));
    else if (number === 3) for (let at = 0; at < value.length; at += 8) floats.push(value.readDoubleLE(at));
    else if (number === 4) blobs.push(value.toString("hex"));
    else if (number === 5) strings = value.toString("utf8").split("\0");
  }
  const next = [null, () => null, () => json(ints.shift()), () => floats.shift(), () => strings.shift(), () => blobs.shift()];
  // shift() is quadratic for long lists, and batches are short.
  return types.map((type) => next[Number(type)]());
}

function json(n) {
  const exact = n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER);
  return exact ? Number(n) : n.toString();
}

const [ui, trace] = process.argv.slice(2);
const queries = JSON.parse(readFileSync(0, "utf8"));
const call = await start(ui);
load(call, readFileSync(trace));
const answers = Object.entries(queries).map(([name, sql]) => [name, query(call, sql)]);
process.stdout.write(JSON.stringify(Object.fromEntries(answers)));

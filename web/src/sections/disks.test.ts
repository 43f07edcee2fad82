import { expect, it } from "vitest";
import { rowsOf } from "./disks.ts";

const none = { reads: 0, read_bytes: 0, again_bytes: 0, writes: 0, written_bytes: 0, flushes: 0, waited_ns: 0 };
const phases = [{ name: "bootloader", title: "boot loader" }, { name: "user-space", title: "user space" }];

it("has a row for each phase and one for all, and waits only where disks take time", () => {
  const loader = { ...none, phase: "bootloader", reads: 227, read_bytes: 33_700_000, waited_ns: 1_500_000_000 };
  const user = { ...none, phase: "user-space", reads: 54, read_bytes: 2_300_000, again_bytes: 800_000, writes: 1, written_bytes: 1024, flushes: 1 };
  const all = { reads: 281, read_bytes: 36_000_000, again_bytes: 800_000, writes: 1, written_bytes: 1024, flushes: 1, waited_ns: 1_500_000_000 };
  expect(rowsOf({ ...all, phases: [loader, user] }, phases)).toEqual([
    ["boot loader", "33.7 MB in 227", "–", "–", "1.500 s"],
    ["user space", "2.3 MB in 54 (800.0 kB of it again)", "1.0 kB in 1", "1", "–"],
    ["together", "36.0 MB in 281 (800.0 kB of it again)", "1.0 kB in 1", "1", "1.500 s"],
  ]);
  expect(rowsOf({ ...all, waited_ns: 0, phases: [user] }, phases)).toEqual([["user space", "2.3 MB in 54 (800.0 kB of it again)", "1.0 kB in 1", "1"]]);
});

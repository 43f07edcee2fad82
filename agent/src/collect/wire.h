/* The archive of a collection, as the agent writes it and bootlap reads it
 * (crates/sources/src/agent reads this very file in its tests).
 *
 * WIRE_MAGIC, then records: kind (u8), 0 (u8), length of what follows (u16), and
 * that. Numbers are little-endian. Times are ns of CLOCK_MONOTONIC, which a
 * kernel's log shows as well. Strings fill what is left of their record. A reader
 * leaves out kinds that it does not know, and what follows the fields that it
 * does. The last record is WIRE_END; an archive without it is cut short. */
#ifndef WIRE_H
#define WIRE_H

#define WIRE_MAGIC "bootlap\1"
#define WIRE_MAGIC_LEN 8
#define WIRE_HEAD_LEN 4
#define WIRE_LONGEST 1024 /* the payload of a record */
#define WIRE_UNKNOWN UINT32_MAX

enum wire_kind {
	/* time u64, wall clock ns since 1970 u64, clock ticks a second u32, CPUs u32,
	 * pid of the collector u32, its version */
	WIRE_START = 1,
	/* name, NUL, value: release, machine, cmdline */
	WIRE_FACT = 2,
	/* time u64, parent's tgid u32, child's pid u32, child's tgid u32 */
	WIRE_FORK = 3,
	/* time u64, tgid u32, its arguments with a NUL behind each, if it still lives */
	WIRE_EXEC = 4,
	/* time u64, pid u32, tgid u32, status as wait gives it or WIRE_UNKNOWN u32 */
	WIRE_EXIT = 5,
	/* a thread that ended, by the kernel's accounting: time of reading u64, pid u32,
	 * ppid u32, elapsed us u64, user us u64, system us u64, waiting for a CPU ns
	 * u64, for its disk ns u64, bytes read u64, bytes written u64, status u32, name */
	WIRE_ACCOUNT = 6,
	/* a process that lives: time u64, pid u32, ppid u32, start in ticks u64, user
	 * ticks u64, system ticks u64, state (a letter) u32, name */
	WIRE_PROCESS = 7,
	/* ticks since the start of user, nice, system, idle, iowait, irq, softirq and
	 * steal: time u64, u64 of each, processes running u32, blocked u32 */
	WIRE_CPU = 8,
	/* one disk: time u64, reads u64, sectors read u64, writes u64, sectors written
	 * u64, ms busy u64, name */
	WIRE_DISK = 9,
	/* KiB: time u64, total u64, free u64, available u64, buffers u64, cached u64 */
	WIRE_MEMORY = 10,
	/* us of somebody waiting, us of all waiting: time u64, both u64, for `cpu`,
	 * `io` or `memory` */
	WIRE_PRESSURE = 11,
	/* time u64, its name */
	WIRE_MARK = 12,
	/* what did not fit or came too fast: count u32, of what */
	WIRE_LOST = 13,
	/* the collector's own: time u64, user us u64, system us u64, wake-ups u32, bytes
	 * of its buffer u32, used u32 */
	WIRE_COST = 14,
	/* why the collection ended: time u64, a word or two */
	WIRE_END = 15,
	/* a program that was started, by the name that the kernel gives it, of 15 bytes
	 * at most: time u64, tgid u32, name. Its WIRE_EXEC, if it lives long enough,
	 * has the same time. */
	WIRE_NAME = 16,
	/* between these times the kernel's log counted so many us: u64, u64, u64 */
	WIRE_LOG_CLOCK = 17,
	/* how long a thread ran that began meanwhile, until its end or until now: time of
	 * reading u64, pid u32, ns u64 */
	WIRE_RAN = 18,
};

#endif

/*
 * What the probe records: console bytes and marks, each with the guest's time.
 *
 * Times are the virtual clock in ns. Instructions come from QEMU's own icount
 * counter, which is exact (a counter per translation block would count the
 * block again that QEMU restarts for an I/O access). Without -icount it reads
 * zero: there are no instruction counts then.
 *
 * Record format: see crates/wire/src/stamps/mod.rs.
 */
#ifndef PROBE_STAMPS_H
#define PROBE_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

enum stamp_clock { CLOCK_SIMULATED = 1, CLOCK_QEMU = 2, CLOCK_MODELLED = 4 };
enum mark { MARK_KERNEL = 1, MARK_USER, MARK_IMAGE, MARK_LIMIT, MARK_LOADER, MARK_REQUEST };

/* Begins recording what QEMU writes to the file `console`; false and a reason
 * on stderr if that cannot be. */
bool stamps_open(const char *console, const char *stamps, enum stamp_clock);

/* The guest is here now. */
void stamps_mark(enum mark);

/* What was done for the guest, beside what it did. */
struct stamps_request {
	enum { REQUEST_READ, REQUEST_WRITE, REQUEST_FLUSH, REQUEST_LOAD } what;
	unsigned disk;
	uint64_t offset;
	uint32_t bytes;
	int64_t took_ps;   /* since it was asked for */
	int64_t waited_ps; /* so long the CPU had nothing else to do, since power-on */
};

/* It is done now. */
void stamps_request(const struct stamps_request *);

/* Until `stamps_now` all bytes left the machine at this moment, ns: a model of
 * the line knows it better than the clock does. */
void stamps_at(int64_t ns);
void stamps_now(void);

#endif

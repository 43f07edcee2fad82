/* Caches: memory that is near costs nothing more, the rest a board's latency. */
#ifndef PROBE_CACHES_H
#define PROBE_CACHES_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "qemu.h"

/* Powers of two; no bytes: there is none, and what it would hold costs nothing more. */
struct cache_size {
	unsigned bytes, ways;
};

struct cache_board {
	struct cache_size l1i, l1d, l2;
	unsigned line;        /* bytes, a power of two */
	int64_t l2_ps;        /* what L1 misses and L2 has takes so long more */
	int64_t memory_ps;    /* what no cache has takes so long more */
	bool off[STAGES];     /* data is not cached then, whatever the guest sets */
};

/* False if this QEMU does not tell what is read and run. */
bool caches_model(const struct cache_board *, const struct plugin_info *);

/* To be called for each translated block; false without caches. */
bool caches_translated(struct plugin_tb *);

/* Whether there are any. */
bool caches_any(void);

#endif

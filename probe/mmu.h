/*
 * What a guest does with its memory management unit, as far as caches must know:
 * whether its data is cached, and when an address may stand for another place.
 */
#ifndef PROBE_MMU_H
#define PROBE_MMU_H

#include <stdbool.h>

#include "qemu.h"

/* The CPU's addresses may mean other places from now on. */
typedef void (*map_changed)(unsigned cpu);

/* False where it cannot be seen what such a guest does. */
bool mmu_watch(const struct plugin_info *, map_changed);

/* To be called for each translated block. */
void mmu_translated(struct plugin_tb *);

/* Whether it is seen that the guest switches its data caches; else they count as on. */
bool mmu_tells_caches(void);

/* Whether this CPU's data is cached. In the CPU's thread. */
bool mmu_cached(unsigned cpu);

#endif

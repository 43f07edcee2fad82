/* Reading ahead pieces of files, in the order in which they are listed. */
#ifndef LOAD_H
#define LOAD_H

#include <stdint.h>

struct item {
	uint64_t key; /* its place on the disk; first for sort() */
	uint64_t start;
	uint32_t length;
	uint32_t file; /* index in fds */
};

/* What is loaded, and what came of it. */
extern struct loading {
	struct item *items;
	uint32_t item_count;
	int *fds;
	uint64_t deadline; /* as now_ns() has it; 0: none */
	uint64_t budget;   /* bytes that may still be loaded */
	int look_only;
	int always; /* also if the disk is so fast that nobody waits for it */
	struct {
		uint64_t asked, there, loaded;
		uint32_t errors, unknown, late, full, fast;
	} total;
} loading;

/* Memory for all that, with so many fds; -1 and errno. */
int load_open(uint32_t fds);
void load_close(void);

int load_is_late(void);

/* Whether the first groups came so fast that reading ahead costs more than it saves. */
int load_is_needless(void);

/* Lists a piece, as far as it fits. */
void load_add(uint32_t file, uint64_t start, uint64_t length, uint64_t key);

/* Sorts pieces by their place, and joins those of one file that are at most `gap` bytes
 * apart; gives how many there are then. */
uint32_t load_coalesce(struct item *items, uint32_t count, uint32_t gap);

/* Loads what is listed, from so many processes; no call takes more than `chunk`. */
void load_all(unsigned workers, uint32_t chunk);

#endif

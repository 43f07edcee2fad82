/* What is to be moved: the ranges of files that a pack names, in the order in which
 * they are to lie on the disk. */
#ifndef LAYOUT_PLAN_H
#define LAYOUT_PLAN_H

#include <stdint.h>
#include <sys/types.h>

#include "preload/pack.h"

struct range {
	uint64_t key; /* first for sort(); then of use to who moves it */
	uint64_t start, end;
	uint32_t file; /* of the pack */
};

/* Contiguous runs of what is asked for one after the other. */
struct runs {
	uint64_t end; /* of the last one, on the disk */
	uint32_t count;
};

/* For places_each: another place behind them. */
struct place;
void runs_add(const struct place *place, void *runs);

/* Files that stay where they are, by what is in the way. */
struct left_out {
	uint32_t changed, gone, running, in_use, programs, refused;
};

struct plan {
	struct range *ranges; /* behind one another, and those of a file together */
	uint32_t count, files;
	uint64_t bytes; /* as much as a donor needs */
	struct runs now;
	struct left_out left_out;
};

/* Where and how. */
struct volume {
	const struct pack *pack;
	uint32_t fs; /* of the pack */
	int top;     /* the folder where it is mounted */
	dev_t dev;
	uint32_t block, unit; /* of the file system; what can be moved alone: at least a page */
	int programs; /* also what may be executed */
};

/* Memory for plans, once; -1 and errno. */
int plan_open(void);

/* Whether a program that lies on this file system runs: then others are started, too. */
int plan_is_live(dev_t dev);

/* Looks at the pack's files and plans. */
void plan_make(struct plan *plan, const struct volume *volume);

/* Which range is the first one of another file than the one at `first`. */
uint32_t plan_end_of_file(const struct plan *plan, uint32_t first);

/* In how many runs what is planned lies at this moment. */
struct runs plan_runs(const struct plan *plan, const struct volume *volume);

/* Opens a file of the pack so that it can be moved; -1, and it is counted, if not. */
int plan_open_file(struct left_out *left_out, const struct volume *volume, uint32_t file);

#endif

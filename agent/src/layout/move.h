/* Moving ranges of files to places of our own: the blocks of a donor, a file without a
 * name that lies on the disk in one piece, are exchanged with theirs. */
#ifndef LAYOUT_MOVE_H
#define LAYOUT_MOVE_H

#include <signal.h>

#include "plan.h"

struct moved {
	uint32_t files;
	uint64_t bytes;
	int stopped; /* was asked to */
};

/* Set, moving ends after the piece that is at work. */
extern volatile sig_atomic_t move_stop;

/* Makes a donor of so many bytes, and says in how many runs it lies; -1 after a
 * complaint. It is gone when it is closed, or at the next mount after a power cut. */
int donor_open(const struct volume *volume, uint64_t bytes, struct runs *runs);

/* Moves what is planned; -1 after a complaint, and what is moved by then stays so. */
int move_all(struct plan *plan, const struct volume *volume, int donor, struct moved *moved);

#endif

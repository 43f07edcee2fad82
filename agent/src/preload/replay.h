/* Reading ahead what a pack says. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdint.h>

#include "pack.h"
#include "queue.h"
#include "text.h"

struct replay {
	const char *root;    /* in front of where file systems are mounted, or "" */
	int64_t threads;     /* processes that read; 0 is 1 */
	int64_t deadline_ms; /* 0: none */
	int look_only;       /* load nothing */
	int always;          /* also if the disk is fast */
	int by_time;         /* in the order of the recording, not of the disk */
	struct queue queue;  /* meanwhile */
};

/* Does it, and says what was done; whether the pack is out of date: every tenth file has
 * changed or is gone. */
int replay_pack(const struct replay *replay, const struct pack *pack, struct text *report);

#endif

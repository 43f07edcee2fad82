/* How far the kernel reads ahead on a disk. */
#ifndef AHEAD_H
#define AHEAD_H

#include <sys/types.h>

struct ahead {
	int disk;        /* -1 if nothing was changed of it */
	long was;        /* in sectors of 512 bytes */
	dev_t dev;       /* of the file system */
	char inodes[16]; /* blocks of them, as ext4 says it; "" if nothing was changed */
};

/* The disk below `place` reads no further ahead than `kib` from now on, for files that
 * are opened from now on, and ext4 reads no inodes ahead. Without a disk of its own, or
 * if that reads less already, nothing changes. */
struct ahead ahead_limit(const char *place, long kib);

/* As it was. */
void ahead_restore(struct ahead *ahead);

#endif

/* Where an image lies: a block device, or a file whose blocks stay where they are, below the
 * file system that holds it. That one does not notice, and may be mounted read-only. */
#ifndef MEDIUM_H
#define MEDIUM_H

#include <stddef.h>
#include <stdint.h>

#include "preload/fiemap.h"

#define MEDIUM_PIECES 256

struct medium {
	int fd; /* of the device */
	uint64_t size;
	uint32_t count;
	struct place pieces[MEDIUM_PIECES]; /* in the image's order, without gaps */
};

/* Opens it with flags of open(2); -1 after a complaint. */
int medium_open(struct medium *medium, const char *path, int flags);

/* All of it, or -1 and errno; behind the end that is ENOSPC. */
int medium_write(const struct medium *medium, uint64_t at, const void *bytes, size_t length);
int medium_read(const struct medium *medium, uint64_t at, void *bytes, size_t length);

/* Until all that was written is on the disk. */
int medium_sync(const struct medium *medium);

/* What was read up to there is not kept in memory, which the resumed system needs. */
void medium_forget(const struct medium *medium, uint64_t from, uint64_t to);

#endif

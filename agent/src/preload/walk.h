/* All files of a file system, without recursion and in little memory. */
#ifndef WALK_H
#define WALK_H

#include <stddef.h>
#include <stdint.h>

struct walked {
	int dir;          /* the folder it is in */
	const char *name; /* in that */
	const char *path; /* from the top on */
	size_t path_len;
	uint64_t ino;
	unsigned char type; /* DT_REG or DT_UNKNOWN */
};

/* Hands over what may be a regular file below the folder `top` (which is closed), on
 * the same file system, until `visit` gives something else than 0. */
void walk(int top, int (*visit)(const struct walked *walked, void *context), void *context);

#endif

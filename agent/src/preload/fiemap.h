/* Where on the disk a file's bytes are, as the file system tells (FIEMAP). */
#ifndef FIEMAP_H
#define FIEMAP_H

#include <stdint.h>

struct place {
	uint64_t start, length; /* in the file */
	uint64_t at;            /* on the disk */
	uint32_t flags;         /* FIEMAP_EXTENT_… */
};

/* Hands over the pieces of the disk that a file's range lies on, holes left out, in the
 * file's order; `flags` are FIEMAP_FLAG_…. Gives up to where that is known: less than
 * `end` where the file system does not tell. */
uint64_t places_each(int fd, uint64_t start, uint64_t end, uint32_t flags,
		     void (*found)(const struct place *place, void *context), void *context);

#endif

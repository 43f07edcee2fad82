/* What of a file is in memory. */
#ifndef CACHED_H
#define CACHED_H

#include <stdint.h>

/* Bytes of the range that are in memory, in whole pages; -1 if the kernel does not say. */
int64_t cached_bytes(int fd, uint64_t start, uint64_t length);

/* Hands over the ranges of the first `size` bytes that are in memory. */
void cached_ranges(int fd, uint64_t size,
		   void (*found)(void *context, uint64_t start, uint64_t end), void *context);

#endif

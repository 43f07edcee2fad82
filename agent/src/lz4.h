/* LZ4's block format. */
#ifndef LZ4_H
#define LZ4_H

#include <stddef.h>

/* Unpacks a block of exactly `room` bytes; -1 if it is none. */
int lz4_unpack(const unsigned char *from, size_t len, unsigned char *to, size_t room);

/* Writes again what lies `distance` bytes before, and that over and over if `len` is
 * more than that. */
void repeat(unsigned char *to, size_t distance, size_t len);

#endif

/* LZ4's block format, written. */
#ifndef LZ4_PACK_H
#define LZ4_PACK_H

#include <stddef.h>

/* Packs 65536 bytes at most; 0 if they would not be fewer than `room`. */
size_t lz4_pack(const unsigned char *from, size_t length, unsigned char *to, size_t room);

#endif

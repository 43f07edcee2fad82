/* CRC-32 as zlib, PNG and gzip have it: of one part after the other, from 0. */
#ifndef CRC32_H
#define CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32(uint32_t so_far, const void *bytes, size_t len);

#endif

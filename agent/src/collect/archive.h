/* Records in a buffer of fixed size, which becomes the archive. */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/* What may get lost, as it is told. */
enum lost {
	LOST_RECORDS,  /* the buffer was full */
	LOST_EVENTS,   /* the kernel's queue of forks, execs and exits ran over */
	LOST_ACCOUNTS, /* that of ended threads did */
	LOST_KINDS,
};

/* Memory for `bytes`; -1 and errno if there is none. */
int archive_open(size_t bytes);

/* A record: begin, its fields in their order, end. What is longer than
 * WIRE_LONGEST is cut, what does not fit into the buffer is counted. */
void record_begin(enum wire_kind kind);
void record_u32(uint32_t number);
void record_u64(uint64_t number);
void record_bytes(const void *bytes, size_t len);
void record_string(const char *string);
void record_end(void);

void archive_lost(enum lost what, uint64_t count);

/* Bytes of the buffer, and how many are used. */
size_t archive_room(void);
size_t archive_used(void);

/* What follows may use what was kept back for the end. */
void archive_use_reserve(void);

/* Adds what was lost and the last record: nothing is added any more. */
void archive_close(uint64_t now, const char *why);

/* The whole archive. */
const unsigned char *archive_bytes(void);

#endif

/* The processes that live: what /proc says of them goes into the archive, and to
 * ready.h. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdint.h>

/* Notes every process that lives. */
void processes_scan(void);

/* Notes a process's arguments, which it has from `time` on. */
void processes_exec(uint64_t time, uint32_t pid);

#endif

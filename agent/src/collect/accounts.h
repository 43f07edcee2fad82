/* What each thread has used, as the kernel tells when it ends: CONFIG_TASKSTATS. */
#ifndef ACCOUNTS_H
#define ACCOUNTS_H

#include <stddef.h>

/* A socket to drain; -1 and errno if this kernel does not tell. Where it does not list
 * its CPUs, there are so many. */
int accounts_open(size_t cpu_count);

/* Notes the threads that have ended since. */
void accounts_drain(int fd);

#endif

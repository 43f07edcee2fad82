/* What each thread has used, as the kernel tells when it ends: CONFIG_TASKSTATS. */
#ifndef ACCOUNTS_H
#define ACCOUNTS_H

/* A socket to drain; -1 and errno if this kernel does not tell. */
int accounts_open(void);

/* Notes the threads that have ended since. */
void accounts_drain(int fd);

#endif

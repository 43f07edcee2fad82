/* Forks, execs and exits from the kernel's performance events: it writes them into
 * memory that is mapped here, one ring for each CPU, so that noting one costs some
 * hundred instructions and reading them no system call. Linux >= 4.1 with
 * CONFIG_PERF_EVENTS, as root. */
#ifndef RINGS_H
#define RINGS_H

/* 0; -1 and errno if this kernel does not tell. */
int rings_open(void);

/* Notes what has happened since. */
void rings_drain(void);

#endif

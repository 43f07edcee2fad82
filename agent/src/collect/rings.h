/* Forks, execs and exits from the kernel's performance events: it writes them into
 * memory that is mapped here, one ring for each CPU, so that noting one costs some
 * hundred instructions and reading them no system call. Linux >= 4.1 with
 * CONFIG_PERF_EVENTS, as root. */
#ifndef RINGS_H
#define RINGS_H

#include <stddef.h>

/* 0; -1 and errno if this kernel does not tell. With `switches`, which cost some hundred
 * instructions each, it tells of these too (Linux >= 4.3): how long each thread ran. */
int rings_open(int switches);

/* Whether it does. */
int rings_tell_switches(void);

/* Notes what has happened since, and with `all` opens those of CPUs that have come. */
void rings_drain(int all);

/* Behind the last of these: what is known of threads that live. */
void rings_finish(void);

/* How many CPUs there may be, and how many are on. */
size_t rings_cpus(void);
size_t rings_open_cpus(void);

#endif

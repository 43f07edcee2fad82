/* How long each thread ran, to the ns, from the kernel's switches between threads. Its
 * accounts lack up to a tick of a thread that slept, and its tables of the living are in
 * ticks. Only threads that begin meanwhile: of others nobody has seen all. */
#ifndef RAN_H
#define RAN_H

#include <stddef.h>
#include <stdint.h>

/* Memory for them, of so many CPUs; -1 and errno. */
int ran_open(size_t cpus);

/* What a CPU's events tell, in their order: a thread begins there, or the CPU goes over to
 * one (0 if there is none). */
void ran_fork(uint32_t thread);
void ran_switch(size_t cpu, uint32_t to, uint64_t time);

/* Some were lost: of no thread that has begun by now all is known. */
void ran_lost(void);

/* Notes what is known, of who lives until now. */
void ran_note(uint64_t now);

#endif

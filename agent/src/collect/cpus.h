/* How many CPUs are configured; the kernel is asked once. */
#ifndef CPUS_H
#define CPUS_H

long cpus(void);

#endif

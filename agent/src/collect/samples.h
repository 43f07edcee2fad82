/* What the whole machine does, read at intervals. */
#ifndef SAMPLES_H
#define SAMPLES_H

/* Notes CPUs, memory, pressure and the disks that have worked since. */
void samples_take(void);

#endif

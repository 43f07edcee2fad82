/* What the whole machine does, read at intervals. */
#ifndef SAMPLES_H
#define SAMPLES_H

/* Notes CPUs and the disks that have worked since. */
void samples_take(void);
/* Notes memory and pressure, which cost twice as much and tell as much later. */
void samples_take_rest(void);

#endif

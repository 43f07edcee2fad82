/*
 * Whose turn it is: QEMU's CPU thread, or its main thread.
 *
 * What a device puts off (a "bottom half") is done by whichever thread comes first,
 * and QEMU's main thread comes at any moment of the guest's time. Here the CPU's
 * thread does what it has caused itself, as soon as it lets go of QEMU's big lock,
 * and the main thread waits for that.
 *
 * It is the main thread that puts the clock forward while the guest waits for an interrupt.
 * QEMU's CPU is idle for it from that instruction on, a moment before the CPU's thread has
 * told how many it has executed; what was not told yet would come on top.
 */
#ifndef PROBE_TURN_H
#define PROBE_TURN_H

#include <stdbool.h>

/* Once the machine is there, in QEMU's main thread: whether the CPU's has the big lock is known
 * from now on, if this QEMU tells. */
void turn_watch(void);

/* After that: turns are taken. False if this QEMU cannot. */
bool turn_take(void);

/* With the big lock, in another thread than the CPU's, while that is idle: until it has told
 * what it executed. */
void turn_wait_for_cpu(void);

#endif

/*
 * Whose turn it is: QEMU's CPU thread, or its main thread.
 *
 * What a device puts off (a "bottom half") is done by whichever thread comes first,
 * and QEMU's main thread comes at any moment of the guest's time. Here the CPU's
 * thread does what it has caused itself, as soon as it lets go of QEMU's big lock,
 * and the main thread waits for that.
 */
#ifndef PROBE_TURN_H
#define PROBE_TURN_H

#include <stdbool.h>

/* Once the machine is there, in QEMU's main thread. False if this QEMU cannot. */
bool turn_take(void);

#endif

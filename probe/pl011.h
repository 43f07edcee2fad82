/* Arm's PL011 with the FIFO and the pace of the chip. */
#ifndef PROBE_PL011_H
#define PROBE_PL011_H

#include <stdbool.h>

/*
 * Once the machine is there, and its clock taken over: puts the model in front
 * of QEMU's PL011. baud: the rate where the guest programs none that a console
 * can have. False if the machine has not exactly one, or this QEMU lacks what is
 * needed; nothing is changed then.
 */
bool pl011_take_over(unsigned baud);

#endif

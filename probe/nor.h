/* Flash that is read like memory, at the pace of the chip. */
#ifndef PROBE_NOR_H
#define PROBE_NOR_H

#include "qemu.h"

/*
 * What is read between these addresses, those of the machine, takes so long for each
 * line of NOR_LINE bytes that it comes to; not what the boot loader executes there.
 * False if this QEMU does not tell what is read.
 */
#define NOR_LINE 64
bool nor_model(uint64_t first, uint64_t last, int64_t ps_per_line);

/* Looks at code before it first runs; false once there is nothing more to see. */
bool nor_translated(struct plugin_tb *);

/* Whether flash lies there, as far as it is modelled. */
bool nor_covers(uint64_t address);

#endif

/* A guest's registers, as QEMU tells them to debuggers. */
#ifndef PROBE_REGISTERS_H
#define PROBE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* False if this QEMU, or this target (as QEMU calls it), tells none. */
bool registers_find(const char *target);

/* Bytes of a word of this target. */
unsigned registers_width(void);

/*
 * A CPU's register by its number for debuggers; 0 if there is none. It is true where
 * a block begins, and where the guest has left running code: in between QEMU may keep
 * it elsewhere.
 */
uint64_t registers_read(void *cpu, int n);

/* A word of this target from its bytes. */
uint64_t registers_word(const unsigned char *bytes);

#endif

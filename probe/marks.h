/* Where the boot loader, the kernel and user space begin. */
#ifndef PROBE_MARKS_H
#define PROBE_MARKS_H

#include "qemu.h"

/*
 * Looks out for the first instruction of a boot loader that firmware starts, of the
 * kernel image (which may unpack itself first), of the kernel's half of the address
 * space, and the first system call of user space.
 *
 * image: where the kernel image is entered, as text; "0": it is what runs
 * first; NULL: nobody knows. code: how it begins at each of its entries, pieces of code
 * in hex with colons between them; NULL: nobody knows. With both, code is what counts.
 * loader: how the boot loader begins, likewise; NULL: there is none, or nobody knows.
 *
 * False for a QEMU or a machine that it does not know.
 */
bool marks_watch(const struct plugin_info *, const char *image,
		 const char *code, const char *loader);

/* Looks at code before it first runs; false once there is nothing more to see. */
bool marks_translated(struct plugin_tb *);

#endif

/* Where the boot loader, the kernel and user space begin. */
#ifndef PROBE_MARKS_H
#define PROBE_MARKS_H

#include "qemu.h"

/*
 * Watches code being translated, to see the first instruction of the kernel
 * image (which may unpack itself first), of the kernel's half of the address
 * space, and the first system call of user space. Stops watching after that.
 *
 * image: where the kernel image is entered, as text; "0": it is what runs
 * first; NULL: nobody knows.
 *
 * Of a QEMU or a machine that it does not know it sees nothing.
 */
void marks_watch(plugin_id, const struct plugin_info *, const char *image);

#endif

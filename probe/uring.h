/*
 * QEMU's disk requests, taken over where it hands them to the host's kernel.
 *
 * With aio=io_uring QEMU asks liburing's four functions for a ring that it shares
 * with the kernel, puts requests there and looks for answers. These functions are
 * here, before the library's: the ring is ordinary memory, and the one who answers
 * is disk.c, at a moment of the guest's time.
 */
#ifndef PROBE_URING_H
#define PROBE_URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

/* The answer to a request. QEMU sees it when it looks next. */
void uring_answer(const struct io_uring_sqe *, int32_t result);

/* Whether QEMU has not seen all answers yet. */
bool uring_answered(void);

/* Lets QEMU act on all answers, and on what follows from them. With its big lock. */
void uring_deliver(void);

#endif

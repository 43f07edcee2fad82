#define _GNU_SOURCE
#include "uring.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "disk.h"
#include "qemu.h"

/*
 * liburing's own structures, as its header's inline functions reach into them. They
 * are its binary interface, the same since 2.0 but for the last four numbers, which
 * older ones do not look at.
 */
struct half {
	_Atomic(unsigned) *head, *tail;
	unsigned *mask, *entries, *flags, *dropped;
};
struct io_uring {
	struct half sq;
	unsigned *array;
	struct io_uring_sqe *sqes;
	unsigned sqe_head, sqe_tail;
	size_t sq_size;
	void *sq_ptr;
	unsigned sq_mask, sq_entries, sq_pad[2];

	struct half cq;
	struct io_uring_cqe *cqes;
	size_t cq_size;
	void *cq_ptr;
	unsigned cq_mask, cq_entries, cq_pad[2];

	unsigned flags;
	int fd;
	unsigned features;
	int enter_fd;
	unsigned pad[2];
};

/* What stands behind a ring that QEMU believes to share with the kernel. */
struct shared {
	struct io_uring *ring;
	_Atomic(unsigned) sq_head, sq_tail, cq_head, cq_tail;
	unsigned sq_mask, cq_mask, sq_entries, cq_entries, zero;
	struct io_uring_cqe *cqes;
};

static struct shared *only; /* QEMU's main loop has one, and others are not asked for */

static void *library(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static bool ours(const struct io_uring *ring)
{
	return only && only->ring == ring;
}

bool uring_answered(void)
{
	return only && atomic_load(&only->cq_head) != atomic_load(&only->cq_tail);
}

/* Who asks for a ring: QEMU's disks, or its main loop for itself. */
static bool for_disks(void *caller)
{
	Dl_info function;

	return dladdr(caller, &function) && function.dli_sname &&
	       strcmp(function.dli_sname, "luring_init") == 0;
}

EXPORT int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
	struct shared *s;

	if (!disk_any()) {
		int (*next)(unsigned, struct io_uring *, unsigned) = library("io_uring_queue_init");

		return next ? next(entries, ring, flags) : -ENOSYS;
	}
	/* Without one its main loop calls ppoll, and where it waits can be seen (turn.c). */
	if (!for_disks(__builtin_return_address(0)) || only)
		return -ENOSYS;
	s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	memset(ring, 0, sizeof *ring);
	ring->sqes = calloc(entries, sizeof *ring->sqes);
	s->cqes = calloc(2 * (size_t)entries, sizeof *s->cqes);
	ring->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!ring->sqes || !s->cqes || ring->fd < 0)
		return -ENOMEM;
	s->ring = ring;
	s->sq_entries = entries;
	s->cq_entries = 2 * entries;
	s->sq_mask = s->sq_entries - 1;
	s->cq_mask = s->cq_entries - 1;
	ring->sq = (struct half){&s->sq_head, &s->sq_tail, &s->sq_mask, &s->sq_entries, &s->zero,
				 &s->zero};
	ring->cq = (struct half){&s->cq_head, &s->cq_tail, &s->cq_mask, &s->cq_entries, &s->zero,
				 &s->zero};
	ring->cqes = s->cqes;
	ring->sq_mask = s->sq_mask;
	ring->sq_entries = s->sq_entries;
	ring->cq_mask = s->cq_mask;
	ring->cq_entries = s->cq_entries;
	ring->enter_fd = ring->fd;
	only = s;
	return 0;
}

EXPORT void io_uring_queue_exit(struct io_uring *ring)
{
	if (!ours(ring)) {
		void (*next)(struct io_uring *) = library("io_uring_queue_exit");

		if (next)
			next(ring);
		return;
	}
	close(ring->fd);
	free(ring->sqes);
	free(only->cqes);
	free(only);
	only = NULL;
}

EXPORT int io_uring_submit(struct io_uring *ring)
{
	unsigned n;

	if (!ours(ring)) {
		int (*next)(struct io_uring *) = library("io_uring_submit");

		return next ? next(ring) : -ENOSYS;
	}
	n = ring->sqe_tail - ring->sqe_head;
	for (; ring->sqe_head != ring->sqe_tail; ring->sqe_head++)
		disk_submit(&ring->sqes[ring->sqe_head & ring->sq_mask]);
	atomic_store(&only->sq_head, ring->sqe_tail);
	return (int)n;
}

/* What QEMU calls if it finds no answer in the ring. */
EXPORT int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe,
			      unsigned submit, unsigned wait, void *signals)
{
	uint64_t count;

	if (!ours(ring)) {
		int (*next)(struct io_uring *, struct io_uring_cqe **, unsigned, unsigned, void *) =
			library("__io_uring_get_cqe");

		return next ? next(ring, cqe, submit, wait, signals) : -ENOSYS;
	}
	*cqe = uring_answered() ? &only->cqes[atomic_load(&only->cq_head) & only->cq_mask] : NULL;
	if (*cqe)
		return 0;
	/* As of the kernel's ring: readable as long as there are answers. */
	if (read(ring->fd, &count, sizeof count) < 0 && errno != EAGAIN)
		return -errno;
	return -EAGAIN;
}

void uring_answer(const struct io_uring_sqe *request, int32_t result)
{
	unsigned tail;
	uint64_t one = 1;

	if (!only)
		return;
	tail = atomic_load(&only->cq_tail);
	only->cqes[tail & only->cq_mask] = (struct io_uring_cqe){.user_data = request->user_data,
								 .res = result};
	atomic_store(&only->cq_tail, tail + 1);
	if (write(only->ring->fd, &one, sizeof one) < 0)
		abort(); /* an eventfd takes it */
}

void uring_deliver(void)
{
	void *context = qemu.qemu_get_aio_context();

	while (uring_answered())
		qemu.aio_poll(context, true);
	while (qemu.aio_poll(context, false))
		;
}

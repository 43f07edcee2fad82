#define _GNU_SOURCE
#include "turn.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "disk.h"
#include "qemu.h"
#include "uring.h"

static int (*real_lock)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_signal)(pthread_cond_t *);
static int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

static pthread_mutex_t *big_lock;
static __thread bool learning, inside;
static atomic_bool pooled; /* work was given to QEMU's pool of threads */

/* The CPU's thread is without the big lock: it executes. Who waits in it for an interrupt has
 * the lock until he waits, or asks for it. */
static atomic_bool executes;

/* The CPU's thread does what it has put off; the main thread waits. */
static atomic_bool taken;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;

__attribute__((constructor)) static void find(void)
{
	*(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	*(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	/* glibc has two; without a version dlsym can give the older one. */
	*(void **)&real_signal = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
	if (!real_signal)
		*(void **)&real_signal = dlsym(RTLD_NEXT, "pthread_cond_signal");
	*(void **)&real_ppoll = dlsym(RTLD_NEXT, "ppoll");
}

static void leave(void)
{
	real_lock(&gate);
	atomic_store(&taken, false);
	pthread_cond_broadcast(&left);
	real_unlock(&gate);
}

/* Before its turn is over, the CPU's thread does all that was put off. */
static void take(void)
{
	inside = true;
	qemu.lock(__FILE__, __LINE__);
	if (atomic_exchange(&pooled, false))
		qemu.blk_drain_all();
	uring_deliver();
	qemu.unlock();
	inside = false;
}

static bool takes_turns;

static bool something_was_put_off(void)
{
	return atomic_load(&pooled) || qemu.aio_compute_timeout(qemu.qemu_get_aio_context()) == 0;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int failed;

	if (!real_lock)
		find();
	if (learning && !big_lock)
		big_lock = mutex;
	if (mutex == big_lock && big_lock && qemu.qemu_in_vcpu_thread())
		atomic_store(&executes, false);
	failed = real_lock(mutex);
	if (failed || mutex != big_lock || inside)
		return failed;
	while (atomic_load(&taken) && !qemu.qemu_in_vcpu_thread()) {
		real_unlock(mutex);
		real_lock(&gate);
		while (atomic_load(&taken))
			pthread_cond_wait(&left, &gate);
		real_unlock(&gate);
		real_lock(mutex);
	}
	return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int failed;

	if (!real_unlock)
		find();
	if (mutex != big_lock || !big_lock || !qemu.qemu_in_vcpu_thread())
		return real_unlock(mutex);
	if (inside || !takes_turns || !something_was_put_off()) {
		atomic_store(&executes, true);
		return real_unlock(mutex);
	}
	atomic_store(&taken, true);
	failed = real_unlock(mutex);
	take();
	leave();
	return failed;
}

/* QEMU wakes a thread of its pool so: what a disk cannot do by a request (making
 * zeroes of a range) is done there. */
EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	if (!real_signal)
		find();
	if (takes_turns && qemu.qemu_in_coroutine() && qemu.locked())
		atomic_store(&pooled, true);
	return real_signal(cond);
}

/* Who waits here with the big lock waits for a disk, and the guest waits for him. */
EXPORT int ppoll(struct pollfd *files, nfds_t n, const struct timespec *timeout,
		 const sigset_t *signals)
{
	if (!real_ppoll)
		find();
	if (disk_any() && qemu.locked && qemu.locked() && !uring_answered() &&
	    (!timeout || timeout->tv_sec || timeout->tv_nsec))
		disk_hurry();
	return real_ppoll(files, n, timeout, signals);
}

void turn_wait_for_cpu(void)
{
	while (atomic_load(&executes))
		sched_yield();
}

void turn_watch(void)
{
	if (!qemu.lock || !qemu.unlock || !qemu.locked || !qemu.qemu_in_vcpu_thread)
		return;
	qemu.unlock();
	learning = true;
	qemu.lock(__FILE__, __LINE__);
	learning = false;
}

bool turn_take(void)
{
	takes_turns = big_lock && qemu.qemu_in_coroutine && qemu.blk_drain_all &&
			qemu.aio_poll && qemu.aio_compute_timeout && qemu.qemu_get_aio_context;
	return takes_turns;
}

#define _GNU_SOURCE
#include "clock.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "qemu.h"
#include "turn.h"
#include "wait.h"

/*
 * Timers are looked at after so much time at the latest, ns. QEMU plans how many
 * instructions may run until the next timer by its own rate; where an instruction
 * takes longer than that, a timer would be late, by up to as much as it was away.
 */
#define SLICE_NS 50000

/* Larger than any QEMUTimer. */
#define TIMER_SIZE 512
#define NANOSECONDS 1      /* a timer's scale */

#define MOST_CPUS 512

/* How many pointers AccelOpsClass may have. */
#define ACCEL_OPS 64

/*
 * How fast instructions are from some moment on. Each is written once and then
 * published whole: QEMU's main loop reads the clock at any time.
 */
struct speed {
	int64_t insns;    /* executed before */
	int64_t extra_ps; /* added before to QEMU's own count */
	int64_t more_ps;  /* an instruction takes more than QEMU counts */
};
static struct speed speeds[STAGES];
static _Atomic(const struct speed *) speed;
static int64_t more_ps[STAGES];
static enum stage reached;
static atomic_int_least64_t stalled_ps;
static void *slice;
static int shift;

void *clock_cpu(void)
{
	static __thread void **cpu;

	if (!cpu)
		cpu = dlsym(RTLD_DEFAULT, "current_cpu");
	return cpu ? *cpu : NULL;
}

static int64_t extra_ps(int64_t insns)
{
	const struct speed *s = atomic_load_explicit(&speed, memory_order_acquire);

	return s->extra_ps + (insns - s->insns) * s->more_ps;
}

int64_t clock_ps(void)
{
	int64_t counted = qemu.icount_get();

	return counted * PS + extra_ps(qemu.icount_get_raw()) + atomic_load(&stalled_ps);
}

int64_t clock_idle_ps(void)
{
	/* What QEMU counts beside instructions: it puts the clock forward then. */
	return qemu.icount_get() * PS - qemu.icount_get_raw() * (PS << shift);
}

/* The CPU's time goes on by so much at once; timers may be due then. */
static void go_on(int64_t ps)
{
	void *cpu = clock_cpu();

	atomic_fetch_add(&stalled_ps, ps);
	if (cpu)
		qemu.cpu_exit(cpu);
}

bool clock_others_idle(void *cpu)
{
	for (int i = 0; i < MOST_CPUS; i++) {
		void *other = qemu.qemu_get_cpu(i);

		if (!other)
			return true;
		if (other != cpu && !qemu.cpu_thread_is_idle(other))
			return false;
	}
	return false;
}

/* Whether QEMU's main thread may put the clock forward now. */
static bool guest_is_idle(void)
{
	return !clock_cpu() && qemu.locked && qemu.locked() && qemu.qemu_get_cpu &&
	       qemu.cpu_thread_is_idle && clock_others_idle(NULL);
}

/* Instead of QEMU's icount_get. */
static int64_t modelled_ns(void)
{
	int64_t ps, left_out;

	if (guest_is_idle())
		turn_wait_for_cpu();
	ps = clock_ps();
	left_out = wait_asked(ps);

	if (left_out > 0) {
		go_on(left_out);
		ps += left_out;
	}

	/* Rounded down also below zero: the clock never goes back. */
	return ps / PS - (ps % PS < 0);
}

/* Looks at the timers soon, if they could be late. */
static void begin_slice(void *opaque)
{
	(void)opaque;
	if (more_ps[reached] > 0)
		qemu.timer_mod_ns(slice, modelled_ns() + SLICE_NS);
}

void clock_stage(enum stage next)
{
	int64_t insns;

	if (!atomic_load(&speed) || next <= reached)
		return;
	insns = qemu.icount_get_raw();
	speeds[next] = (struct speed){insns, extra_ps(insns), more_ps[next]};
	reached = next;
	atomic_store_explicit(&speed, &speeds[next], memory_order_release);
	begin_slice(NULL);
}

void clock_stall_until(int64_t ps)
{
	int64_t wait = ps - clock_ps();

	if (wait > 0)
		go_on(wait);
}

void clock_stall(int64_t ps)
{
	static int64_t unseen_ps; /* since timers were looked at */

	unseen_ps += ps;
	if (unseen_ps < SLICE_NS * PS) {
		atomic_fetch_add(&stalled_ps, ps);
		return;
	}
	unseen_ps = 0;
	go_on(ps);
}

enum stage clock_reached(void)
{
	return reached;
}

void *clock_timer(void (*expired)(void *), void *opaque)
{
	void *timer = calloc(1, TIMER_SIZE);

	if (timer)
		qemu.timer_init_full(timer, qemu.main_loop_tlg, CLOCK_VIRTUAL, NANOSECONDS, 0,
				     expired, opaque);
	return timer;
}

bool clock_take_over(int icount_shift, const int64_t ps_per_insn[STAGES])
{
	void **ops;
	int taken = 0;

	if (!qemu.icount_get || !qemu.icount_get_raw || !qemu.object_class_by_name ||
	    !qemu.cpu_exit || !qemu.timer_init_full || !qemu.timer_mod_ns ||
	    !qemu.timer_del || !qemu.main_loop_tlg)
		return false;
	shift = icount_shift;
	ops = qemu.object_class_by_name("tcg-accel-ops");
	slice = calloc(1, TIMER_SIZE);
	if (!ops || !slice)
		return false;
	for (int i = 0; i < STAGES; i++)
		more_ps[i] = ps_per_insn[i] - PS * (INT64_C(1) << shift);
	speeds[STAGE_BOOTLOADER] = (struct speed){0, 0, more_ps[STAGE_BOOTLOADER]};
	atomic_store(&speed, &speeds[STAGE_BOOTLOADER]);
	/* The clock, and the ticks that instructions like rdtsc read. */
	for (int i = 0; i < ACCEL_OPS && taken < 2; i++) {
		if (ops[i] == (void *)qemu.icount_get) {
			ops[i] = (void *)modelled_ns;
			taken++;
		}
	}
	if (taken == 0) {
		atomic_store(&speed, NULL);
		return false;
	}
	qemu.timer_init_full(slice, qemu.main_loop_tlg, CLOCK_VIRTUAL, NANOSECONDS, ATTR_EXTERNAL,
			     begin_slice, NULL);
	begin_slice(NULL);
	return true;
}

#include "limit.h"

#include <stddef.h>

#include "clock.h"
#include "qemu.h"
#include "stamps.h"

/* A guest that works at all runs a timer in so long, ns. */
#define MINUTE INT64_C(60000000000)

static void *most, *before;
static int64_t most_ns, insns_before;

static void reached(void *opaque)
{
	(void)opaque;
	stamps_mark(MARK_LIMIT);
}

static bool can_set(void)
{
	return qemu.timer_init_full && qemu.timer_mod_ns && qemu.main_loop_tlg;
}

bool limit_set(int64_t ns)
{
	void *timer = can_set() ? clock_timer(reached, NULL) : NULL;

	if (!timer)
		return false;
	qemu.timer_mod_ns(timer, ns);
	return true;
}

/* A guest that has no timer of its own sleeps, and is seen to: this one alone woke it. */
static void most_reached(void *opaque)
{
	if ((int64_t)qemu.icount_get_raw() != insns_before)
		reached(opaque);
}

static void a_minute_before(void *opaque)
{
	(void)opaque;
	insns_before = (int64_t)qemu.icount_get_raw();
	qemu.timer_mod_ns(most, most_ns);
}

bool limit_most(int64_t ns)
{
	if (!can_set() || !qemu.icount_get_raw || ns <= MINUTE)
		return false;
	most_ns = ns;
	most = clock_timer(most_reached, NULL);
	before = clock_timer(a_minute_before, NULL);
	if (!most || !before)
		return false;
	qemu.timer_mod_ns(before, ns - MINUTE);
	return true;
}

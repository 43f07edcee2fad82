#include "limit.h"

#include <stddef.h>

#include "clock.h"
#include "qemu.h"
#include "stamps.h"

static void reached(void *opaque)
{
	(void)opaque;
	stamps_mark(MARK_LIMIT);
}

bool limit_set(int64_t ns)
{
	void *timer = NULL;

	if (qemu.timer_init_full && qemu.timer_mod_ns && qemu.main_loop_tlg)
		timer = clock_timer(reached, NULL);
	if (!timer)
		return false;
	qemu.timer_mod_ns(timer, ns);
	return true;
}

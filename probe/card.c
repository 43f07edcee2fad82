#include "card.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "disk.h"
#include "qemu.h"

#define MOST_WIRES 8

/* An interrupt of what a card is plugged into. */
static struct wire {
	void *host;
	int nth;
	void *out;
	bool held; /* raised, and kept back as long as the card is busy */
} wires[MOST_WIRES];
static int n_wires;
static bool taken, missing;
static void *timer;

static void expired(void *opaque)
{
	(void)opaque;
	for (int i = 0; i < n_wires; i++) {
		if (wires[i].held)
			qemu.qemu_set_irq(wires[i].out, 1);
		wires[i].held = false;
	}
}

static void changed(void *opaque, int n, int level)
{
	struct wire *wire = &wires[n];
	int64_t free_ps = disk_cards_free_ps();

	(void)opaque;
	/* In the boot loader the CPU has waited for it. */
	wire->held = level && free_ps > clock_ps();
	if (wire->held)
		qemu.timer_mod_ns(timer, (free_ps + PS - 1) / PS);
	else
		qemu.qemu_set_irq(wire->out, level);
}

/* The device that this one is plugged into: its bus lies in it. NULL if there is none. */
static void *host_of(void *device)
{
	void *bus = qemu.qdev_get_parent_bus(device);
	char *path = bus ? qemu.object_get_canonical_path(bus) : NULL;
	char *end = path ? strrchr(path, '/') : NULL;
	void *host = NULL;

	if (end) {
		*end = '\0';
		host = qemu.object_resolve_path(path, NULL);
	}
	free(path);
	return host && qemu.object_dynamic_cast(host, "sys-bus-device") ? host : NULL;
}

static void add_wires(void *host)
{
	void *out;

	for (int i = 0; i < n_wires; i++)
		if (wires[i].host == host)
			return;
	for (int nth = 0; n_wires < MOST_WIRES; nth++) {
		out = qemu.sysbus_get_connected_irq(host, nth);
		if (!out) {
			missing |= nth == 0;
			return;
		}
		wires[n_wires++] = (struct wire){.host = host, .nth = nth, .out = out};
	}
	missing = true; /* more than fit */
}

static int see(void *object, void *opaque)
{
	void *host;

	(void)opaque;
	if (!qemu.object_dynamic_cast(object, "sd-card") &&
	    !qemu.object_dynamic_cast(object, "emmc"))
		return 0;
	host = host_of(object);
	if (host)
		add_wires(host);
	else
		missing = true;
	return 0;
}

bool card_take_over(void)
{
	if (!qemu.object_get_root || !qemu.object_child_foreach_recursive ||
	    !qemu.object_dynamic_cast || !qemu.object_get_canonical_path ||
	    !qemu.object_resolve_path || !qemu.qdev_get_parent_bus ||
	    !qemu.sysbus_get_connected_irq || !qemu.sysbus_connect_irq ||
	    !qemu.qemu_allocate_irq || !qemu.qemu_set_irq)
		return false;
	qemu.object_child_foreach_recursive(qemu.object_get_root(), see, NULL);
	timer = clock_timer(expired, NULL);
	taken = timer && n_wires > 0 && !missing;
	for (int i = 0; taken && i < n_wires; i++)
		qemu.sysbus_connect_irq(wires[i].host, wires[i].nth,
					qemu.qemu_allocate_irq(changed, NULL, i));
	return taken;
}

bool card_interrupts(void)
{
	return taken;
}

#include "device.h"

#include <stdlib.h>
#include <string.h>

/* The chardev that the lab gives to the console. */
#define CONSOLE "console"
#define MEMORY_REGION_SIZE 8192 /* larger than any MemoryRegion */
#define IN_FRONT 1              /* priority of a region that lies over another */

static int log2_of(unsigned size)
{
	return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

uint64_t device_read(struct device *device, uint64_t at, unsigned size)
{
	uint64_t value = 0;

	device->inside = true;
	qemu.memory_region_dispatch_read(device->region, at, &value, log2_of(size), 0);
	device->inside = false;
	return value;
}

void device_write(struct device *device, uint64_t at, uint64_t value, unsigned size)
{
	device->inside = true;
	qemu.memory_region_dispatch_write(device->region, at, value, log2_of(size), 0);
	device->inside = false;
}

void device_irq(struct device *device, bool level)
{
	qemu.qemu_set_irq(device->irq_out, level);
}

uint64_t device_property(void *object, const char *name)
{
	return qemu.object_property_get_uint(object, name, NULL);
}

static void their_irq(void *opaque, int n, int level)
{
	struct device *device = opaque;

	(void)n;
	device->irq_level = level;
	if (!device->inside)
		device->irq_changed();
}

struct search {
	const char *type;
	void *found;
};

static int is_console(void *object, void *opaque)
{
	struct search *search = opaque;
	char *chardev;

	if (!qemu.object_dynamic_cast(object, search->type))
		return 0;
	chardev = qemu.object_property_get_str(object, "chardev", NULL);
	if (chardev && strcmp(chardev, CONSOLE) == 0)
		search->found = object;
	free(chardev);
	return search->found != NULL;
}

void *device_take_over(struct device *device, const char *type, const struct mmio_ops *ops)
{
	struct search search = {.type = type};
	void *container, *ours;

	if (!qemu.object_get_root || !qemu.object_child_foreach_recursive ||
	    !qemu.object_dynamic_cast || !qemu.object_property_get_str ||
	    !qemu.object_property_get_uint || !qemu.object_property_get_link ||
	    !qemu.sysbus_mmio_get_region || !qemu.sysbus_get_connected_irq ||
	    !qemu.sysbus_connect_irq || !qemu.qemu_allocate_irq || !qemu.qemu_set_irq ||
	    !qemu.memory_region_init_io || !qemu.memory_region_add_subregion_overlap ||
	    !qemu.memory_region_dispatch_read || !qemu.memory_region_dispatch_write)
		return NULL;
	qemu.object_child_foreach_recursive(qemu.object_get_root(), is_console, &search);
	if (!search.found)
		return NULL;
	device->region = qemu.sysbus_mmio_get_region(search.found, 0);
	device->irq_out = qemu.sysbus_get_connected_irq(search.found, 0);
	container = device->region
			    ? qemu.object_property_get_link(device->region, "container", NULL)
			    : NULL;
	ours = calloc(1, MEMORY_REGION_SIZE);
	if (!device->irq_out || !container || !ours)
		return NULL;
	qemu.sysbus_connect_irq(search.found, 0, qemu.qemu_allocate_irq(their_irq, device, 0));
	qemu.memory_region_init_io(ours, NULL, ops, NULL, "bootlap-uart",
				   device_property(device->region, "size"));
	qemu.memory_region_add_subregion_overlap(container, device_property(device->region, "addr"),
						 ours, IN_FRONT);
	return search.found;
}

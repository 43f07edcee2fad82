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

static int is_region(void *object, void *opaque)
{
	struct search *search = opaque;

	if (qemu.object_dynamic_cast(object, search->type))
		search->found = object;
	return search->found != NULL;
}

/* A device on a bus of the chip: its registers are in memory, its interrupt is a wire. */
static bool find_on_chip(struct device *device, void *object)
{
	if (!qemu.sysbus_mmio_get_region || !qemu.sysbus_get_connected_irq ||
	    !qemu.sysbus_connect_irq || !qemu.qemu_allocate_irq)
		return false;
	device->region = qemu.sysbus_mmio_get_region(object, 0);
	device->irq_out = qemu.sysbus_get_connected_irq(object, 0);
	return device->region && device->irq_out;
}

static void take_wire(struct device *device, void *object)
{
	qemu.sysbus_connect_irq(object, 0, qemu.qemu_allocate_irq(their_irq, device, 0));
}

/* A PC's device, whose registers are at ports, and whose interrupt is one by number. */
static bool find_on_isa(struct device *device, void *object)
{
	struct search search = {.type = "memory-region"};

	if (!qemu.isa_get_irq || !qemu.qemu_irq_intercept_in)
		return false;
	qemu.object_child_foreach_recursive(object, is_region, &search);
	device->region = search.found;
	device->irq_out = qemu.isa_get_irq(object, (unsigned)device_property(object, "irq"));
	return device->region && device->irq_out;
}

/* The one on ISA: an interrupt there tells no more than its number. */
static struct device *on_isa;

/* old: where QEMU's copy of the interrupt is, which does what it did before. */
static void isa_irq(void *old, int n, int level)
{
	on_isa->irq_out = *(void **)old;
	their_irq(on_isa, n, level);
}

static void take_number(struct device *device)
{
	void *irq = device->irq_out;

	on_isa = device;
	qemu.qemu_irq_intercept_in(&irq, isa_irq, 1);
	device->inside = true;
	qemu.qemu_set_irq(irq, 0); /* that tells us the copy */
	device->inside = false;
}

bool device_cover(void *region, const struct mmio_ops *ops, void *opaque, const char *name)
{
	void *container, *ours;

	if (!qemu.object_property_get_uint || !qemu.object_property_get_link ||
	    !qemu.memory_region_init_io || !qemu.memory_region_add_subregion_overlap ||
	    !qemu.memory_region_dispatch_read || !qemu.memory_region_dispatch_write)
		return false;
	container = qemu.object_property_get_link(region, "container", NULL);
	ours = calloc(1, MEMORY_REGION_SIZE);
	if (!container || !ours)
		return false;
	qemu.memory_region_init_io(ours, NULL, ops, opaque, name, device_property(region, "size"));
	qemu.memory_region_add_subregion_overlap(container, device_property(region, "addr"), ours,
						 IN_FRONT);
	return true;
}

void *device_take_over(struct device *device, const char *type, enum device_bus bus,
		       const struct mmio_ops *ops)
{
	struct search search = {.type = type};

	if (!qemu.object_get_root || !qemu.object_child_foreach_recursive ||
	    !qemu.object_dynamic_cast || !qemu.object_property_get_str || !qemu.qemu_set_irq)
		return NULL;
	qemu.object_child_foreach_recursive(qemu.object_get_root(), is_console, &search);
	if (!search.found)
		return NULL;
	if (bus == ON_CHIP ? !find_on_chip(device, search.found)
			   : !find_on_isa(device, search.found))
		return NULL;
	if (!device_cover(device->region, ops, NULL, "bootlap-uart"))
		return NULL;
	if (bus == ON_CHIP)
		take_wire(device, search.found);
	else
		take_number(device);
	return search.found;
}

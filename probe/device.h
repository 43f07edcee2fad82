/*
 * A device of the machine, in memory or at a PC's ports, with registers of ours in
 * front of it: the guest speaks to ours, and they speak to QEMU's.
 */
#ifndef PROBE_DEVICE_H
#define PROBE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu.h"

struct device {
	void *region;           /* QEMU's registers */
	void *irq_out;          /* where its interrupt goes */
	int irq_level;          /* that of QEMU's device */
	bool inside;            /* of QEMU's device: what it does is looked at after */
	void (*irq_changed)(void);
};

/* How a device is connected. */
enum device_bus {
	ON_CHIP, /* registers in memory, interrupts by wires */
	ON_ISA,  /* registers at ports, interrupts by numbers */
};

/*
 * Once the machine is there: finds the device of this QOM type that the console
 * is connected to, and puts ops in front of its registers and of its interrupt.
 * Gives QEMU's object. NULL if there is none, or this QEMU lacks what is needed;
 * nothing is changed then.
 */
void *device_take_over(struct device *, const char *type, enum device_bus,
		       const struct mmio_ops *);

/* Puts ops in front of a region of the machine; false if this QEMU cannot. */
bool device_cover(void *region, const struct mmio_ops *, void *opaque, const char *name);

/* A number that QEMU's object has as a property. */
uint64_t device_property(void *object, const char *name);

/* What QEMU's device says and does. */
uint64_t device_read(struct device *, uint64_t at, unsigned size);
void device_write(struct device *, uint64_t at, uint64_t value, unsigned size);

/* Sets the interrupt that the guest sees. */
void device_irq(struct device *, bool level);

#endif

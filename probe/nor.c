/*
 * Each access of the boot loader is looked at, and one to a line of the flash that
 * is not among the few kept ones costs the time of a line: a copy, a hash or a
 * decompressor reads each line once, whatever the width of its loads, and a
 * second pass reads the flash again, as images are larger than caches.
 *
 * Addresses are those that the boot loader uses: it maps flash where it is, if it
 * maps anything. (QEMU 7.2 tells no physical addresses of memory.)
 *
 * To look at each access of the kernel and of programs would cost the host as much
 * again, and hardly one of them is to flash. So from the kernel on registers of ours
 * lie over the flash: slower for the host, but only where flash is read. What was in
 * a kept line costs nothing there either.
 */
#include "nor.h"

#include <stdlib.h>

#include "clock.h"
#include "device.h"
#include "facts.h"

/* Reads and writes: of QEMU 7.2 "reads" are not all of them, and nobody writes to
 * flash while he boots. */
#define ACCESSES 3

/* Lines that are still in a cache: few, so that another pass reads again. */
#define KEPT 64

static uint64_t first, last, lines;
static uint64_t kept[KEPT];
static int64_t ps_per_line;

bool nor_covers(uint64_t address)
{
	return ps_per_line && clock_reached() == STAGE_BOOTLOADER && address >= first &&
	       address <= last;
}

static void read_line(uint64_t line)
{
	if (kept[line % KEPT] == line + 1)
		return;
	kept[line % KEPT] = line + 1; /* 0: none */
	lines++;
	clock_stall(ps_per_line);
}

static void on_access(unsigned cpu, uint32_t access, uint64_t address, void *opaque)
{
	(void)cpu, (void)access, (void)opaque;
	if (nor_covers(address))
		read_line(address / NOR_LINE);
}

static void tell(void)
{
	fact("flash", "lines=%llu bytes=%d ps=%lld", (unsigned long long)lines, NOR_LINE,
	     (long long)ps_per_line);
}

/* Flash that registers of ours lie over. */
struct chip {
	struct device device;
	uint64_t start;
};

static uint64_t read_chip(void *opaque, uint64_t at, unsigned size)
{
	struct chip *chip = opaque;

	read_line((chip->start + at) / NOR_LINE);
	return device_read(&chip->device, at, size);
}

static void write_chip(void *opaque, uint64_t at, uint64_t value, unsigned size)
{
	struct chip *chip = opaque;

	/* A command, a program or an erase: what was read before may be no more. */
	for (int i = 0; i < KEPT; i++)
		kept[i] = 0;
	device_write(&chip->device, at, value, size);
}

static const struct mmio_ops ops = {
	.read = read_chip,
	.write = write_chip,
	.endianness = LITTLE_ENDIAN_DEVICE,
	.valid = {.min = 1, .max = 8},
	.impl = {.min = 1, .max = 8},
};

static int cover(void *object, void *opaque)
{
	struct chip *chip;
	uint64_t start;
	void *region;

	(void)opaque;
	if (!qemu.object_dynamic_cast(object, "cfi.pflash01"))
		return 0;
	region = qemu.sysbus_mmio_get_region(object, 0);
	start = region ? device_property(region, "addr") : 0;
	if (!region || start < first || start > last)
		return 0;
	chip = calloc(1, sizeof *chip);
	if (!chip)
		return 0;
	*chip = (struct chip){.device.region = region, .start = start};
	device_cover(region, &ops, chip, "bootlap-nor");
	return 0;
}

static void kernel_runs(void *opaque)
{
	(void)opaque;
	if (qemu.object_get_root && qemu.object_child_foreach_recursive &&
	    qemu.object_dynamic_cast && qemu.sysbus_mmio_get_region)
		qemu.object_child_foreach_recursive(qemu.object_get_root(), cover, NULL);
}

/* What is in memory can only be changed between two blocks of code. */
static void cover_soon(void)
{
	void *timer = clock_timer(kernel_runs, NULL);

	if (timer)
		qemu.timer_mod_ns(timer, clock_ps() / PS);
}

bool nor_model(uint64_t from, uint64_t to, int64_t ps)
{
	if (!qemu.qemu_plugin_register_vcpu_mem_cb || !qemu.qemu_plugin_tb_n_insns ||
	    !qemu.qemu_plugin_tb_get_insn)
		return false;
	first = from;
	last = to;
	ps_per_line = ps;
	tell();
	return true;
}

bool nor_translated(struct plugin_tb *tb)
{
	static bool told;

	if (!ps_per_line)
		return false;
	if (clock_reached() != STAGE_BOOTLOADER) {
		if (!told) {
			tell();
			cover_soon();
		}
		told = true;
		return false;
	}
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++)
		qemu.qemu_plugin_register_vcpu_mem_cb(qemu.qemu_plugin_tb_get_insn(tb, i), on_access,
						      NO_REGISTERS, ACCESSES, NULL);
	return true;
}

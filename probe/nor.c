/*
 * Each access of the boot loader is looked at, and one to a line of the flash that
 * is not among the few kept ones costs the time of a line: a copy, a hash or a
 * decompressor reads each line once, whatever the width of its loads, and a
 * second pass reads the flash again, as images are larger than caches.
 *
 * Addresses are those that the boot loader uses: it maps flash where it is, if it
 * maps anything. (QEMU 7.2 tells no physical addresses of memory.)
 *
 * What the kernel and programs do is not looked at: it would cost the host as
 * much again, and they read what the boot loader put into memory.
 */
#include "nor.h"

#include "clock.h"
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

static void on_access(unsigned cpu, uint32_t access, uint64_t address, void *opaque)
{
	uint64_t line = address / NOR_LINE;

	(void)cpu, (void)access, (void)opaque;
	if (!nor_covers(address) || kept[line % KEPT] == line + 1)
		return;
	kept[line % KEPT] = line + 1; /* 0: none */
	lines++;
	clock_stall(ps_per_line);
}

static void tell(void)
{
	fact("flash", "lines=%llu bytes=%d ps=%lld", (unsigned long long)lines, NOR_LINE,
	     (long long)ps_per_line);
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
		if (!told)
			tell();
		told = true;
		return false;
	}
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++)
		qemu.qemu_plugin_register_vcpu_mem_cb(qemu.qemu_plugin_tb_get_insn(tb, i), on_access,
						      NO_REGISTERS, ACCESSES, NULL);
	return true;
}

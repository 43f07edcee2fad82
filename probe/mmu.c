/*
 * Instructions are recognised by their code. Those that change what addresses mean
 * write the base of the page tables, throw translations away, or write the system
 * control register (SCTLR).
 *
 * Of an Arm guest the latter says whether data is cached: while both M, the MMU, and C
 * are set. Which register holds the new value stands in the instruction, the value in
 * the guest. It is asked in the block behind it, where all registers are at rest: the
 * instruction ends its block.
 *
 * Architecture Reference Manuals of Armv7-A (B4.1.130) and Armv8-A (D19.2.118), RISC-V
 * Privileged Architecture (4.1.11, 4.2.1), Intel SDM (volume 2: MOV CR, INVLPG).
 */
#include "mmu.h"

#include <string.h>

#include "clock.h"
#include "registers.h"

enum { SCTLR_M = 1 << 0, SCTLR_C = 1 << 2 };

/* Boot loader, decompressor and kernel write it at a few places each. */
#define PLACES 32
#define MOST_CPUS 64

enum writes { TRANSLATION, SCTLR };

static const struct form {
	const char *target;
	uint32_t mask, code;
	enum writes writes;
	unsigned at; /* where the number of the register stands that is written, bits */
} forms[] = {
	{"aarch64", 0xffffffe0, 0xd5181000, SCTLR, 0},       /* msr sctlr_el1, xN */
	{"aarch64", 0xffffffe0, 0xd51c1000, SCTLR, 0},       /* msr sctlr_el2, xN */
	{"aarch64", 0xffffffe0, 0xd51e1000, SCTLR, 0},       /* msr sctlr_el3, xN */
	{"aarch64", 0xfff8ff00, 0xd5182000, TRANSLATION, 0}, /* msr ttbr0 …, tcr … */
	{"aarch64", 0xfff8f000, 0xd5088000, TRANSLATION, 0}, /* tlbi … */
	{"arm", 0x0fff0fff, 0x0e010f10, SCTLR, 12},          /* mcr p15, 0, rN, c1, c0, 0 */
	{"arm", 0x0f1f0f10, 0x0e020f10, TRANSLATION, 0},     /* mcr p15, …, c2: ttbr */
	{"arm", 0x0f1f0f10, 0x0e080f10, TRANSLATION, 0},     /* mcr p15, …, c8: tlbi */
	{"arm", 0x0ff00f0f, 0x0c400f02, TRANSLATION, 0},     /* mcrr p15, …, c2: ttbr */
	/* The same in Thumb, whose halves change places. */
	{"arm", 0x0fffffff, 0x0f10ee01, SCTLR, 28},
	{"arm", 0x0f10ff1f, 0x0f10ee02, TRANSLATION, 0},
	{"arm", 0x0f10ff1f, 0x0f10ee08, TRANSLATION, 0},
	{"arm", 0x0f0ffff0, 0x0f02ec40, TRANSLATION, 0},
	{"riscv64", 0xfff0007f, 0x18000073, TRANSLATION, 0}, /* csr… satp */
	{"riscv64", 0xfe007fff, 0x12000073, TRANSLATION, 0}, /* sfence.vma */
	{"x86_64", 0x0000ffff, 0x0000220f, TRANSLATION, 0},  /* mov cr, … */
	{"x86_64", 0x0000ffff, 0x0000010f, TRANSLATION, 0},  /* invlpg and its like */
	{"x86_64", 0xffffffff, 0x82380f66, TRANSLATION, 0},  /* invpcid */
};

/* A block behind a write to SCTLR, and the register that was written. */
static struct place {
	uint64_t address;
	unsigned number;
} places[PLACES];
static unsigned known;
static const char *target;
static map_changed changed;
static bool tells_caches;
static bool off[MOST_CPUS];

bool mmu_watch(const struct plugin_info *info, map_changed call)
{
	if (!qemu.qemu_plugin_insn_vaddr || !qemu.qemu_plugin_register_vcpu_tb_exec_cb ||
	    !qemu.qemu_plugin_register_vcpu_insn_exec_cb || !qemu.qemu_plugin_tb_vaddr)
		return false;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (strcmp(info->target_name, forms[i].target) != 0)
			continue;
		target = forms[i].target;
		tells_caches |= forms[i].writes == SCTLR;
	}
	changed = call;
	tells_caches = tells_caches && registers_find(target);
	/* As they are after a reset. */
	memset(off, tells_caches, sizeof off);
	return target != NULL;
}

bool mmu_tells_caches(void)
{
	return tells_caches;
}

bool mmu_cached(unsigned cpu)
{
	return !off[cpu % MOST_CPUS];
}

static void on_change(unsigned cpu, void *opaque)
{
	(void)opaque;
	changed(cpu);
}

static void behind_write(unsigned cpu, void *number)
{
	uint64_t value = registers_read(clock_cpu(), (int)(uintptr_t)number);

	off[cpu % MOST_CPUS] = (value & (SCTLR_M | SCTLR_C)) != (SCTLR_M | SCTLR_C);
	changed(cpu);
}

static void remember(uint64_t address, unsigned number)
{
	for (unsigned i = 0; i < known && i < PLACES; i++)
		if (places[i].address == address)
			return;
	places[known++ % PLACES] = (struct place){address, number};
}

static void look(struct plugin_insn *insn)
{
	uint32_t code;
	size_t len = qemu_insn_word(insn, &code);

	for (size_t i = 0; len > 0 && i < sizeof forms / sizeof *forms; i++) {
		const struct form *form = &forms[i];

		if (form->target != target || (code & form->mask) != form->code)
			continue;
		if (form->writes == SCTLR && tells_caches)
			remember(qemu.qemu_plugin_insn_vaddr(insn) + 4,
				 code >> form->at & (form->at ? 15 : 31));
		else
			qemu.qemu_plugin_register_vcpu_insn_exec_cb(insn, on_change, NO_REGISTERS,
								    NULL);
		return;
	}
}

void mmu_translated(struct plugin_tb *tb)
{
	if (!target)
		return;
	for (unsigned i = 0; i < known && i < PLACES; i++)
		if (places[i].address == qemu.qemu_plugin_tb_vaddr(tb))
			qemu.qemu_plugin_register_vcpu_tb_exec_cb(
				tb, behind_write, NO_REGISTERS, (void *)(uintptr_t)places[i].number);
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++)
		look(qemu.qemu_plugin_tb_get_insn(tb, i));
}

#include "marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "stamps.h"

struct code {
	size_t len;
	unsigned char bytes[4];
};

static const struct arch {
	const char *name;        /* as QEMU calls it */
	uint64_t kernel_base;    /* kernel code lives at or above this address */
	uint64_t kernel_end;     /* and below this one */
	struct code syscalls[2]; /* instructions that only user space executes */
} archs[] = {
	{"aarch64", UINT64_C(0xffff) << 48, UINT64_MAX, {{4, {0x01, 0x00, 0x00, 0xd4}}}},
	{"arm", 0xc0000000, UINT64_MAX, {{4, {0x00, 0x00, 0x00, 0xef}}, {2, {0x00, 0xdf}}}},
	{"riscv64", UINT64_C(0xffff) << 48, UINT64_MAX, {{4, {0x73, 0x00, 0x00, 0x00}}}},
	{"x86_64", UINT64_C(0xffff) << 48, UINT64_MAX, {{2, {0x0f, 0x05}}, {2, {0xcd, 0x80}}}},
	/* A PC's firmware begins at the end of 32 bits. */
	{"i386", 0xc0000000, 0xff000000, {{2, {0xcd, 0x80}}, {2, {0x0f, 0x34}}}},
};

/* How a program begins at each of its entries, where it is not known where it will be. */
#define MOST_ENTRIES 4
#define MOST_CODE 32
static struct program {
	int n;
	struct {
		size_t len;
		unsigned char code[MOST_CODE];
	} entries[MOST_ENTRIES];
} kernel, loader;

static const struct arch *arch;
static uint64_t image_entry;
static bool wait_for_image;
static bool seen_kernel;

static bool is_syscall(const struct plugin_insn *insn)
{
	unsigned char code[4];
	size_t len = qemu_insn_code(insn, code, sizeof code);

	for (size_t i = 0; i < 2; i++) {
		const struct code *syscall = &arch->syscalls[i];

		if (len > 0 && len == syscall->len && memcmp(code, syscall->bytes, len) == 0)
			return true;
	}
	return false;
}

/* Whether a block begins as a program does. */
static bool is_entry(const struct program *program, struct plugin_tb *tb)
{
	unsigned char code[MOST_CODE];
	size_t len = 0;

	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n && len < sizeof code; i++) {
		size_t size = qemu_insn_code(qemu.qemu_plugin_tb_get_insn(tb, i), code + len,
					     sizeof code - len);

		if (size == 0)
			break;
		len += size;
	}
	for (int i = 0; i < program->n; i++)
		if (program->entries[i].len <= len &&
		    memcmp(program->entries[i].code, code, program->entries[i].len) == 0)
			return true;
	return false;
}

static bool is_image(struct plugin_tb *tb, uint64_t address)
{
	if (kernel.n > 0)
		return is_entry(&kernel, tb);
	return image_entry == 0 || address == image_entry;
}

static void passed(enum mark mark, enum stage next)
{
	stamps_mark(mark);
	clock_stage(next);
}

bool marks_translated(struct plugin_tb *tb)
{
	uint64_t address = qemu.qemu_plugin_tb_vaddr(tb);
	bool in_kernel;

	if (!arch)
		return false;
	in_kernel = address >= arch->kernel_base && address < arch->kernel_end;
	if (loader.n > 0 && !seen_kernel && is_entry(&loader, tb)) {
		loader.n = 0;
		stamps_mark(MARK_LOADER);
	}
	if (wait_for_image && is_image(tb, address)) {
		wait_for_image = false;
		passed(MARK_IMAGE, STAGE_KERNEL);
	}
	if (!seen_kernel) {
		if (in_kernel) {
			seen_kernel = true;
			passed(MARK_KERNEL, STAGE_KERNEL);
		}
		return true;
	}
	if (in_kernel)
		return true;
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++) {
		if (is_syscall(qemu.qemu_plugin_tb_get_insn(tb, i))) {
			passed(MARK_USER, STAGE_USERSPACE);
			arch = NULL;
			return false;
		}
	}
	return true;
}

/* Pieces of code in hex, with colons between them. */
static void read_entries(struct program *program, const char *text)
{
	while (*text && program->n < MOST_ENTRIES) {
		size_t *len = &program->entries[program->n].len;
		unsigned byte;

		while (*len < MOST_CODE && sscanf(text, "%2x", &byte) == 1) {
			program->entries[program->n].code[(*len)++] = (unsigned char)byte;
			text += 2;
		}
		if (*len > 0)
			program->n++;
		if (*text++ != ':')
			break;
	}
}

bool marks_watch(const struct plugin_info *info, const char *image, const char *code,
		 const char *first)
{
	if (!qemu.qemu_plugin_tb_vaddr || !qemu.qemu_plugin_tb_n_insns ||
	    !qemu.qemu_plugin_tb_get_insn || !qemu.qemu_plugin_insn_size ||
	    !qemu.qemu_plugin_insn_data || !info->system_emulation)
		return false;
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		if (strcmp(info->target_name, archs[i].name) == 0)
			arch = &archs[i];
	if (!arch)
		return false;
	if (image) {
		image_entry = strtoull(image, NULL, 0);
		wait_for_image = true;
	}
	if (code) {
		read_entries(&kernel, code);
		wait_for_image = kernel.n > 0;
	}
	if (first)
		read_entries(&loader, first);
	return true;
}

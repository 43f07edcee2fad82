#define _GNU_SOURCE
#include "registers.h"

#include <dlfcn.h>
#include <string.h>

#include "qemu.h"

typedef int (*read_register)(void *cpu, struct byte_array *into, int n);

static const struct target {
	const char *name, *read_register; /* as QEMU calls them */
	unsigned width;
} targets[] = {
	{"aarch64", "aarch64_cpu_gdb_read_register", 8},
	{"arm", "arm_cpu_gdb_read_register", 4},
	{"riscv64", "riscv_cpu_gdb_read_register", 8},
	{"x86_64", "x86_cpu_gdb_read_register", 8},
};

static unsigned width;
static read_register read_one;
static struct byte_array *buffer;

bool registers_find(const char *target)
{
	if (!qemu.g_byte_array_new || !qemu.g_byte_array_set_size)
		return false;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		if (strcmp(target, targets[i].name) != 0)
			continue;
		*(void **)&read_one = dlsym(RTLD_DEFAULT, targets[i].read_register);
		width = targets[i].width;
	}
	if (read_one && !buffer)
		buffer = qemu.g_byte_array_new();
	return read_one != NULL;
}

unsigned registers_width(void)
{
	return width;
}

uint64_t registers_word(const unsigned char *bytes)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < width; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

uint64_t registers_read(void *cpu, int n)
{
	qemu.g_byte_array_set_size(buffer, 0);
	read_one(cpu, buffer, n);
	return buffer->len >= width ? registers_word(buffer->bytes) : 0;
}

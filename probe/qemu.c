#define _GNU_SOURCE
#include "qemu.h"

#include <dlfcn.h>
#include <string.h>

struct qemu qemu;

void qemu_find(void)
{
	void *found;

	/* A function's address by way of bytes: ISO C has no such cast. */
#define X(result, name, arguments)               \
	found = dlsym(RTLD_DEFAULT, #name);      \
	memcpy(&qemu.name, &found, sizeof found);
	QEMU_SYMBOLS(X)
#undef X
	qemu.main_loop_tlg = dlsym(RTLD_DEFAULT, "main_loop_tlg");
}

/* Read by QEMU after loading: 7.2 wants at most 1, QEMU 10 at least 2. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_plugin_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

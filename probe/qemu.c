#define _GNU_SOURCE
#include "qemu.h"

#include <dlfcn.h>
#include <string.h>

struct qemu qemu;

/* A function's address by way of bytes: ISO C has no such cast. */
static void find(void *pointer, const char *name, const char *older)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found && older)
		found = dlsym(RTLD_DEFAULT, older);
	memcpy(pointer, &found, sizeof found);
}

void qemu_find(int api)
{
#define X(result, name, arguments) find(&qemu.name, #name, NULL);
	QEMU_SYMBOLS(X)
#undef X
	find(&qemu.lock, "bql_lock_impl", "qemu_mutex_lock_iothread_impl");
	find(&qemu.unlock, "bql_unlock", "qemu_mutex_unlock_iothread");
	find(&qemu.locked, "bql_locked", "qemu_mutex_iothread_locked");
	qemu.api = api;
	qemu.main_loop_tlg = dlsym(RTLD_DEFAULT, "main_loop_tlg");
}

size_t qemu_insn_code(const struct plugin_insn *insn, unsigned char *code, size_t room)
{
	/* With API 3 it copies, before it gives a pointer. */
	static const void *(*data_v1)(const struct plugin_insn *);
	static size_t (*data_v3)(const struct plugin_insn *, void *, size_t);
	size_t len;

	if (!qemu.qemu_plugin_insn_size || !qemu.qemu_plugin_insn_data)
		return 0;
	memcpy(&data_v1, &qemu.qemu_plugin_insn_data, sizeof data_v1);
	memcpy(&data_v3, &qemu.qemu_plugin_insn_data, sizeof data_v3);
	len = qemu.qemu_plugin_insn_size(insn);
	if (len < room)
		room = len;
	if (qemu.api >= 3)
		data_v3(insn, code, room);
	else
		memcpy(code, data_v1(insn), room);
	return len;
}

size_t qemu_insn_word(const struct plugin_insn *insn, uint32_t *word)
{
	unsigned char bytes[4] = {0};
	size_t len = qemu_insn_code(insn, bytes, sizeof bytes);

	*word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	return len;
}

/* Read by QEMU after loading: 7.2 wants at most 1, QEMU 10 at least 2. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_plugin_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

#include "processes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "directory.h"
#include "now.h"
#include "procfs.h"
#include "ready.h"
#include "text.h"

/* "pid (name) state ppid …", where the name may hold anything. */
static void note_process(uint64_t time, const char *stat)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')'), *at = close;
	uint64_t ppid, user, system, start;
	const char *pid = stat;

	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return;
	at = close + 3;
	ppid = procfs_number(&at);
	for (int skip = 5; skip <= 13; skip++) {
		/* Some may be negative. */
		if (*at)
			at++;
		while (*at && *at != ' ')
			at++;
	}
	user = procfs_number(&at);
	system = procfs_number(&at);
	for (int skip = 16; skip <= 21; skip++) {
		if (*at)
			at++;
		while (*at && *at != ' ')
			at++;
	}
	start = procfs_number(&at);
	record_begin(WIRE_PROCESS);
	record_u64(time);
	record_u32((uint32_t)procfs_number(&pid));
	record_u32((uint32_t)ppid);
	record_u64(start);
	record_u64(user);
	record_u64(system);
	record_u32((unsigned char)close[2]);
	record_bytes(open + 1, (size_t)(close - open - 1));
	record_end();
	ready_process(open + 1, (size_t)(close - open - 1),
		      start * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)));
}

static void note_directory(const char *pid)
{
	TEXT(path, 32);
	char stat[512];

	put(&path, pid);
	put(&path, "/stat");
	if (procfs_read_record(procfs(), path.bytes, stat, sizeof stat))
		note_process(now_ns(), stat);
}

void processes_scan(void)
{
	static _Alignas(8) char entries[DIRECTORY_BYTES];
	int fd = openat(procfs(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	while (fd >= 0 && (n = directory_read(fd, entries, sizeof entries)) > 0) {
		const struct entry *entry;

		for (long at = 0; at < n; at += entry->len) {
			entry = (const struct entry *)(entries + at);
			if (entry->name[0] >= '1' && entry->name[0] <= '9')
				note_directory(entry->name);
		}
	}
	if (fd >= 0)
		close(fd);
}

void processes_exec(uint64_t time, uint32_t pid)
{
	TEXT(path, 32);
	char arguments[256];
	size_t len;

	put_number(&path, pid);
	put(&path, "/cmdline");
	len = procfs_read_record(procfs(), path.bytes, arguments, sizeof arguments);
	record_begin(WIRE_EXEC);
	record_u64(time);
	record_u32(pid);
	record_bytes(arguments, len);
	record_end();
	ready_arguments(arguments, len);
}

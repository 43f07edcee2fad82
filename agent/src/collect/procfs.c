#include "procfs.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "directory.h"
#include "mounted.h"
#include "now.h"
#include "ready.h"
#include "text.h"

static int proc = -1;

int procfs_open(void)
{
	/* musl's open asks for O_CLOEXEC a second time. */
	proc = openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return proc < 0 || faccessat(proc, "stat", R_OK, 0) ? -1 : 0;
}

int procfs_open_alone(void)
{
	if (!procfs_open())
		return 0;
	proc = mounted_nowhere("proc", "/proc");
	return proc < 0 ? -1 : 0;
}

int procfs(void)
{
	return proc;
}

/* Until there is no more, or at most so often. */
static size_t read_file(int dir, const char *path, char *bytes, size_t room, int reads)
{
	size_t len = 0;
	ssize_t n;
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

	bytes[0] = 0;
	if (fd < 0)
		return 0;
	while (reads-- && len < room - 1 && (n = read(fd, bytes + len, room - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	bytes[len] = 0;
	return len;
}

size_t procfs_read(int dir, const char *path, char *bytes, size_t room)
{
	return read_file(dir, path, bytes, room, INT_MAX);
}

size_t procfs_read_record(int dir, const char *path, char *bytes, size_t room)
{
	return read_file(dir, path, bytes, room, 1);
}

uint64_t procfs_number(const char **at)
{
	uint64_t number = 0;

	while (**at == ' ')
		++*at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

const char *procfs_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text && strncmp(text, key, len)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + len : NULL;
}

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
	if (procfs_read_record(proc, path.bytes, stat, sizeof stat))
		note_process(now_ns(), stat);
}

void procfs_scan(void)
{
	static _Alignas(8) char entries[DIRECTORY_BYTES];
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

void procfs_exec(uint64_t time, uint32_t pid)
{
	TEXT(path, 32);
	char arguments[256];
	size_t len;

	put_number(&path, pid);
	put(&path, "/cmdline");
	len = procfs_read_record(proc, path.bytes, arguments, sizeof arguments);
	record_begin(WIRE_EXEC);
	record_u64(time);
	record_u32(pid);
	record_bytes(arguments, len);
	record_end();
	ready_arguments(arguments, len);
}

#include "procfs.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "mounted.h"
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

int procfs_write(int dir, const char *path, const char *value)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC), failed;

	if (fd < 0)
		return -1;
	failed = write_all(fd, value, strlen(value));
	close(fd);
	return failed;
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

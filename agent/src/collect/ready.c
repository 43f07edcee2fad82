#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"
#include "text.h"

/* Lines of the kernel's log that are looked at each time, so that a flood of them
 * holds nothing up. */
#define LINES 256

static const struct options *options;
static const char *why;
static int kernel_log = -1;

void ready_open(const struct options *asked)
{
	options = asked;
	why = NULL;
	if (options->until_line)
		kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static void look_at_log(void)
{
	char line[1024];

	for (int i = 0; i < LINES && !why; i++) {
		/* One record each time; an error where some were overwritten. */
		ssize_t n = read(kernel_log, line, sizeof line - 1);

		if (n <= 0)
			return;
		line[n] = 0;
		if (strstr(line, options->until_line))
			why = "line";
	}
}

static int is_at(int folder, const char *root, const char *before, const char *path)
{
	TEXT(seen, 1024);

	put(&seen, root);
	put(&seen, before);
	put(&seen, path);
	return !faccessat(folder, seen.bytes, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Whether init sees that path: it may have another root by now. A container may hide
 * that, and a path without a slash in front is this program's. */
static int is_there(const char *before, const char *path)
{
	if (procfs() >= 0 && (*path == '/' || *before)) {
		if (is_at(procfs(), "1/root", before, path))
			return 1;
		if (errno != EACCES)
			return 0;
	}
	return is_at(AT_FDCWD, "", before, path);
}

void ready_look(void)
{
	if (options->until_file && is_there("", options->until_file))
		why = "file";
	/* A link that leads nowhere. */
	if (options->until_unit && is_there("/run/systemd/units/invocation:", options->until_unit))
		why = "unit";
	if (kernel_log >= 0)
		look_at_log();
}

void ready_mark(const char *name)
{
	if (options->until_mark && !strcmp(name, options->until_mark))
		why = "mark";
}

void ready_name(const char *name, size_t len)
{
	const char *wanted = options->until_process;

	/* The kernel keeps 15 bytes of a name. */
	if (wanted && len && !strncmp(wanted, name, len) && (len == 15 || !wanted[len]))
		why = "process";
}

/* Whether that is `wanted`, as a path or as the last part of one. */
static int is_program(const char *path, const char *wanted)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(path, wanted) || (slash && !strcmp(slash + 1, wanted));
}

void ready_arguments(const char *arguments, size_t len)
{
	/* A script is its interpreter's argument. */
	for (int i = 0; i < 2 && len && options->until_process; i++) {
		size_t one = strnlen(arguments, len);

		if (one == len)
			return;
		if (is_program(arguments, options->until_process))
			why = "process";
		arguments += one + 1;
		len -= one + 1;
	}
}

const char *ready_why(void)
{
	return why;
}

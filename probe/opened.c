/*
 * Which files of the host QEMU looks for: firmware, device trees, whatever its arguments
 * name. A boot depends on what is in them, so a boot that is kept is kept with this list.
 *
 * What QEMU calls is here, before the C library's: each path is written down, as it was
 * given, with whether it was there. Libraries are not in it: the lab reads the maps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu.h"

/* Where the list goes: the number of a file that is open. */
#define OPENED "BOOTLAP_OPENED"

/* Writes down one path: `+` or `-`, the path, and a zero. */
static void note(const char *path, bool there)
{
	static int to = -2;
	char text[4098];
	size_t n = strlen(path);
	int error = errno;

	if (to == -2) {
		const char *fd = getenv(OPENED);

		to = fd ? atoi(fd) : -1;
	}
	if (to >= 0 && (there || error == ENOENT) && n < sizeof text - 2) {
		text[0] = there ? '+' : '-';
		memcpy(text + 1, path, n + 1);
		/* One write: threads do not mix. A list that is cut is no list: empty, as
		 * none ever is, it tells the lab so. */
		if (write(to, text, n + 2) != (ssize_t)(n + 2)) {
			(void)!ftruncate(to, 0);
			to = -1;
		}
	}
	errno = error;
}

static mode_t mode_of(int flags, va_list more)
{
	return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(more, int) : 0;
}

#define NEXT(name) (*(void **)&next = next ? (void *)next : dlsym(RTLD_NEXT, name))

#define OPEN(name)                                                             \
	EXPORT int name(const char *path, int flags, ...)                      \
	{                                                                      \
		static int (*next)(const char *, int, ...);                    \
		va_list more;                                                  \
		va_start(more, flags);                                         \
		mode_t mode = mode_of(flags, more);                            \
		va_end(more);                                                  \
		NEXT(#name);                                                   \
		int fd = next(path, flags, mode);                              \
		note(path, fd >= 0);                                           \
		return fd;                                                     \
	}

#define OPEN_CHECKED(name)                                                     \
	EXPORT int name(const char *path, int flags)                           \
	{                                                                      \
		static int (*next)(const char *, int);                         \
		NEXT(#name);                                                   \
		int fd = next(path, flags);                                    \
		note(path, fd >= 0);                                           \
		return fd;                                                     \
	}

#define FOPEN(name)                                                            \
	EXPORT FILE *name(const char *path, const char *how)                   \
	{                                                                      \
		static FILE *(*next)(const char *, const char *);              \
		NEXT(#name);                                                   \
		FILE *file = next(path, how);                                  \
		note(path, file != NULL);                                      \
		return file;                                                   \
	}

#undef open
#undef open64
#undef fopen
#undef fopen64
OPEN(open)
OPEN(open64)
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)
FOPEN(fopen)
FOPEN(fopen64)

/* How QEMU looks for a file in several folders. */
EXPORT int access(const char *path, int how)
{
	static int (*next)(const char *, int);

	NEXT("access");
	int result = next(path, how);

	note(path, result == 0);
	return result;
}

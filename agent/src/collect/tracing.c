#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mounted.h"
#include "text.h"

/* An instance is a buffer of its own: what others trace stays as it is. */
static const char INSTANCE[] = "instances/bootlap-collect";

static int tracefs = -1, instance = -1;

static int set(const char *file, const char *value)
{
	int fd = openat(instance, file, O_WRONLY | O_CLOEXEC), failed;

	if (fd < 0)
		return -1;
	failed = write_all(fd, value, strlen(value));
	close(fd);
	return failed;
}

static int open_tracefs(const char *place)
{
	int fd = open("/sys/kernel/tracing", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !faccessat(fd, "instances", F_OK, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	return mounted_nowhere("tracefs", place);
}

/* One of the list, cut off at the comma; gives what is behind it, or NULL. */
static const char *next_event(const char *events, struct text *event)
{
	size_t len = strcspn(events, ",");

	put_bytes(event, events, len);
	if (!memchr(events, ':', len))
		put(event, ":*");
	return events[len] ? events + len + 1 : NULL;
}

int tracing_start(const char *events, size_t kib, const char *place)
{
	TEXT(size, 24);
	int known = 0;

	tracefs = open_tracefs(place);
	/* One that was left over is begun anew. */
	if (tracefs >= 0 && !unlinkat(tracefs, INSTANCE, AT_REMOVEDIR))
		errno = 0;
	if (tracefs < 0 || mkdirat(tracefs, INSTANCE, 0700)) {
		complain(errno, "cannot trace (CONFIG_TRACING)", NULL);
		return -1;
	}
	instance = openat(tracefs, INSTANCE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_number(&size, kib);
	set("buffer_size_kb", size.bytes);
	/* What came first is worth more than what came last. */
	set("options/overwrite", "0");
	while (events) {
		TEXT(event, 96);

		events = next_event(events, &event);
		if (set("set_event", event.bytes))
			complain(errno, "cannot trace ", event.bytes,
				 "; see /sys/kernel/tracing/available_events", NULL);
		else
			known = 1;
	}
	if (known)
		return 0;
	close(instance);
	instance = -1;
	unlinkat(tracefs, INSTANCE, AT_REMOVEDIR);
	return -1;
}

static int copy(int from, int to)
{
	static char bytes[16384];
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		if (write_all(to, bytes, (size_t)n))
			return -1;
	return n < 0 ? -1 : 0;
}

void tracing_send(const char *archive)
{
	TEXT(path, 1024);
	int from, to;

	if (instance < 0)
		return;
	set("tracing_on", "0");
	put(&path, archive);
	put(&path, ".trace");
	from = openat(instance, "trace", O_RDONLY | O_CLOEXEC);
	to = open(path.bytes, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (from < 0 || to < 0 || copy(from, to))
		complain(errno, "cannot write ", path.bytes, NULL);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	close(instance);
	instance = -1;
	unlinkat(tracefs, INSTANCE, AT_REMOVEDIR);
}

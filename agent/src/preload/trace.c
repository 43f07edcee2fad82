/* The raw pages of the buffer are read, not the text that the kernel makes of them:
 * that costs it several times the work, and on 32-bit machines its offsets end at
 * 4 GiB, which is not enough for a disk. */

#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/mounted.h"
#include "collect/procfs.h"
#include "text.h"

#define EVENT "events/filemap/mm_filemap_add_to_page_cache/"
#define CPUS 1024

/* In the commit field of a page. */
#define MISSED (1u << 31)
#define MISSED_COUNTED (1u << 30)
#define COMMIT ((1u << 27) - 1)

/* Kinds of entries of a page. */
enum { LONG_EVENT = 0, PADDING = 29, TIME_EXTEND = 30, TIME_STAMP = 31 };

/* The folder of tracefs's instances; it is mounted if need be, and stays so, or nowhere
 * if /sys is not there yet. -1 and errno. */
static int open_tracefs(void)
{
	static const char PLACE[] = "/sys/kernel/tracing";
	static int own = -1;
	int fd = open("/sys/kernel/debug/tracing/instances", O_RDONLY | O_CLOEXEC);

	if (fd < 0 && access("/sys/kernel/tracing/instances", F_OK))
		mount("tracefs", PLACE, "tracefs", 0, NULL);
	if (fd < 0)
		fd = open("/sys/kernel/tracing/instances", O_RDONLY | O_CLOEXEC);
	if (fd < 0 && own < 0 && access(PLACE, F_OK))
		own = mounted_nowhere("tracefs", "/sys");
	return fd < 0 && own >= 0 ? openat(own, "instances", O_RDONLY | O_CLOEXEC) : fd;
}

/* The instance's name among those of others. */
#define INSTANCE(text, name)     \
	TEXT(text, 96);          \
	put(&text, "bootlap-"); \
	put(&text, name)

static int open_instance(const char *name)
{
	int all = open_tracefs(), fd;

	INSTANCE(instance, name);
	fd = openat(all, instance.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(all);
	return fd;
}

static int set(int instance, const char *file, const char *value)
{
	int fd = openat(instance, file, O_WRONLY | O_CLOEXEC), failed;

	if (fd < 0)
		return -1;
	failed = write_all(fd, value, strlen(value));
	close(fd);
	return failed;
}

static void close_kept(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

int trace_hold(const char *name)
{
	int fd = open_instance(name);

	if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	errno = EBUSY;
	return -1;
}

int trace_start(const char *name, unsigned kib)
{
	int all = open_tracefs(), fd, failed;

	TEXT(size, 16);
	INSTANCE(instance, name);
	if (all < 0)
		return -1;
	put_number(&size, kib);
	/* One that was left over is begun anew. */
	fd = trace_hold(name);
	failed = fd < 0 && errno == EBUSY ? -1 : 0;
	if (fd >= 0)
		close(fd);
	if (!failed) {
		unlinkat(all, instance.bytes, AT_REMOVEDIR);
		failed = mkdirat(all, instance.bytes, 0700);
	}
	close_kept(all);
	if (failed)
		return -1;
	fd = open_instance(name);
	set(fd, "buffer_size_kb", size.bytes);
	set(fd, "trace_clock", "mono");
	/* What came first is worth more than what came last. */
	set(fd, "options/overwrite", "0");
	failed = set(fd, EVENT "enable", "1");
	close(fd);
	if (failed)
		trace_remove(name);
	return failed;
}

void trace_stop(const char *name)
{
	int fd = open_instance(name);

	set(fd, EVENT "enable", "0");
	close(fd);
}

void trace_remove(const char *name)
{
	int all = open_tracefs();

	INSTANCE(instance, name);
	unlinkat(all, instance.bytes, AT_REMOVEDIR);
	close(all);
}

static uint64_t number_at(const unsigned char *at, unsigned size)
{
	uint64_t n64 = 0;
	uint32_t n32;
	uint16_t n16;

	switch (size) {
	case 8:
		memcpy(&n64, at, sizeof n64);
		return n64;
	case 4:
		memcpy(&n32, at, sizeof n32);
		return n32;
	case 2:
		memcpy(&n16, at, sizeof n16);
		return n16;
	case 1:
		return *at;
	default:
		return 0;
	}
}

/* `field:u64 i_ino;	offset:16;	size:8;	signed:0;` */
static struct trace_number field(const char *format, const char *name)
{
	const char *at = strstr(format, name), *number;
	struct trace_number found = { 0, 0 };

	if (!at)
		return found;
	number = strstr(at, "offset:");
	if (number) {
		number += strlen("offset:");
		found.at = (unsigned)procfs_number(&number);
		number = strstr(number, "size:");
	}
	if (number) {
		number += strlen("size:");
		found.size = (unsigned)procfs_number(&number);
	}
	if (found.at > 4096 || found.size > 65536)
		found.size = 0;
	return found;
}

int trace_format(struct trace_format *format, const char *page, const char *event)
{
	const char *id = procfs_line(event, "ID: ");

	format->commit = field(page, " commit;");
	format->data = field(page, " data;");
	format->id = id ? (unsigned)procfs_number(&id) : 0;
	format->type = field(event, " common_type;");
	format->ino = field(event, " i_ino;");
	format->index = field(event, " index;");
	format->dev = field(event, " s_dev;");
	format->order = field(event, " order;");
	return format->data.at && format->commit.size && format->type.size && format->id &&
			       format->ino.size && format->index.size && format->dev.size ?
		       0 :
		       -1;
}

static uint64_t value(struct trace_number number, const unsigned char *event, size_t len)
{
	if (number.at > len || number.size > len - number.at)
		return 0;
	return number_at(event + number.at, number.size);
}

static void take_event(const struct trace_format *format, uint64_t time,
		       const unsigned char *event, size_t len, struct touched *touched)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), index, order;

	if (value(format->type, event, len) != format->id)
		return;
	index = value(format->index, event, len);
	order = value(format->order, event, len);
	if (index >= UINT64_MAX >> 24 || order > 20)
		return;
	touched_add(touched,
		    touched_file(touched, value(format->dev, event, len),
				 value(format->ino, event, len)),
		    index * page, (index + (1ull << order)) * page, time / 1000);
}

void trace_page(const struct trace_format *format, const unsigned char *page, size_t len,
		struct touched *touched)
{
	uint64_t time = value((struct trace_number){ 0, 8 }, page, len);
	uint32_t commit = (uint32_t)value(format->commit, page, len);
	size_t at = format->data.at, end = at + (commit & COMMIT);

	if (end > len)
		return;
	if (commit & MISSED) {
		struct trace_number lost = { (unsigned)end, format->commit.size };
		uint64_t count = commit & MISSED_COUNTED ? value(lost, page, len) : 1;

		touched->lost += (uint32_t)count;
	}
	while (end - at >= 4) {
		uint32_t head = (uint32_t)number_at(page + at, 4), delta, kind;
		uint64_t length;
		size_t first;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		kind = head >> 27;
		delta = head & ((1u << 27) - 1);
#else
		kind = head & 31;
		delta = head >> 5;
#endif
		at += 4;
		if (kind == PADDING && !delta)
			return;
		if (kind > 0 && kind < PADDING) {
			length = 4 * kind;
			first = at;
		} else {
			if (end - at < 4)
				return;
			length = number_at(page + at, 4);
			first = at + 4;
		}
		if (kind == TIME_EXTEND || kind == TIME_STAMP) {
			time = (kind == TIME_EXTEND ? time : 0) + (length << 27) + delta;
			at += 4;
			continue;
		}
		/* The length counts itself. */
		if (length < 4 || length > end - at)
			return;
		time += delta;
		if (kind != PADDING)
			take_event(format, time, page + first, at + (size_t)length - first,
				   touched);
		at += (size_t)length;
	}
}

static int read_format(struct trace_format *format, int instance)
{
	static char page[1024], event[4096];
	int all = open_tracefs();

	/* An instance has no header_page; it is that of all. */
	procfs_read(all, "../events/header_page", page, sizeof page);
	close(all);
	procfs_read(instance, EVENT "format", event, sizeof event);
	return trace_format(format, page, event);
}

/* What did not fit into the buffer of a CPU. */
static uint32_t dropped(int instance, const char *file)
{
	char stats[1024];
	const char *line;

	procfs_read(instance, file, stats, sizeof stats);
	line = procfs_line(stats, "dropped events: ");
	return line ? (uint32_t)procfs_number(&line) : 0;
}

int trace_take(const char *name, struct touched *touched)
{
	static unsigned char page[64 << 10];
	struct trace_format format;
	uint32_t lost = 0;
	int instance = open_instance(name);

	if (instance < 0)
		return -1;
	if (read_format(&format, instance)) {
		close(instance);
		return -1;
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		TEXT(file, 48);
		ssize_t n;
		size_t len;
		int fd;

		put(&file, "per_cpu/cpu");
		put_number(&file, cpu);
		len = file.len;
		put(&file, "/trace_pipe_raw");
		fd = openat(instance, file.bytes, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			break;
		while ((n = read(fd, page, sizeof page)) > 0)
			trace_page(&format, page, (size_t)n, touched);
		close(fd);
		file.len = len;
		put(&file, "/stats");
		lost += dropped(instance, file.bytes);
	}
	close(instance);
	return (int)(lost > INT32_MAX ? INT32_MAX : lost);
}

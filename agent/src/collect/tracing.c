#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mounted.h"
#include "procfs.h"
#include "reads.h"
#include "text.h"

/* An instance is a buffer of its own: what others trace stays as it is. To make one costs up
 * to 40 M instructions before Linux 6.6, which has a file for each event at once: as long as
 * nobody has traced anything, the kernel's own buffer is taken instead. */
static const char INSTANCE[] = "instances/bootlap-collect";
/* How large that is then without being asked for. */
static const char UNUSED[] = "(expanded: ";
/* What the kernel traces itself, and behind a colon the instance that it does that in. */
static const char KERNEL[] = "kernel";
/* The calls by which files are opened and read: many, and the first of them count. Room for some
 * 200000 events of each CPU; a kernel that clears what it allocates takes 1.2 M instructions for each
 * MB of it. */
static const char READS[] = "reads";
#define READS_BUFFERS 4

static int tracefs = -1, instance = -1, reads;
/* The instance is the kernel's own buffer, which had this size. */
static char own_kib[24];
/* What was asked for, with its KERNELs. */
static const char *asked;

static int open_folder(int in, const char *path)
{
	return openat(in, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_tracefs(const char *place)
{
	int fd = open_folder(AT_FDCWD, "/sys/kernel/tracing");

	if (fd >= 0 && !faccessat(fd, "instances", F_OK, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	return mounted_nowhere("tracefs", place);
}

/* One of the list, cut off at the comma; gives what is behind it, or NULL. */
static const char *next_of(const char *list, struct text *one)
{
	size_t len = strcspn(list, ",");

	put_bytes(one, list, len);
	return list[len] ? list + len + 1 : NULL;
}

/* The name of what the kernel traces itself, if that is meant. */
static const char *kernels(const char *one)
{
	size_t len = sizeof KERNEL - 1;

	if (strncmp(one, KERNEL, len) || strchr(one, '/'))
		return NULL;
	if (one[len] == ':' && one[len + 1])
		return one + len + 1;
	return one[len] ? NULL : one;
}

static const char *reads_of(const char *one)
{
	return strcmp(one, READS) ? NULL : one;
}

/* Whether one of the list is such a one. */
static int has(const char *list, const char *(*is)(const char *))
{
	while (list) {
		TEXT(one, 96);
		list = next_of(list, &one);
		if (is(one.bytes))
			return 1;
	}
	return 0;
}

/* Whether nobody has used the kernel's own buffer yet; then `own_kib` is how large it is. */
static int is_unused(void)
{
	struct text kib = text_in(own_kib, sizeof own_kib);
	char size[64];
	const char *at;

	procfs_read(tracefs, "buffer_size_kb", size, sizeof size);
	at = strstr(size, UNUSED);
	if (!at)
		return 0;
	at += sizeof UNUSED - 1;
	put_bytes(&kib, at, strcspn(at, ")"));
	return 1;
}

/* A 16th of the memory, for all CPUs together: a boot must not run out of it for this. */
static size_t most_kib(void)
{
	size_t page_kib = (size_t)sysconf(_SC_PAGESIZE) >> 10;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);

	return (size_t)sysconf(_SC_PHYS_PAGES) * page_kib / 16 / (cpus ? cpus : 1);
}

static int make_instance(size_t kib)
{
	/* One that was left over is begun anew. */
	unlinkat(tracefs, INSTANCE, AT_REMOVEDIR);
	if (!has(asked, kernels) && is_unused())
		instance = open_folder(tracefs, ".");
	else if (!mkdirat(tracefs, INSTANCE, 0700))
		instance = open_folder(tracefs, INSTANCE);
	if (instance < 0)
		return -1;
	if (kib > most_kib())
		kib = most_kib();
	/* All of it is taken at once: where there is not so much, half of it may be there. */
	do {
		TEXT(size, 24);
		put_number(&size, kib);
		if (!procfs_write(instance, "buffer_size_kb", size.bytes))
			break;
	} while (kib /= 2);
	/* The archive's own. */
	procfs_write(instance, "trace_clock", "mono");
	/* What came first is worth more than what came last. */
	return procfs_write(instance, "options/overwrite", "0");
}

/* It is as it was, but for its size, which it keeps from the first use on. */
static void leave_own_buffer(void)
{
	procfs_write(instance, "events/enable", "0");
	procfs_write(instance, "current_tracer", "nop");
	close(openat(instance, "trace", O_WRONLY | O_TRUNC | O_CLOEXEC));
	procfs_write(instance, "buffer_size_kb", own_kib);
	procfs_write(instance, "trace_clock", "local");
	procfs_write(instance, "options/overwrite", "1");
	procfs_write(instance, "tracing_on", "1");
	*own_kib = 0;
}

static void remove_instance(void)
{
	int own = *own_kib != 0;

	if (own)
		leave_own_buffer();
	close(instance);
	instance = -1;
	if (!own)
		unlinkat(tracefs, INSTANCE, AT_REMOVEDIR);
	if (reads)
		reads_stop(tracefs, own);
	reads = 0;
}

static int start_reads(void)
{
	reads = 1;
	if (!reads_start(tracefs, instance))
		return 0;
	complain(errno, "this kernel does not tell of its calls (CONFIG_FTRACE_SYSCALLS): trace=",
		 READS, NULL);
	return -1;
}

/* Where that is; -1 and errno. */
static int open_kernels(const char *name)
{
	TEXT(path, 128);

	put(&path, "instances/");
	put(&path, name);
	return open_folder(tracefs, strcmp(name, KERNEL) ? path.bytes : ".");
}

static int is_tracer(const char *name)
{
	char names[256];
	char *rest = names, *word;

	if (!procfs_read(tracefs, "available_tracers", names, sizeof names))
		return 0;
	while ((word = strsep(&rest, " \n")))
		if (!strcmp(word, name))
			return 1;
	return 0;
}

/* Whether there is what the kernel traces under that name. */
static int look_at(const char *name)
{
	int fd = open_kernels(name);

	if (fd >= 0)
		return close(fd);
	complain(errno, "the kernel traces nothing in ", name,
		 "; see /sys/kernel/tracing/instances", NULL);
	return -1;
}

/* Has events or a tracer's calls noted in the instance; -1 after a complaint. */
static int start_one(struct text *one, size_t kib)
{
	if (instance < 0 && make_instance(kib)) {
		complain(errno, "cannot trace ", one->bytes, NULL);
		return -1;
	}
	if (reads_of(one->bytes))
		return start_reads();
	if (is_tracer(one->bytes)) {
		if (!procfs_write(instance, "current_tracer", one->bytes))
			return 0;
		/* Some are there only once, and an instance is refused them. */
		complain(0, "this kernel has ", one->bytes,
			 " only for its own buffer; boot with ftrace=", one->bytes,
			 " and trace `kernel`", NULL);
		return -1;
	}
	if (!strchr(one->bytes, ':'))
		put(one, ":*");
	if (!procfs_write(instance, "set_event", one->bytes))
		return 0;
	complain(errno, "cannot trace ", one->bytes,
		 "; see /sys/kernel/tracing/available_events", NULL);
	return -1;
}

/* After many a setting the kernel waits until nobody uses what was before, some 50 ms of a boot
 * in all. It can be told to make that short (CONFIG_TREE_RCU); `was` is what it was told so far. */
static const char EXPEDITED[] = "kernel/rcu_expedited";

static int hurry(const char *place, char was[8])
{
	int sysfs = mounted_nowhere("sysfs", place);

	if (sysfs >= 0 && procfs_read(sysfs, EXPEDITED, was, 8) &&
	    !procfs_write(sysfs, EXPEDITED, "1"))
		return sysfs;
	if (sysfs >= 0)
		close(sysfs);
	return -1;
}

static void hurry_no_more(int sysfs, const char *was)
{
	if (sysfs < 0)
		return;
	procfs_write(sysfs, EXPEDITED, was);
	close(sysfs);
}

int tracing_start(const char *events, size_t kib, const char *place)
{
	int own = 0, kernel = 0, sysfs;
	char was[8];

	tracefs = open_tracefs(place);
	if (tracefs < 0) {
		complain(errno, "cannot trace (CONFIG_TRACING)", NULL);
		return -1;
	}
	asked = events;
	if (has(events, reads_of))
		kib *= READS_BUFFERS;
	sysfs = hurry(place, was);
	while (events) {
		TEXT(one, 96);
		events = next_of(events, &one);
		const char *name = kernels(one.bytes);

		if (name)
			kernel += !look_at(name);
		else
			own += !start_one(&one, kib);
	}
	if (!own && instance >= 0)
		remove_instance();
	hurry_no_more(sysfs, was);
	return own + kernel ? 0 : -1;
}

/* What each line begins with, on the console; NULL in a file. */
static const char *front;

static int write_line(int to, const char *line, size_t len)
{
	if (front && write_all(to, front, strlen(front)))
		return -1;
	return write_all(to, line, len);
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

/* Each line by itself, without the blanks in front: what breaks into one costs only that. */
static int copy_lines(int from, int to)
{
	static char bytes[16384];
	size_t have = 0;
	ssize_t n;

	while ((n = read(from, bytes + have, sizeof bytes - have)) > 0) {
		char *line = bytes, *end;

		have += (size_t)n;
		while ((end = memchr(line, '\n', (size_t)(bytes + have - line)))) {
			line += strspn(line, " ");
			if (write_line(to, line, (size_t)(end + 1 - line)))
				return -1;
			line = end + 1;
		}
		have = (size_t)(bytes + have - line);
		/* No line is so long; what is left goes in front of the next bytes. */
		if (have == sizeof bytes)
			have = 0;
		memmove(bytes, line, have);
	}
	return n < 0 ? -1 : 0;
}

static uint64_t number_behind(const char *text, const char *key)
{
	const char *line = procfs_line(text, key);

	return line ? procfs_number(&line) : 0;
}

/* The kernel's text does not say which clock its times are of, of those that it lists
 * as "[local] global mono". */
static int tell_clock(int folder, int to)
{
	char clocks[256];
	const char *clock;

	TEXT(line, 64);
	procfs_read(folder, "trace_clock", clocks, sizeof clocks);
	clock = strchr(clocks, '[');
	if (!clock)
		return 0;
	put(&line, "# clock: ");
	put_bytes(&line, clock + 1, strcspn(clock + 1, "]"));
	put(&line, "\n");
	if (write_line(to, line.bytes, line.len))
		return -1;
	/* So that bootlap makes of it what was asked for. */
	return reads && folder == instance ? write_line(to, "# reads\n", 8) : 0;
}

/* Nor all that was lost, so that is said behind it, as trace-cmd does. */
static int tell_lost(int folder, int to)
{
	char stats[512];

	for (uint64_t cpu = 0;; cpu++) {
		uint64_t lost;

		TEXT(line, 64);
		put(&line, "per_cpu/cpu");
		put_number(&line, cpu);
		put(&line, "/stats");
		if (!procfs_read(folder, line.bytes, stats, sizeof stats))
			return 0;
		lost = number_behind(stats, "overrun: ") + number_behind(stats, "dropped events: ");
		if (!lost)
			continue;
		line.len = 0;
		put(&line, "CPU:");
		put_number(&line, cpu);
		put(&line, " [");
		put_number(&line, lost);
		put(&line, " EVENTS DROPPED]\n");
		if (write_line(to, line.bytes, line.len))
			return -1;
	}
}

/* Without these a reader's own calls would be traced while it reads, and calls of
 * functions would have no time and no process. */
static const char *const FOR_READING[] = { "options/pause-on-trace", "options/funcgraph-abstime",
					   "options/funcgraph-proc", "options/funcgraph-tail" };
#define READING (sizeof FOR_READING / sizeof *FOR_READING)

static int write_trace(int folder, int to)
{
	int from = openat(folder, "trace", O_RDONLY | O_CLOEXEC), failed;

	if (from < 0)
		return -1;
	/* On the console something may stand on the line already. */
	failed = (front && write_all(to, "\n", 1)) || tell_clock(folder, to) ||
		 (front ? copy_lines(from, to) : copy(from, to)) || tell_lost(folder, to);
	close(from);
	return failed;
}

static void write_to(int folder, const char *path, int flags)
{
	int to = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);

	if (to < 0 || write_trace(folder, to))
		complain(errno, "cannot write ", path, NULL);
	if (to >= 0)
		close(to);
}

/* Writes what was noted there beside the archive, and onto the console if it is to be there. */
static void send_one(int folder, const char *archive, const char *name, int console)
{
	char was[READING][4];

	TEXT(path, 1024);
	put(&path, archive);
	if (name) {
		put(&path, ".");
		put(&path, name);
	}
	put(&path, ".trace");
	for (size_t i = 0; i < READING; i++)
		if (procfs_read(folder, FOR_READING[i], was[i], sizeof was[i]) && *was[i] == '0')
			procfs_write(folder, FOR_READING[i], "1");
	write_to(folder, path.bytes, O_CREAT | O_TRUNC | O_NOFOLLOW);
	if (console) {
		front = "bootlap-trace ";
		write_to(folder, "/dev/console", O_NOCTTY);
		front = NULL;
	}
	for (size_t i = 0; i < READING; i++)
		if (*was[i] == '0')
			procfs_write(folder, FOR_READING[i], "0");
}

void tracing_send(const char *archive, int console)
{
	if (instance >= 0) {
		procfs_write(instance, "tracing_on", "0");
		send_one(instance, archive, NULL, console);
		remove_instance();
	}
	while (asked) {
		TEXT(one, 96);
		asked = next_of(asked, &one);
		const char *name = kernels(one.bytes);
		int folder = name ? open_kernels(name) : -1;

		if (folder < 0)
			continue;
		send_one(folder, archive, name, 0);
		close(folder);
	}
}

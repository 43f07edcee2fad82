#include "samples.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "now.h"
#include "procfs.h"

/* Of disks beyond that only the first reading is known. */
#define DISKS 64

/* Stays open: looking at a file again costs half of opening it again. */
struct looked {
	const char *path; /* below /proc */
	int fd; /* 0 before it was tried, -1 if it cannot be opened */
};

static struct looked cpu_file = { .path = "stat" };
static struct looked memory_file = { .path = "meminfo" };
static struct looked disks_file = { .path = "diskstats" };

/* /proc/stat goes on with a line for each CPU and a long one of interrupts. */
static char text[16384];

/* The kernel stops where a line does not fit into the page that it fills: no line of
 * these files that can follow another is half as long, so after less there is no more. */
#define HALF_A_PAGE 2048

/* Reads all of it into `text`; gives the length. */
static size_t look(struct looked *file)
{
	size_t len = 0;
	ssize_t n = HALF_A_PAGE;

	if (!file->fd)
		file->fd = openat(procfs(), file->path, O_RDONLY | O_CLOEXEC);
	while (file->fd >= 0 && n >= HALF_A_PAGE && len < sizeof text - 1 &&
	       (n = pread(file->fd, text + len, sizeof text - 1 - len, (off_t)len)) > 0)
		len += (size_t)n;
	text[len] = 0;
	return len;
}

static void take_cpu(void)
{
	const char *at, *state;

	look(&cpu_file);
	at = procfs_line(text, "cpu ");
	if (!at)
		return;
	record_begin(WIRE_CPU);
	record_u64(now_ns());
	for (int i = 0; i < 8; i++)
		record_u64(procfs_number(&at));
	state = procfs_line(text, "procs_running");
	record_u32(state ? (uint32_t)procfs_number(&state) : 0);
	state = procfs_line(text, "procs_blocked");
	record_u32(state ? (uint32_t)procfs_number(&state) : 0);
	record_end();
}

static void take_memory(void)
{
	static const char *const LINES[] = { "MemTotal:", "MemFree:", "MemAvailable:", "Buffers:",
					     "Cached:" };

	if (!look(&memory_file))
		return;
	record_begin(WIRE_MEMORY);
	record_u64(now_ns());
	for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
		const char *at = procfs_line(text, LINES[i]);

		record_u64(at ? procfs_number(&at) : 0);
	}
	record_end();
}

static uint64_t total_in(const char *line)
{
	const char *end = line ? strchr(line, '\n') : NULL;
	const char *at = line ? strstr(line, "total=") : NULL;

	if (!at || (end && at > end))
		return 0;
	at += strlen("total=");
	return procfs_number(&at);
}

struct pressure {
	struct looked file;
	const char *name;
	uint64_t some, full; /* as noted last */
};

static struct pressure pressures[] = {
	{ .file.path = "pressure/cpu", .name = "cpu" },
	{ .file.path = "pressure/io", .name = "io" },
	{ .file.path = "pressure/memory", .name = "memory" },
};

static void take_pressure(struct pressure *pressure)
{
	uint64_t some, full;

	if (!look(&pressure->file))
		return;
	some = total_in(procfs_line(text, "some "));
	full = total_in(procfs_line(text, "full "));
	if (some == pressure->some && full == pressure->full)
		return;
	pressure->some = some;
	pressure->full = full;
	record_begin(WIRE_PRESSURE);
	record_u64(now_ns());
	record_u64(some);
	record_u64(full);
	record_string(pressure->name);
	record_end();
}

/* "major minor name reads merged sectors ms writes merged sectors ms now ms …" */
static const char *take_disk(const char *at, uint64_t time, int index)
{
	static uint64_t busy_before[DISKS];
	uint64_t fields[10];
	const char *name;
	size_t name_len;

	procfs_number(&at);
	procfs_number(&at);
	while (*at == ' ')
		at++;
	name = at;
	name_len = strcspn(at, " \n");
	at += name_len;
	for (int i = 0; i < 10; i++)
		fields[i] = procfs_number(&at);
	if (index < DISKS && fields[9] + fields[0] + fields[4] != busy_before[index]) {
		busy_before[index] = fields[9] + fields[0] + fields[4];
		record_begin(WIRE_DISK);
		record_u64(time);
		record_u64(fields[0]);
		record_u64(fields[2]);
		record_u64(fields[4]);
		record_u64(fields[6]);
		record_u64(fields[9]);
		record_bytes(name, name_len);
		record_end();
	}
	at = strchr(at, '\n');
	return at ? at + 1 : NULL;
}

static void take_disks(void)
{
	const char *at = text;
	uint64_t time = now_ns();

	look(&disks_file);
	for (int i = 0; at && *at; i++)
		at = take_disk(at, time, i);
}

void samples_take(void)
{
	take_cpu();
	take_disks();
}

void samples_take_rest(void)
{
	take_memory();
	for (size_t i = 0; i < sizeof pressures / sizeof *pressures; i++)
		take_pressure(&pressures[i]);
}

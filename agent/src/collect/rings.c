#include "rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "archive.h"
#include "now.h"
#include "processes.h"
#include "ran.h"
#include "ready.h"

#define MOST_CPUS 256
/* Of one ring: some 2500 events between two looks; or some 10000 switches, each of which
 * the kernel tells twice. */
#define RING_BYTES (128 << 10)
#define SWITCHES_BYTES (512 << 10)
/* Programs begun between two looks whose arguments are asked for. */
#define FRESH 64

struct ring {
	struct perf_event_mmap_page *head; /* the events lie behind this page */
	const char *events;
	size_t bytes; /* 0 while the CPU is off */
	int fd;
};

/* By CPU. */
static struct ring rings[MOST_CPUS];
static size_t cpu_count;
static int switches, lost;

struct fresh {
	uint64_t time;
	uint32_t pid;
};

static struct fresh fresh[FRESH];
static size_t fresh_count;

static int open_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | (switches ? PERF_SAMPLE_TID : 0),
		.sample_id_all = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = switches & 1u,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int map_ring(struct ring *ring, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t least = switches ? SWITCHES_BYTES : RING_BYTES;
	size_t bytes = page < least ? least : page;
	void *mapped =
		mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED) {
		int failed = errno;

		close(fd);
		errno = failed;
		return -1;
	}
	*ring = (struct ring){ mapped, (const char *)mapped + page, bytes, fd };
	return 0;
}

static void close_rings(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t cpu = 0; cpu < cpu_count; cpu++) {
		if (!rings[cpu].bytes)
			continue;
		munmap(rings[cpu].head, page + rings[cpu].bytes);
		close(rings[cpu].fd);
	}
	cpu_count = 0;
}

/* -1 and errno, which is ENODEV for a CPU that is not there, or is off, and EINVAL
 * behind the last. */
static int open_ring(size_t cpu)
{
	int fd = open_cpu((int)cpu);

	rings[cpu].bytes = 0;
	return fd < 0 ? -1 : map_ring(&rings[cpu], fd);
}

/* The kernel is asked for one after the other: what libraries count are the CPUs that
 * this process may run on. */
static int open_all(void)
{
	for (cpu_count = 0; cpu_count < MOST_CPUS; cpu_count++) {
		if (!open_ring(cpu_count) || errno == ENODEV)
			continue;
		if (errno == EINVAL && cpu_count)
			return 0;
		break;
	}
	if (cpu_count == MOST_CPUS)
		errno = E2BIG;
	int failed = errno;

	close_rings();
	errno = failed;
	return -1;
}

int rings_open(int with_switches)
{
	switches = with_switches && !ran_open(MOST_CPUS);
	if (switches && open_all())
		switches = 0;
	return switches ? 0 : open_all();
}

int rings_tell_switches(void)
{
	return switches;
}

size_t rings_cpus(void)
{
	return cpu_count;
}

size_t rings_open_cpus(void)
{
	size_t open = 0;

	for (size_t cpu = 0; cpu < cpu_count; cpu++)
		open += rings[cpu].bytes != 0;
	return open;
}

/* What the kernel says of a fork or an exit. */
struct task {
	uint32_t pid, parent, thread, parent_thread;
	uint64_t time;
};

static void note_fork(const struct task *task)
{
	record_begin(WIRE_FORK);
	record_u64(task->time);
	record_u32(task->parent);
	record_u32(task->thread);
	record_u32(task->pid);
	record_end();
	if (switches)
		ran_fork(task->thread);
}

static void note_exit(const struct task *task)
{
	record_begin(WIRE_EXIT);
	record_u64(task->time);
	record_u32(task->thread);
	record_u32(task->pid);
	record_u32(WIRE_UNKNOWN);
	record_end();
	for (size_t i = 0; i < fresh_count; i++)
		if (fresh[i].pid == task->thread)
			fresh[i] = fresh[--fresh_count];
}

static int is_fresh(uint32_t pid)
{
	for (size_t i = 0; i < fresh_count; i++)
		if (fresh[i].pid == pid)
			return 1;
	return 0;
}

/* pid, thread, its name filled up with NULs, the time. BusyBox runs its applets as
 * `/proc/self/exe`, and each gives itself its name then (`own`). */
static void note_name(const char *bytes, size_t len, int own)
{
	const char *name = bytes + 8;
	uint32_t pid;
	uint64_t time;
	size_t name_len;

	if (len <= 8 + sizeof time)
		return;
	memcpy(&pid, bytes, sizeof pid);
	memcpy(&time, bytes + len - sizeof time, sizeof time);
	name_len = strnlen(name, len - 8 - sizeof time);
	if (own) {
		if (is_fresh(pid))
			ready_name(name, name_len);
		return;
	}
	record_begin(WIRE_NAME);
	record_u64(time);
	record_u32(pid);
	record_bytes(name, name_len);
	record_end();
	ready_name(name, name_len);
	if (fresh_count < FRESH)
		fresh[fresh_count++] = (struct fresh){ time, pid };
}

static void note_lost(const char *bytes, size_t len)
{
	uint64_t count;

	if (len < 8 + sizeof count)
		return;
	memcpy(&count, bytes + 8, sizeof count);
	archive_lost(LOST_EVENTS, count);
	lost = 1;
}

/* Who goes tells the next one's pid and thread, who comes those of the one before; then both
 * tell their own, and the time. A CPU without work tells neither of its going nor its coming. */
static void note_switch(size_t cpu, int goes, const char *bytes)
{
	struct {
		uint32_t other[2], own[2];
		uint64_t time;
	} told;

	memcpy(&told, bytes, sizeof told);
	ran_switch(cpu, goes ? told.other[1] : told.own[1], told.time);
}

static void note(size_t cpu, const struct perf_event_header *head, const char *bytes, size_t len)
{
	struct task task;

	switch (head->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (len < sizeof task)
			return;
		memcpy(&task, bytes, sizeof task);
		if (head->type == PERF_RECORD_FORK)
			note_fork(&task);
		else
			note_exit(&task);
		return;
	case PERF_RECORD_COMM:
		note_name(bytes, len, !(head->misc & PERF_RECORD_MISC_COMM_EXEC));
		return;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (len >= 24)
			note_switch(cpu, head->misc & PERF_RECORD_MISC_SWITCH_OUT, bytes);
		return;
	case PERF_RECORD_LOST:
		note_lost(bytes, len);
		return;
	default:
		return;
	}
}

/* Bytes of a ring, from any place on. */
static void copy(const struct ring *ring, uint64_t from, void *to, size_t len)
{
	size_t at = (size_t)from & (ring->bytes - 1);
	size_t first = len < ring->bytes - at ? len : ring->bytes - at;

	memcpy(to, ring->events + at, first);
	memcpy((char *)to + first, ring->events, len - first);
}

static void drain(size_t cpu)
{
	struct ring *ring = &rings[cpu];
	/* Not __atomic_load_n, which MIPS has for 32 bits only. There a kernel counts in
	 * 32 bits, too: the halves fit together. */
	uint64_t head = *(volatile const __u64 *)&ring->head->data_head;
	uint64_t tail = ring->head->data_tail;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* A full one tells of what it lost only behind the next event. */
	if (head - tail > ring->bytes - 128)
		lost = 1;
	while (tail < head) {
		struct perf_event_header event;
		_Alignas(8) char bytes[128];

		copy(ring, tail, &event, sizeof event);
		if (event.size < sizeof event || event.size > head - tail)
			break;
		if (event.size - sizeof event <= sizeof bytes) {
			copy(ring, tail + sizeof event, bytes, event.size - sizeof event);
			note(cpu, &event, bytes, event.size - sizeof event);
		}
		tail += event.size;
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile __u64 *)&ring->head->data_tail = head;
}

void rings_drain(int all)
{
	for (size_t cpu = 0; cpu < cpu_count; cpu++) {
		if (rings[cpu].bytes)
			drain(cpu);
		else if (all)
			open_ring(cpu);
	}
	/* Of those that have ended there is nothing more to learn. */
	for (size_t i = 0; i < fresh_count; i++)
		processes_exec(fresh[i].time, fresh[i].pid);
	fresh_count = 0;
	if (switches && lost)
		ran_lost();
	lost = 0;
}

void rings_finish(void)
{
	if (switches)
		ran_note(now_ns());
}

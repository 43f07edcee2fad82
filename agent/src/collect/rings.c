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
#include "cpus.h"
#include "procfs.h"
#include "ready.h"

#define MOST_CPUS 256
/* Of one ring: some 2500 events between two looks. */
#define RING_BYTES (128 << 10)
/* Programs begun between two looks whose arguments are asked for. */
#define FRESH 64

struct ring {
	struct perf_event_mmap_page *head; /* the events lie behind this page */
	const char *events;
	size_t bytes;
	int fd;
};

static struct ring rings[MOST_CPUS];
static size_t ring_count;

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
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Maps one more. */
static int map_ring(int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = page < RING_BYTES ? RING_BYTES : page;
	void *mapped =
		mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED) {
		int failed = errno;

		close(fd);
		errno = failed;
		return -1;
	}
	rings[ring_count++] = (struct ring){ mapped, (const char *)mapped + page, bytes, fd };
	return 0;
}

static void close_rings(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < ring_count; i++) {
		munmap(rings[i].head, page + rings[i].bytes);
		close(rings[i].fd);
	}
	ring_count = 0;
}

int rings_open(void)
{
	ring_count = 0;
	if (cpus() > MOST_CPUS) {
		errno = E2BIG;
		return -1;
	}
	for (int cpu = 0; cpu < cpus(); cpu++) {
		int fd = open_cpu(cpu);

		/* One that is not there, or is off. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0 || map_ring(fd)) {
			int failed = errno;

			close_rings();
			errno = failed;
			return -1;
		}
	}
	return ring_count ? 0 : -1;
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

/* pid, thread, its name filled up with NULs, the time. */
static void note_name(const char *bytes, size_t len)
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
}

static void note(const struct perf_event_header *head, const char *bytes, size_t len)
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
		/* A process may also give itself a name. */
		if (head->misc & PERF_RECORD_MISC_COMM_EXEC)
			note_name(bytes, len);
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

static void drain(struct ring *ring)
{
	/* Not __atomic_load_n, which MIPS has for 32 bits only. There a kernel counts in
	 * 32 bits, too: the halves fit together. */
	uint64_t head = *(volatile const __u64 *)&ring->head->data_head;
	uint64_t tail = ring->head->data_tail;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	while (tail < head) {
		struct perf_event_header event;
		_Alignas(8) char bytes[128];

		copy(ring, tail, &event, sizeof event);
		if (event.size < sizeof event || event.size > head - tail)
			break;
		if (event.size - sizeof event <= sizeof bytes) {
			copy(ring, tail + sizeof event, bytes, event.size - sizeof event);
			note(&event, bytes, event.size - sizeof event);
		}
		tail += event.size;
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile __u64 *)&ring->head->data_tail = head;
}

void rings_drain(void)
{
	for (size_t i = 0; i < ring_count; i++)
		drain(&rings[i]);
	/* Of those that have ended there is nothing more to learn. */
	for (size_t i = 0; i < fresh_count; i++)
		procfs_exec(fresh[i].time, fresh[i].pid);
	fresh_count = 0;
}

#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cached.h"
#include "collect/now.h"
#include "touched.h"

#define ITEMS (1u << 18)
#define LONGEST_ITEM (64u << 20)
/* So much is asked for at once, in so many pieces and in so many places of the disk: what
 * the boot asks for itself meanwhile, and a pack never has all of that, waits behind it. */
#define GROUP (128u << 10)
#define GROUP_ITEMS 32
#define GROUP_PLACES 8
/* A disk is fast if it is not waited for longer than this, ns for each place and for a
 * KiB; so many groups are tried. eMMC takes twice as long, a card ten times. */
#define FAST_PLACE_NS 100000
#define FAST_KIB_NS 2500
#define TRIED 16
#define LONGEST_JOINED (1u << 30)
#define WORKERS 8

/* What each worker has done. */
struct done {
	uint64_t asked, there, loaded;
	uint32_t unknown, errors, late;
};

/* What is asked for at once. */
struct group {
	struct item items[GROUP_ITEMS];
	uint32_t count, bytes;
	int64_t before; /* bytes of it that were in memory; -1 if nobody knows */
	uint32_t places; /* of the disk */
};

struct loading loading;
static struct done *shared; /* of all workers */
static uint32_t fd_count;
static uint32_t settled; /* groups, by this process */
static uint64_t waited_ns, fast_ns; /* for them, and what a fast disk would take */

static size_t size_of_all(uint32_t fds)
{
	return WORKERS * sizeof *shared + ITEMS * sizeof *loading.items + fds * sizeof *loading.fds;
}

int load_open(uint32_t fds)
{
	/* Shared with the workers. */
	char *bytes = mmap(NULL, size_of_all(fds), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -1;
	memset(&loading, 0, sizeof loading);
	settled = 0;
	waited_ns = fast_ns = 0;
	shared = (void *)bytes;
	loading.items = (void *)(shared + WORKERS);
	loading.fds = (void *)(loading.items + ITEMS);
	memset(loading.fds, -1, fds * sizeof *loading.fds);
	fd_count = fds;
	return 0;
}

void load_close(void)
{
	munmap(shared, size_of_all(fd_count));
}

int load_is_late(void)
{
	return loading.deadline && now_ns() >= loading.deadline;
}

int load_is_needless(void)
{
	if (!loading.always && settled >= TRIED && waited_ns < fast_ns)
		loading.total.fast = 1;
	return loading.total.fast != 0;
}

static int64_t cached_of(const struct group *group)
{
	int64_t all = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct item *item = &group->items[i];
		int64_t bytes = cached_bytes(loading.fds[item->file], item->start, item->length);

		if (bytes < 0)
			return -1;
		/* In whole pages. */
		all += bytes < item->length ? bytes : item->length;
	}
	return all;
}

/* The next pieces: some short ones, or a part of a long one. *within is how much of the
 * item at *at was taken already. */
static void take(struct group *group, uint32_t *at, uint32_t *within, uint32_t end, uint32_t most)
{
	uint64_t behind = UINT64_MAX;

	group->count = group->bytes = group->places = 0;
	while (*at < end && group->count < GROUP_ITEMS) {
		struct item item = loading.items[*at];
		uint32_t left = item.length - *within;

		if (group->count && (left > most - group->bytes ||
				     (item.key != behind && group->places == GROUP_PLACES)))
			return;
		group->places += item.key != behind;
		behind = item.key + item.length;
		item.start += *within;
		item.length = left < most ? left : most;
		group->items[group->count++] = item;
		group->bytes += item.length;
		if (left > most) {
			*within += most;
			return;
		}
		*within = 0;
		++*at;
	}
}

/* Maps pieces one behind the other: with one madvise for all of them the kernel makes one
 * request of what lies side by side on the disk, though it is of many files. A page between
 * them is left out, so that each stays a piece of its own. */
static int request_together(const struct group *group)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = group->bytes + 3 * group->count * page;
	char *place = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			   0);
	char *at = place;
	int failed = 0;

	if (place == MAP_FAILED)
		return -1;
	munmap(place, room);
	for (uint32_t i = 0; i < group->count; i++) {
		const struct item *item = &group->items[i];
		uint64_t start = item->start - item->start % page;
		size_t length = (size_t)(item->start - start) + item->length;

		if (mmap(at, length, PROT_READ, MAP_SHARED | MAP_FIXED, loading.fds[item->file],
			 (off_t)start) == MAP_FAILED)
			failed = -1;
		at += (length + page - 1) / page * page + page;
	}
	/* It says that there are holes. */
	madvise(place, (size_t)(at - place), MADV_WILLNEED);
	munmap(place, room);
	return failed;
}

static int request(const struct group *group)
{
	const struct item *first = group->items;

	if (group->count > 1)
		return request_together(group);
	/* Not readahead(2): some kernels refuse it for block devices. */
	return posix_fadvise(loading.fds[first->file], (off_t)first->start, first->length,
			     POSIX_FADV_WILLNEED) ? -1 : 0;
}

/* For what reads nothing ahead, as the file systems of flash. */
static void read_all(const struct group *group)
{
	static char bytes[GROUP];

	for (uint32_t i = 0; i < group->count; i++) {
		const struct item *item = &group->items[i];
		uint32_t at = 0;
		ssize_t n;

		while (at < item->length && (n = pread(loading.fds[item->file], bytes,
						       item->length - at < GROUP ? item->length - at :
										   GROUP,
						       (off_t)(item->start + at))) > 0)
			at += (uint32_t)n;
	}
}

/* Waits for what was asked for, and counts what has come of it. */
static void settle(const struct group *group, struct done *done)
{
	static int takes_no_advice;
	const struct item *last;
	uint64_t begin = now_ns();
	int64_t now;
	char byte;

	if (!group->count)
		return;
	last = &group->items[group->count - 1];
	if (pread(loading.fds[last->file], &byte, 1, (off_t)(last->start + last->length - 1)) < 0)
		done->errors++;
	if (takes_no_advice)
		read_all(group);
	settled++;
	waited_ns += now_ns() - begin;
	fast_ns += group->places * (uint64_t)FAST_PLACE_NS + (group->bytes >> 10) * FAST_KIB_NS;
	if (group->before < 0)
		return;
	now = cached_of(group);
	if (!takes_no_advice && now - group->before < (group->bytes - group->before) / 2) {
		takes_no_advice = 1;
		read_all(group);
		now = cached_of(group);
	}
	if (now > group->before)
		done->loaded += (uint64_t)(now - group->before);
}

/* Each worker has a part of its own, so that neighbours stay together. One group is on its
 * way while the next is put together. */
static void work(unsigned worker, unsigned workers, uint32_t chunk)
{
	static struct group next, waiting;
	struct done *done = &shared[worker];
	uint32_t at = (uint32_t)((uint64_t)loading.item_count * worker / workers);
	uint32_t end = (uint32_t)((uint64_t)loading.item_count * (worker + 1) / workers);
	uint32_t within = 0;

	waiting.count = 0;
	while (at < end && !load_is_late() && !load_is_needless()) {
		take(&next, &at, &within, end, chunk < GROUP ? chunk : GROUP);
		next.before = cached_of(&next);
		done->asked += next.bytes;
		done->unknown |= next.before < 0;
		if (next.before > 0)
			done->there += (uint64_t)next.before;
		if (loading.look_only || next.before == next.bytes)
			continue;
		if (request(&next))
			done->errors++;
		settle(&waiting, done);
		waiting = next;
	}
	settle(&waiting, done);
	done->late |= at < end && !load_is_needless();
}

/* Loads all items, from so many processes: threads would cost a libc's worth of code. */
void load_all(unsigned workers, uint32_t chunk)
{
	pid_t children[WORKERS];

	memset(shared, 0, WORKERS * sizeof *shared);
	for (unsigned i = 1; i < workers; i++) {
		children[i] = fork();
		if (!children[i]) {
			work(i, workers, chunk);
			_exit(0);
		}
		/* No process to be had: its part is done here. */
		if (children[i] < 0)
			work(i, workers, chunk);
	}
	work(0, workers, chunk);
	for (unsigned i = 1; i < workers; i++)
		while (children[i] > 0 && waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
			;
	for (unsigned i = 0; i < WORKERS; i++) {
		const struct done *done = &shared[i];

		loading.total.asked += done->asked;
		loading.total.there += done->there;
		loading.total.loaded += done->loaded;
		loading.total.unknown |= done->unknown;
		loading.total.errors += done->errors;
		loading.total.late |= done->late;
	}
}

void load_add(uint32_t file, uint64_t start, uint64_t length, uint64_t key)
{
	while (length && loading.item_count < ITEMS) {
		uint32_t piece = length < LONGEST_ITEM ? (uint32_t)length : LONGEST_ITEM;

		/* What would push out what was loaded first is no help. */
		if (!loading.look_only && piece > loading.budget) {
			loading.total.full = 1;
			return;
		}
		loading.budget -= loading.look_only ? 0 : piece;
		loading.items[loading.item_count++] = (struct item){ .key = key, .start = start, .length = piece,
						     .file = file };
		start += piece;
		key += piece;
		length -= piece;
	}
}

uint32_t load_coalesce(struct item *of, uint32_t count, uint32_t gap)
{
	uint32_t last = 0;

	if (!count)
		return 0;
	sort(of, count, sizeof *of);
	for (uint32_t i = 1; i < count; i++) {
		struct item *item = &of[last];
		uint64_t end = item->start + item->length, until = of[i].start + of[i].length;

		/* Neighbours on the disk that are neighbours in the file, too. */
		if (of[i].file == item->file && of[i].start >= item->start &&
		    of[i].start - item->start == of[i].key - item->key &&
		    of[i].start <= end + gap &&
		    until - item->start <= LONGEST_JOINED) {
			if (until > end)
				item->length = (uint32_t)(until - item->start);
		} else {
			of[++last] = of[i];
		}
	}
	return last + 1;
}


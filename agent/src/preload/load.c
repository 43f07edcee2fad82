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
/* So much in small pieces is asked for at once. */
#define BATCH (512u << 10)
#define BATCH_ITEMS 32
#define LONGEST_JOINED (1u << 30)
#define WORKERS 8

/* What each worker has done. */
struct done {
	uint64_t asked, there, loaded;
	uint32_t unknown, errors, late;
};

struct loading loading;
static struct done *shared; /* of all workers */
static uint32_t fd_count;

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

static void load_long(const struct item *item, uint32_t chunk, struct done *done)
{
	for (uint32_t at = 0; at < item->length; at += chunk) {
		uint32_t left = item->length - at;

		if (load_is_late()) {
			done->late = 1;
			return;
		}
		/* Not readahead(2): some kernels refuse it for block devices. */
		if (posix_fadvise(loading.fds[item->file], (off_t)(item->start + at),
				  left < chunk ? left : chunk, POSIX_FADV_WILLNEED)) {
			done->errors++;
			return;
		}
	}
}

/* Maps small pieces one behind the other: with one madvise for all of them the kernel
 * makes one request of what lies side by side on the disk, though it is of many files.
 * A page between them is left out, so that each stays a piece of its own. */
static void load_short(const struct item *first, uint32_t count, struct done *done)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = BATCH + 3 * BATCH_ITEMS * page;
	char *place = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			   0);
	char *at = place;

	if (place == MAP_FAILED) {
		done->errors++;
		return;
	}
	munmap(place, room);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = first[i].start - first[i].start % page;
		size_t length = (size_t)(first[i].start - start) + first[i].length;

		if (mmap(at, length, PROT_READ, MAP_SHARED | MAP_FIXED, loading.fds[first[i].file],
			 (off_t)start) == MAP_FAILED)
			done->errors++;
		at += (length + page - 1) / page * page + page;
	}
	/* It says that there are holes. */
	madvise(place, (size_t)(at - place), MADV_WILLNEED);
	munmap(place, room);
}

/* Loads the item at `first`, and those behind it that go with it; gives how many. */
static uint32_t load(uint32_t first, uint32_t end, uint32_t chunk, struct done *done)
{
	int64_t before[BATCH_ITEMS];
	uint32_t count = 0, bytes = 0, missing = 0, i;

	for (i = first; i < end && count < BATCH_ITEMS; i++) {
		const struct item *item = &loading.items[i];

		if (item->length > chunk || item->length > BATCH - bytes)
			break;
		bytes += item->length;
		count++;
	}
	count = count ? count : 1;
	for (i = 0; i < count; i++) {
		const struct item *item = &loading.items[first + i];

		before[i] = cached_bytes(loading.fds[item->file], item->start, item->length);
		done->asked += item->length;
		if (before[i] < 0)
			done->unknown = 1;
		else
			done->there += (uint64_t)before[i];
		missing |= before[i] < (int64_t)item->length;
	}
	if (loading.look_only || !missing)
		return count;
	if (count > 1)
		load_short(&loading.items[first], count, done);
	else
		load_long(&loading.items[first], chunk, done);
	for (i = 0; i < count; i++) {
		const struct item *item = &loading.items[first + i];
		int64_t after = cached_bytes(loading.fds[item->file], item->start, item->length);

		if (before[i] >= 0 && after > before[i])
			done->loaded += (uint64_t)(after - before[i]);
	}
	return count;
}

/* Each worker has a part of its own, so that neighbours stay together. */
static void work(unsigned worker, unsigned workers, uint32_t chunk)
{
	struct done *done = &shared[worker];
	uint32_t at = (uint32_t)((uint64_t)loading.item_count * worker / workers);
	uint32_t end = (uint32_t)((uint64_t)loading.item_count * (worker + 1) / workers);

	while (at < end && !load_is_late())
		at += load(at, end, chunk, done);
	done->late |= at < end;
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


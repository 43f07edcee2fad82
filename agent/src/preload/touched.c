#include "touched.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS (2 * TOUCHED_FILES)
/* Of a file's extents so many are looked at, the newest first. */
#define LOOK_BACK 32

int touched_open(struct touched *touched)
{
	size_t files = TOUCHED_FILES * sizeof *touched->files;
	size_t extents = TOUCHED_EXTENTS * sizeof *touched->extents;
	size_t slots = SLOTS * sizeof *touched->slots;
	char *memory = mmap(NULL, files + extents + slots + TOUCHED_NAMES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	memset(touched, 0, sizeof *touched);
	touched->files = (void *)memory;
	touched->extents = (void *)(memory + files);
	touched->slots = (void *)(memory + files + extents);
	touched->names = memory + files + extents + slots;
	/* Name 0 is the empty one. */
	touched->names_used = 1;
	return 0;
}

/* The slot that has the file, or is free for it: there are always free ones. */
static uint32_t *slot(const struct touched *touched, uint64_t dev, uint64_t ino)
{
	uint64_t hash = (ino + (dev << 32)) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 40) % SLOTS;

	for (;; at = (at + 1) % SLOTS) {
		uint32_t *found = &touched->slots[at];
		const struct touched_file *file = &touched->files[*found - 1];

		if (!*found || (file->ino == ino && file->dev == dev))
			return found;
	}
}

uint32_t touched_find(const struct touched *touched, uint64_t dev, uint64_t ino)
{
	return *slot(touched, dev, ino) - 1;
}

uint32_t touched_file(struct touched *touched, uint64_t dev, uint64_t ino)
{
	uint32_t *at = slot(touched, dev, ino);

	if (*at)
		return *at - 1;
	if (touched->file_count == TOUCHED_FILES) {
		touched->lost++;
		return NONE;
	}
	touched->files[touched->file_count] =
		(struct touched_file){ .dev = dev, .ino = ino, .fs = NONE, .last = NONE };
	*at = ++touched->file_count;
	return *at - 1;
}

void touched_add(struct touched *touched, uint32_t file, uint64_t start, uint64_t end,
		 uint64_t us)
{
	uint32_t at;
	int looked = 0;

	if (file >= touched->file_count || start >= end)
		return;
	at = touched->files[file].last;
	for (; at != NONE && looked < LOOK_BACK; looked++) {
		struct touched_extent *extent = &touched->extents[at];

		at = extent->before;
		if (start > extent->end || end < extent->start)
			continue;
		if (start < extent->start)
			extent->start = start;
		if (end > extent->end)
			extent->end = end;
		if (us < extent->key)
			extent->key = us;
		return;
	}
	if (touched->extent_count == TOUCHED_EXTENTS) {
		touched->lost++;
		return;
	}
	touched->extents[touched->extent_count] =
		(struct touched_extent){ .key = us, .start = start, .end = end, .file = file,
					 .before = touched->files[file].last };
	touched->files[file].last = touched->extent_count++;
}

uint32_t touched_name(struct touched *touched, const char *name, size_t len)
{
	uint32_t at = touched->names_used;

	if (!len)
		return 0;
	if (len >= TOUCHED_NAMES - at)
		return NONE;
	memcpy(touched->names + at, name, len);
	touched->names[at + len] = 0;
	touched->names_used = at + (uint32_t)len + 1;
	return at;
}

uint32_t touched_fs(struct touched *touched, uint64_t id, uint32_t type, const char *place)
{
	uint32_t i, name;

	for (i = 0; i < touched->fs_count; i++) {
		const struct touched_fs *fs = &touched->fs[i];

		if (fs->id == id && fs->type == type &&
		    !strcmp(touched->names + fs->place, place))
			return i;
	}
	if (i == TOUCHED_FS)
		return NONE;
	name = touched_name(touched, place, strlen(place));
	if (name == NONE)
		return NONE;
	touched->fs[i] = (struct touched_fs){ .id = id, .type = type, .place = name };
	touched->fs_count++;
	return i;
}

/* Whether the byte at `at` was touched, and up to where that stays so. */
static int has(const struct touched *touched, uint32_t file, uint64_t at, uint64_t *until)
{
	uint32_t i = file < touched->file_count ? touched->files[file].last : NONE;

	for (; i != NONE; i = touched->extents[i].before) {
		const struct touched_extent *extent = &touched->extents[i];

		if (extent->start <= at && at < extent->end) {
			if (extent->end < *until)
				*until = extent->end;
			return 1;
		}
		if (extent->start > at && extent->start < *until)
			*until = extent->start;
	}
	return 0;
}

/* The file in another list. */
static uint32_t same_in(const struct touched *other, const struct touched *touched,
			const struct touched_file *file)
{
	uint32_t same = touched_find(other, file->dev, file->ino);
	const struct touched_fs *fs = &touched->fs[file->fs == NONE ? 0 : file->fs];

	if (same != NONE || file->fs == NONE)
		return same;
	return touched_find(other, touched_dev(fs->id, fs->type), file->ino);
}

void touched_subtract(struct touched *touched, const struct touched *before)
{
	/* From the end of the memory, so that what is left has room in front. */
	uint32_t from = TOUCHED_EXTENTS - touched->extent_count;

	memmove(touched->extents + from, touched->extents,
		touched->extent_count * sizeof *touched->extents);
	for (uint32_t i = 0; i < touched->file_count; i++)
		touched->files[i].last = NONE;
	touched->extent_count = 0;
	for (uint32_t i = from; i < TOUCHED_EXTENTS; i++) {
		struct touched_extent extent = touched->extents[i];
		const struct touched_file *file = &touched->files[extent.file];
		uint32_t same = same_in(before, touched, file);
		uint64_t at = extent.start, until;

		for (; at < extent.end; at = until) {
			until = extent.end;
			if (has(before, same, at, &until))
				continue;
			/* Never over what is still to be looked at. */
			if (touched->extent_count <= i)
				touched_add(touched, extent.file, at, until, extent.key);
			else
				touched->lost++;
		}
	}
}

static uint64_t key(const char *element)
{
	uint64_t number;

	memcpy(&number, element, sizeof number);
	return number;
}

static void swap(char *a, char *b, size_t size)
{
	char kept[64];

	memcpy(kept, a, size);
	memcpy(a, b, size);
	memcpy(b, kept, size);
}

void sort(void *elements, size_t count, size_t size)
{
	char *first = elements;
	size_t begin = count / 2, end = count;

	/* Heapsort: no memory, no recursion, no bad case. */
	while (end > 1) {
		size_t at, child;

		if (begin)
			begin--;
		else
			swap(first, first + --end * size, size);
		for (at = begin; (child = 2 * at + 1) < end; at = child) {
			if (child + 1 < end &&
			    key(first + child * size) < key(first + (child + 1) * size))
				child++;
			if (key(first + at * size) >= key(first + child * size))
				break;
			swap(first + at * size, first + child * size, size);
		}
	}
}

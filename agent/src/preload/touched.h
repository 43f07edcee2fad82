/* Which bytes of which files were touched, and when first: in one mapping of memory
 * of a fixed size, of which only what is used becomes real. */
#ifndef TOUCHED_H
#define TOUCHED_H

#include <stddef.h>
#include <stdint.h>

#define TOUCHED_FILES (1u << 15)
#define TOUCHED_EXTENTS (1u << 17)
#define TOUCHED_NAMES (2u << 20)
#define TOUCHED_FS 16
#define NONE UINT32_MAX

struct touched_fs {
	uint64_t id;
	uint32_t type;
	uint32_t place; /* where it is mounted: a name */
};

struct touched_file {
	uint64_t dev, ino; /* dev as the kernel has it: major << 20 | minor */
	uint64_t size, mtime;
	uint32_t fs; /* NONE as long as the file has no name */
	uint32_t name;
	uint32_t last;   /* extent */
	uint32_t number; /* in the pack */
};

struct touched_extent {
	uint64_t key; /* time in us, as long as it is not sorted; first for sort() */
	uint64_t start, end;
	uint32_t file;
	uint32_t before; /* the file's extent before this one */
};

struct touched {
	struct touched_file *files;
	struct touched_extent *extents;
	char *names;
	uint32_t *slots;
	struct touched_fs fs[TOUCHED_FS];
	uint32_t fs_count, file_count, extent_count, names_used;
	uint32_t flags, lost, unnamed;
};

/* Makes it ready; -1 and errno if there is no memory. */
int touched_open(struct touched *touched);

/* The file's index, and it is noted if it is new; NONE if there is no room. */
uint32_t touched_file(struct touched *touched, uint64_t dev, uint64_t ino);

/* The file's index if it was noted, else NONE. */
uint32_t touched_find(const struct touched *touched, uint64_t dev, uint64_t ino);

/* Notes that bytes of a file were touched. What is known already or adjoins is one
 * extent with it. */
void touched_add(struct touched *touched, uint32_t file, uint64_t start, uint64_t end,
		 uint64_t us);

/* Keeps a name; NONE if there is no room. */
uint32_t touched_name(struct touched *touched, const char *name, size_t len);

/* The file system's index, noted if it is new; NONE if there is no room. */
uint32_t touched_fs(struct touched *touched, uint64_t id, uint32_t type, const char *place);

/* What stands for a file system's device in files that were taken of a pack: its device
 * may have another number by now. */
static inline uint64_t touched_dev(uint64_t fs_id, uint32_t fs_type)
{
	return fs_id ^ fs_type;
}

/* Takes away what `before` has of the same files; it may have been taken of a pack. */
void touched_subtract(struct touched *touched, const struct touched *before);

/* Sorts `count` elements of `size` bytes (a multiple of 8, at most 64), which begin
 * with a u64, by that. */
void sort(void *elements, size_t count, size_t size);

#endif

#include "medium.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/mounts.h"
#include "text.h"

/* Blocks that have no fixed place. Those that the file system has set aside and not written yet
 * have one: nobody reads the image through the file. */
#define LOOSE                                                                          \
	(FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED |      \
	 FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL | \
	 FIEMAP_EXTENT_SHARED)

struct pieces {
	struct medium *medium;
	uint64_t end;
	int wrong;
};

static void add(const struct place *place, void *context)
{
	struct pieces *found = context;
	struct medium *medium = found->medium;

	if (place->start != found->end || place->flags & LOOSE || medium->count == MEDIUM_PIECES)
		found->wrong = 1;
	if (found->wrong)
		return;
	medium->pieces[medium->count++] = *place;
	found->end = place->start + place->length;
}

static int open_below(struct medium *medium, const char *path, int file, const struct stat *stat,
		      int flags)
{
	struct pieces pieces = { .medium = medium };

	TEXT(device, 64);
	medium->size = (uint64_t)stat->st_size;
	places_each(file, 0, medium->size, FIEMAP_FLAG_SYNC, add, &pieces);
	put(&device, "/dev/");
	if (pieces.wrong || pieces.end < medium->size || !device_name(stat->st_dev, &device)) {
		complain(0, path, " has no fixed place on a disk: set all of it aside, as "
			 "`fallocate -l 128M` does, on ext4, or name a partition", NULL);
		return -1;
	}
	medium->fd = open(device.bytes, flags | O_CLOEXEC);
	if (medium->fd < 0) {
		complain(errno, "cannot open ", device.bytes, NULL);
		return -1;
	}
	return 0;
}

int medium_open(struct medium *medium, const char *path, int flags)
{
	struct stat stat;
	int file = open(path, O_RDONLY | O_CLOEXEC), failed;

	medium->count = 0;
	if (file < 0 || fstat(file, &stat)) {
		complain(errno, "cannot open ", path, NULL);
		return -1;
	}
	if (S_ISREG(stat.st_mode)) {
		failed = open_below(medium, path, file, &stat, flags);
		close(file);
		return failed;
	}
	close(file);
	if (!S_ISBLK(stat.st_mode)) {
		complain(0, path, " is neither a disk nor a file", NULL);
		return -1;
	}
	/* Never over a file system that is mounted. */
	file = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (file < 0) {
		complain(errno, path, " is in use: name a partition that nothing is mounted from",
			 NULL);
		return -1;
	}
	close(file);
	medium->fd = open(path, flags | O_CLOEXEC);
	if (medium->fd < 0 || ioctl(medium->fd, BLKGETSIZE64, &medium->size)) {
		complain(errno, "cannot open ", path, NULL);
		return -1;
	}
	medium->count = 1;
	medium->pieces[0] = (struct place){ .length = medium->size };
	return 0;
}

/* The piece that has this place, and how much of it is left there. */
static const struct place *piece_at(const struct medium *medium, uint64_t at, uint64_t *left)
{
	for (uint32_t i = 0; i < medium->count; i++) {
		const struct place *piece = &medium->pieces[i];

		if (at >= piece->start && at - piece->start < piece->length) {
			*left = piece->length - (at - piece->start);
			return piece;
		}
	}
	return NULL;
}

int medium_write(const struct medium *medium, uint64_t at, const void *bytes, size_t length)
{
	const char *from = bytes;

	while (length) {
		uint64_t left;
		const struct place *piece = piece_at(medium, at, &left);
		ssize_t n;

		if (!piece || at + length > medium->size) {
			errno = ENOSPC;
			return -1;
		}
		n = pwrite(medium->fd, from, left < length ? (size_t)left : length,
			   (off_t)(piece->at + (at - piece->start)));
		if (n <= 0)
			return -1;
		from += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

int medium_read(const struct medium *medium, uint64_t at, void *bytes, size_t length)
{
	char *to = bytes;

	while (length) {
		uint64_t left;
		const struct place *piece = piece_at(medium, at, &left);
		ssize_t n;

		if (!piece) {
			errno = ENOSPC;
			return -1;
		}
		n = pread(medium->fd, to, left < length ? (size_t)left : length,
			  (off_t)(piece->at + (at - piece->start)));
		if (n <= 0) {
			errno = n ? errno : EIO;
			return -1;
		}
		to += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

int medium_sync(const struct medium *medium)
{
	return fdatasync(medium->fd);
}

void medium_forget(const struct medium *medium, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t left;
		const struct place *piece = piece_at(medium, from, &left);

		if (!piece)
			return;
		if (left > to - from)
			left = to - from;
		posix_fadvise(medium->fd, (off_t)(piece->at + (from - piece->start)), (off_t)left,
			      POSIX_FADV_DONTNEED);
		from += left;
	}
}

/* EXT4_IOC_MOVE_EXT reads a page, exchanges the blocks in a transaction, and leaves the
 * page dirty; with data=ordered the page is on the disk before that transaction is. So
 * after a power cut a file has the old blocks or the new ones, and both hold the same.
 * What is on the disk is read before and after, past the page cache, and compared. */

#include "move.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "crc32.h"
#include "preload/fiemap.h"
#include "preload/recorded.h"
#include "text.h"

/* As the kernel takes it, in blocks. */
struct move_extent {
	uint32_t reserved, donor;
	uint64_t start, donor_start, length, moved;
};
#define MOVE_EXT _IOWR('f', 15, struct move_extent)

/* So much is moved between two looks at move_stop. */
#define PIECE (1u << 20)
/* The kernel may find a page busy. */
#define TRIES 20
/* So much is moved, then written and compared. */
#define CHECKED_TOGETHER (16u << 20)
/* No checksum. */
#define UNMOVED UINT64_MAX

volatile sig_atomic_t move_stop;

int donor_open(const struct volume *volume, uint64_t bytes, struct runs *runs)
{
	TEXT(here, 32);
	int fd;

	put(&here, "/proc/self/fd/");
	put_number(&here, (uint64_t)volume->top);
	fd = open(here.bytes, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes)) {
		complain(errno, "cannot have that much room on the file system in one file", NULL);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	memset(runs, 0, sizeof *runs);
	places_each(fd, 0, bytes, FIEMAP_FLAG_SYNC, runs_add, runs);
	return fd;
}

/* What is on the disk of a file's ranges; -1 if it cannot be read. */
static int sum_up(int fd, const struct range *its, const struct range *end, uint32_t *sum)
{
	static _Alignas(4096) unsigned char bytes[64 << 10];

	*sum = 0;
	for (; its < end; its++)
		for (uint64_t at = its->start; at < its->end;) {
			uint64_t left = its->end - at;
			size_t want = left < sizeof bytes ? (size_t)left : sizeof bytes;
			ssize_t n = pread(fd, bytes, want, (off_t)at);

			if (n < 0)
				return -1;
			*sum = crc32(*sum, bytes, (size_t)n);
			/* The file ends within its last block. */
			if ((size_t)n < want)
				break;
			at += (size_t)n;
		}
	return 0;
}

struct donor {
	int fd;
	uint64_t at; /* what is behind has not been given yet */
};

/* Pages are moved as a whole, so their places in both files have to be alike. Where
 * blocks are smaller, a hole moves the rest of the donor on: in the file, not on the
 * disk. */
static int align(struct donor *donor, const struct volume *volume, uint64_t start)
{
	uint64_t pad = (start + volume->unit - donor->at % volume->unit) % volume->unit;

	if (pad && fallocate(donor->fd, FALLOC_FL_INSERT_RANGE, (off_t)donor->at, (off_t)pad))
		return -1;
	donor->at += pad;
	return 0;
}

/* Moves a range; -1 and errno if the kernel does not. */
static int move_range(int fd, struct donor *donor, const struct volume *volume,
		      const struct range *range, struct moved *moved)
{
	uint64_t at = range->start;
	int tries = 0;

	while (at < range->end) {
		uint64_t left = range->end - at;
		struct move_extent move = { .donor = (uint32_t)donor->fd };

		if (move_stop) {
			moved->stopped = 1;
			return 0;
		}
		if (align(donor, volume, at))
			return -1;
		move.start = at / volume->block;
		move.donor_start = donor->at / volume->block;
		move.length = (left < PIECE ? left : PIECE) / volume->block;
		if (ioctl(fd, MOVE_EXT, &move) && errno != EBUSY && errno != EAGAIN &&
		    errno != EINTR)
			return -1;
		if (!move.moved && tries++ == TRIES) {
			errno = EBUSY;
			return -1;
		}
		move.moved *= volume->block;
		at += move.moved;
		donor->at += move.moved;
		moved->bytes += move.moved;
	}
	return 0;
}

/* Whether the kernel would refuse all other files, too. */
static int is_final(int error)
{
	return error == EOPNOTSUPP || error == ENOTTY || error == EINVAL || error == EROFS ||
	       error == ENOSPC || error == EIO || error == EBADF || error == ENOSYS;
}

/* Moves a file's ranges, and leaves in the first one's key what they hold. */
static int move_file(int fd, struct plan *plan, struct donor *donor, const struct volume *volume,
		     struct range *its, const struct range *end, struct moved *moved)
{
	uint32_t sum;
	int failed = 0;

	/* Also in O_DIRECT's way: what is not on the disk yet. */
	if (fdatasync(fd) || fcntl(fd, F_SETFL, O_DIRECT | O_NOATIME) || sum_up(fd, its, end, &sum)) {
		its->key = UNMOVED;
		plan->left_out.refused++;
		return 0;
	}
	its->key = sum;
	for (const struct range *range = its; range < end && !failed && !moved->stopped; range++)
		if (move_range(fd, donor, volume, range, moved))
			failed = errno;
	moved->files += !failed;
	plan->left_out.refused += failed != 0;
	if (!failed || !is_final(failed))
		return 0;
	complain(failed, "the kernel does not move blocks of ",
		 pack_file(volume->pack, its->file).path,
		 failed == EOPNOTSUPP || failed == ENOTTY || failed == EINVAL ?
			 "; it needs Linux 4.2, and ext4 with extents and without bigalloc" : "",
		 NULL);
	return -1;
}

/* Whether a moved file holds on the disk what it held; -1 after a complaint. */
static int check_file(const struct volume *volume, const struct range *its,
		      const struct range *end)
{
	struct pack_file file = pack_file(volume->pack, its->file);
	int fd = its->key == UNMOVED ? -1 : recorded_file(volume->top, volume->dev, &file, O_DIRECT);
	int failed = 0;
	uint32_t sum;

	/* Somebody else may have removed it meanwhile, or written to it. */
	if (fd < 0)
		return 0;
	if (sum_up(fd, its, end, &sum)) {
		complain(errno, "cannot read back ", file.path, NULL);
		failed = -1;
	} else if (sum != its->key) {
		close(fd);
		fd = recorded_file(volume->top, volume->dev, &file, O_RDONLY);
		if (fd >= 0) {
			complain(0, file.path, " is not what it was before it was moved: "
				 "restore it, and look after the disk", NULL);
			failed = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	return failed;
}

/* Moves files from `first` on, as many as are checked together, and checks them. Gives
 * where the next ones begin. */
static int move_some(struct plan *plan, struct donor *donor, const struct volume *volume,
		     uint32_t *first, struct moved *moved)
{
	uint64_t until = moved->bytes + CHECKED_TOGETHER;
	uint32_t at = *first, end;
	int failed = 0;

	for (; at < plan->count && !failed && !moved->stopped && moved->bytes < until; at = end) {
		struct range *its = &plan->ranges[at];
		int fd = plan_open_file(&plan->left_out, volume, its->file);

		end = plan_end_of_file(plan, at);
		its->key = UNMOVED;
		if (fd < 0)
			continue;
		failed = move_file(fd, plan, donor, volume, its, &plan->ranges[end], moved);
		close(fd);
	}
	if (syncfs(volume->top)) {
		complain(errno, "cannot write to the disk", NULL);
		failed = -1;
	}
	for (uint32_t of = *first; of < at; of = end) {
		end = plan_end_of_file(plan, of);
		failed |= check_file(volume, &plan->ranges[of], &plan->ranges[end]);
	}
	*first = at;
	return failed;
}

int move_all(struct plan *plan, const struct volume *volume, int donor_fd, struct moved *moved)
{
	struct donor donor = { .fd = donor_fd };
	uint32_t next = 0;

	memset(moved, 0, sizeof *moved);
	while (next < plan->count && !moved->stopped)
		if (move_some(plan, &donor, volume, &next, moved))
			return -1;
	return 0;
}

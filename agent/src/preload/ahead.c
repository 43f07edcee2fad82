/* What the kernel reads ahead comes into the page cache like what was asked for, and a
 * pack would have both: 102 MB where a boot needed 66. ext4 reads 128 KiB of inodes for
 * each that is asked for: 4.6 MB of metadata where a boot needed 2.2. */
#include "ahead.h"

#include <limits.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/procfs.h"
#include "keeper.h"
#include "mounts.h"

struct ahead {
	const char *place;
	long kib;
	int disk;        /* -1 if nothing was changed of it */
	long was;        /* in sectors of 512 bytes */
	dev_t dev;       /* of the file system */
	char inodes[16]; /* blocks of them, as ext4 says it; "" if nothing was changed */
};

static struct keeper keeper;

static const char *inodes_path(struct text *path, dev_t dev)
{
	put(path, "/sys/fs/ext4/");
	device_name(dev, path);
	put(path, "/inode_readahead_blks");
	return path->bytes;
}

static void limit_inodes(struct ahead *ahead, dev_t dev)
{
	TEXT(path, 96);

	inodes_path(&path, dev);
	if (!procfs_read(-1, path.bytes, ahead->inodes, sizeof ahead->inodes) ||
	    procfs_write(-1, path.bytes, "1"))
		*ahead->inodes = 0;
	ahead->dev = dev;
}

static void limit(void *what)
{
	struct ahead *ahead = what;
	struct stat stat;

	if (lstat(ahead->place, &stat))
		return;
	if (ahead->kib < LONG_MAX / 2)
		limit_inodes(ahead, stat.st_dev);
	ahead->disk = device_open(stat.st_dev).fd;
	if (ahead->disk < 0)
		return;
	if (ioctl(ahead->disk, BLKRAGET, &ahead->was) || ahead->was <= ahead->kib * 2 ||
	    ioctl(ahead->disk, BLKRASET, (unsigned long)ahead->kib * 2)) {
		close(ahead->disk);
		ahead->disk = -1;
	}
}

static void restore(void *what)
{
	struct ahead *ahead = what;
	TEXT(path, 96);

	if (*ahead->inodes)
		procfs_write(-1, inodes_path(&path, ahead->dev), ahead->inodes);
	if (ahead->disk >= 0)
		ioctl(ahead->disk, BLKRASET, (unsigned long)ahead->was);
}

void ahead_limit(const char *place, long kib)
{
	struct ahead ahead = { .place = place, .kib = kib, .disk = -1 };

	keeper_start(&keeper, limit, restore, &ahead);
}

void ahead_restore(void)
{
	keeper_end(&keeper);
}

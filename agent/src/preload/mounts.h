/* What is mounted, and the block devices below. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include "text.h"

struct mount {
	uint64_t dev; /* as the kernel has it: major << 20 | minor */
	const char *place;
	int is_btrfs;
};

/* Hands over every mount that may lie on a disk (or elsewhere than in memory). */
void mounts_each(void (*visit)(const struct mount *mount, void *context), void *context);

/* From now on mounts_each hands over only mounts of the file system at this place; -1 and
 * no limit if none that may lie on a disk is there, as below an overlay. */
int mounts_limit(const char *place);

/* Whether that is of a file system that is handed over: its files, and the pages of its
 * disk, which have the disk's number for an inode. */
int mounts_within(uint64_t dev, uint64_t ino);

/* What tells a file system from others: statfs's f_fsid, its first half low. */
uint64_t fs_id(const struct statfs *fs);

/* Puts the kernel's name of a block device behind the text; 0 if it has none. */
int device_name(dev_t dev, struct text *text);

/* Puts the place of a setting of a disk's queue behind the text; a partition has its disk's. */
void queue_path(struct text *path, dev_t dev, const char *name);

struct device {
	int fd;         /* -1 if it cannot be opened */
	int rotational; /* a place has a distance to another */
	uint32_t chunk; /* bytes that one call of readahead takes at most */
};

/* The block device below a file system, if there is one. */
struct device device_open(dev_t dev);

#endif

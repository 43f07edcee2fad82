#include "find.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cached.h"
#include "mounts.h"
#include "pack.h"
#include "text.h"
#include "walk.h"

/* The file system that is looked at. Paths on it are told from its top on. */
struct looking {
	struct touched *touched;
	const char *place;
	uint64_t dev, id;
	int top;
	uint32_t fs, type, left; /* fs is NONE as long as nothing has a name there */
};

/* With the inode's number and no generation: ext2, ext3, ext4, f2fs and squashfs take
 * that for any generation. Others refuse it, and are walked. */
#define INODE_HANDLE 1
/* Where they do, what they do not find is not there any more. */
#define EXT4 0xef53
#define F2FS 0xf2f52010
/* Its subvolumes share one device, and each has its own inode 257. */
#define BTRFS 0x9123683e
/* The size of a file that may be one of several. */
#define AMBIGUOUS UINT64_MAX

static void name_it(struct looking *at, uint32_t index, const char *path, size_t len,
		    const struct stat *stat)
{
	struct touched_file *file = &at->touched->files[index];
	uint32_t name = touched_name(at->touched, path, len);

	if (at->fs == NONE)
		at->fs = touched_fs(at->touched, at->id, at->type, at->place);
	if (name == NONE || at->fs == NONE)
		return;
	file->name = name;
	file->fs = at->fs;
	file->size = (uint64_t)stat->st_size;
	file->mtime = (uint64_t)stat->st_mtim.tv_sec * 1000000000 +
		      (uint64_t)stat->st_mtim.tv_nsec;
}

/* The path that the kernel remembers for an inode. Gives whether a walk may find more. */
static int name_by_handle(struct looking *at, uint32_t index)
{
	uint64_t ino = at->touched->files[index].ino;
	size_t skip = strlen(at->place);
	char path[4096];
	struct {
		struct file_handle head;
		uint32_t numbers[2];
	} handle = { .head = { .handle_bytes = 8, .handle_type = INODE_HANDLE },
		     .numbers = { (uint32_t)ino, 0 } };
	struct stat stat;
	ssize_t len;
	int fd, deleted;

	TEXT(link, 40);
	if (ino > UINT32_MAX)
		return 1;
	fd = open_by_handle_at(at->top, &handle.head, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno != ESTALE || (at->type != EXT4 && at->type != F2FS);
	put(&link, "/proc/self/fd/");
	put_number(&link, (uint64_t)fd);
	len = readlink(link.bytes, path, sizeof path - 1);
	deleted = !fstat(fd, &stat) && !stat.st_nlink;
	close(fd);
	if (deleted)
		return 0;
	if (len <= 0)
		return 1;
	path[len] = 0;
	/* "/" is a place that ends in a slash, others do not. */
	if (strncmp(path, at->place, skip))
		return 1;
	skip += path[skip] == '/';
	/* It may lie below another mount. */
	if (fstatat(at->top, path + skip, &stat, AT_SYMLINK_NOFOLLOW) || stat.st_ino != ino)
		return 1;
	if (S_ISREG(stat.st_mode))
		name_it(at, index, path + skip, strlen(path + skip), &stat);
	return 0;
}

/* Whether the inode's number is that of a file in another subvolume, too. */
static int is_ambiguous(const struct looking *at, struct touched_file *file)
{
	if (at->type != BTRFS)
		return 0;
	if (file->fs != NONE && at->touched->fs[file->fs].id != at->id) {
		file->fs = NONE;
		file->size = AMBIGUOUS;
	}
	return file->fs == NONE && file->size == AMBIGUOUS;
}

static int name_by_walk(const struct walked *walked, void *context)
{
	struct looking *at = context;
	uint32_t index = touched_find(at->touched, at->dev, walked->ino);
	struct stat stat;

	if (index != NONE && !is_ambiguous(at, &at->touched->files[index]) &&
	    at->touched->files[index].fs == NONE &&
	    !fstatat(walked->dir, walked->name, &stat, AT_SYMLINK_NOFOLLOW) &&
	    S_ISREG(stat.st_mode)) {
		name_it(at, index, walked->path, walked->path_len, &stat);
		at->left--;
	}
	/* Of subvolumes all are looked through. */
	return !at->left && at->type != BTRFS;
}

/* Whether that is what was mounted there, and no other file system has covered it since.
 * Those without a disk of their own have another number for each of their parts. */
static int is_of(const struct mount *mount, const struct stat *stat)
{
	uint64_t dev = (uint64_t)major(stat->st_dev) << 20 | minor(stat->st_dev);

	return !major(stat->st_dev) || dev == mount->dev;
}

/* Opens it; -1 if it cannot be looked at. */
static int look_at(struct looking *at, const struct mount *mount)
{
	struct statfs fs;
	struct stat stat;

	at->place = mount->place;
	at->dev = mount->dev;
	at->fs = NONE;
	at->top = open(mount->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at->top < 0)
		return -1;
	if (!fstatfs(at->top, &fs) && !fstat(at->top, &stat) && is_of(mount, &stat)) {
		at->type = (uint32_t)fs.f_type;
		at->id = fs_id(&fs);
		return 0;
	}
	close(at->top);
	return -1;
}

static void name_on_mount(const struct mount *mount, void *context)
{
	static const struct stat NOTHING;
	struct looking at = { .touched = context };
	uint32_t i, count = 0;

	/* Pages of a disk itself have the disk's number for an inode, on a file system
	 * of the kernel's own. */
	for (i = 0; i < at.touched->file_count; i++) {
		const struct touched_file *file = &at.touched->files[i];

		if ((file->fs == NONE || mount->is_btrfs) && (file->dev == mount->dev ||
					 (file->ino == mount->dev && file->dev < 1 << 20 &&
					  mount->dev >= 1 << 20)))
			count++;
	}
	if (!count || look_at(&at, mount))
		return;
	for (i = 0; i < at.touched->file_count; i++) {
		const struct touched_file *file = &at.touched->files[i];

		if (file->fs != NONE)
			continue;
		if (file->dev == mount->dev)
			at.left += name_by_handle(&at, i);
		else if (file->ino == mount->dev && file->dev < 1 << 20)
			name_it(&at, i, "", 0, &NOTHING);
	}
	if (at.left || at.type == BTRFS)
		walk(at.top, name_by_walk, &at);
	else
		close(at.top);
}

void find_names(struct touched *touched)
{
	mounts_each(name_on_mount, touched);
	for (uint32_t i = 0; i < touched->file_count; i++)
		touched->unnamed += touched->files[i].fs == NONE &&
				    mounts_within(touched->files[i].dev, touched->files[i].ino);
}

struct cached_file {
	struct looking *at;
	uint32_t index;
	uint64_t ino;
};

static void note_range(void *context, uint64_t start, uint64_t end)
{
	struct cached_file *file = context;

	if (file->index == NONE)
		file->index = touched_file(file->at->touched, file->at->dev, file->ino);
	touched_add(file->at->touched, file->index, start, end, 0);
}

static int note_cached(const struct walked *walked, void *context)
{
	struct cached_file file = { .at = context, .index = NONE, .ino = walked->ino };
	struct stat stat;
	int fd;

	file.index = touched_find(file.at->touched, file.at->dev, walked->ino);
	/* By another of its names. */
	if (file.index != NONE && file.at->touched->files[file.index].fs != NONE)
		return 0;
	if (fstatat(walked->dir, walked->name, &stat, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(stat.st_mode) || !stat.st_size)
		return 0;
	fd = openat(walked->dir, walked->name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
	if (fd < 0)
		return 0;
	cached_ranges(fd, (uint64_t)stat.st_size, note_range, &file);
	close(fd);
	if (file.index != NONE && file.at->touched->files[file.index].fs == NONE)
		name_it(file.at, file.index, walked->path, walked->path_len, &stat);
	return 0;
}

static void note_mount(const struct mount *mount, void *context)
{
	static const struct stat NOTHING;
	struct looking at = { .touched = context };
	struct cached_file disk = { .at = &at, .index = NONE };
	struct device device;
	struct stat stat;
	uint32_t known = touched_find(context, mount->dev, 0);

	/* It is mounted elsewhere, too. A disk is noted as inode 0, which no file has. */
	if (known != NONE || look_at(&at, mount))
		return;
	touched_file(context, mount->dev, 0);
	if (!fstat(at.top, &stat) && major(stat.st_dev)) {
		device = device_open(stat.st_dev);
		if (device.fd >= 0) {
			off_t size = lseek(device.fd, 0, SEEK_END);

			cached_ranges(device.fd, size > 0 ? (uint64_t)size : 0, note_range, &disk);
			close(device.fd);
		}
	}
	if (disk.index != NONE)
		name_it(&at, disk.index, "", 0, &NOTHING);
	walk(at.top, note_cached, &at);
}

void find_cached(struct touched *touched)
{
	touched->flags |= PACK_UNORDERED;
	mounts_each(note_mount, touched);
}

#include "mounts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/procfs.h"

#define CHUNK_MOST (1u << 20)
#define CHUNK_DEFAULT (128u << 10)

/* \040 for a blank and so on, in place. */
static void unescape(char *word)
{
	char *to = word;

	for (; *word; word++, to++) {
		if (word[0] == '\\' && word[1] && word[2] && word[3]) {
			*to = (char)((word[1] - '0') << 6 | (word[2] - '0') << 3 | (word[3] - '0'));
			word += 3;
		} else {
			*to = *word;
		}
	}
	*to = 0;
}

static int is_in_memory(const char *type)
{
	static const char TYPES[] = " tmpfs ramfs rootfs devtmpfs proc sysfs overlay tracefs "
				    "debugfs cgroup cgroup2 devpts mqueue securityfs bpf ";
	const char *found = strstr(TYPES, type);

	return found && found[-1] == ' ' && found[strlen(type)] == ' ';
}

static uint64_t only; /* the number of a device, or 0 for all */

void mounts_each(void (*visit)(const struct mount *mount, void *context), void *context)
{
	static char table[512 << 10];
	char *rest = table, *line;

	if (procfs_read(-1, "/proc/self/mountinfo", table, sizeof table) == sizeof table - 1)
		complain(0, "there are too many mounts to look at all of them", NULL);
	while ((line = strsep(&rest, "\n"))) {
		/* id parent major:minor root place options [tags] - type source ... */
		char *type = strstr(line, " - "), *words[5];
		const char *number;
		struct mount mount;
		int i;

		if (!type)
			continue;
		*type = 0;
		type += 3;
		type[strcspn(type, " ")] = 0;
		for (i = 0; i < 5; i++)
			if (!(words[i] = strsep(&line, " ")))
				break;
		if (i < 5 || is_in_memory(type))
			continue;
		number = words[2];
		mount.dev = procfs_number(&number) << 20;
		number += *number == ':';
		mount.dev |= procfs_number(&number);
		unescape(words[4]);
		mount.place = words[4];
		mount.is_btrfs = !strcmp(type, "btrfs");
		if (!only || mount.dev == only)
			visit(&mount, context);
	}
}

/* The mount that a place lies on, so far. */
struct nearest {
	const char *place;
	size_t len; /* of the mount's own place */
	uint64_t dev;
};

static void see_if_nearer(const struct mount *mount, void *context)
{
	struct nearest *nearest = context;
	size_t len = strlen(mount->place);

	if (len > 1 && (strncmp(nearest->place, mount->place, len) ||
			(nearest->place[len] && nearest->place[len] != '/')))
		return;
	/* What was mounted later lies over what was there before. */
	if (len >= nearest->len) {
		nearest->len = len;
		nearest->dev = mount->dev;
	}
}

int mounts_limit(const char *place)
{
	struct nearest nearest = { .place = place };
	struct stat stat;
	uint64_t dev;

	only = 0;
	mounts_each(see_if_nearer, &nearest);
	if (!nearest.dev || lstat(place, &stat))
		return -1;
	/* A file system in memory may lie between; btrfs has a number for each subvolume. */
	dev = (uint64_t)major(stat.st_dev) << 20 | minor(stat.st_dev);
	if (major(stat.st_dev) && dev != nearest.dev)
		return -1;
	only = nearest.dev;
	return 0;
}

int mounts_within(uint64_t dev, uint64_t ino)
{
	return !only || dev == only || (dev < 1 << 20 && ino == only);
}

uint64_t fs_id(const struct statfs *fs)
{
	uint32_t halves[2];

	memcpy(halves, &fs->f_fsid, sizeof halves);
	return halves[0] | (uint64_t)halves[1] << 32;
}

void queue_path(struct text *path, dev_t dev, const char *name)
{
	size_t len = path->len;

	for (int of_disk = 0; of_disk < 2; of_disk++) {
		path->len = len;
		put(path, "/sys/dev/block/");
		put_number(path, major(dev));
		put(path, ":");
		put_number(path, minor(dev));
		put(path, of_disk ? "/../queue/" : "/queue/");
		put(path, name);
		if (!access(path->bytes, F_OK))
			return;
	}
}

static int64_t queue_number(dev_t dev, const char *name, int64_t otherwise)
{
	char number[24];
	const char *at = number;

	TEXT(path, 96);
	queue_path(&path, dev, name);
	if (!procfs_read(-1, path.bytes, number, sizeof number))
		return otherwise;
	return (int64_t)procfs_number(&at);
}

int device_name(dev_t dev, struct text *text)
{
	TEXT(path, 96);
	char target[256];
	const char *name;
	ssize_t n;

	put(&path, "/sys/dev/block/");
	put_number(&path, major(dev));
	put(&path, ":");
	put_number(&path, minor(dev));
	n = readlink(path.bytes, target, sizeof target - 1);
	if (n < 0)
		return 0;
	target[n] = 0;
	name = strrchr(target, '/');
	put(text, name ? name + 1 : target);
	return 1;
}

static int open_node(const char *path, dev_t dev)
{
	struct stat stat;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, &stat) || !S_ISBLK(stat.st_mode) || stat.st_rdev != dev)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Its node in /dev, or one of our own where there is no /dev yet. */
static int open_block(dev_t dev)
{
	TEXT(path, 96);
	char uevent[512];
	const char *name;
	int fd = -1;

	put(&path, "/sys/dev/block/");
	put_number(&path, major(dev));
	put(&path, ":");
	put_number(&path, minor(dev));
	put(&path, "/uevent");
	procfs_read(-1, path.bytes, uevent, sizeof uevent);
	name = procfs_line(uevent, "DEVNAME=");
	if (name) {
		TEXT(node, 96);

		put(&node, "/dev/");
		put_bytes(&node, name, strcspn(name, "\n"));
		fd = open_node(node.bytes, dev);
	}
	if (fd < 0 && major(dev) && !mknod("/dev/.bootlap-disk", S_IFBLK | 0400, dev)) {
		fd = open_node("/dev/.bootlap-disk", dev);
		unlink("/dev/.bootlap-disk");
	}
	return fd;
}

/* A virtual machine's disks say that they rotate, whatever they lie on. */
static int is_virtual(dev_t dev)
{
	TEXT(name, 64);
	device_name(dev, &name);
	return !strncmp(name.bytes, "vd", 2) || !strncmp(name.bytes, "xvd", 3);
}

struct device device_open(dev_t dev)
{
	struct device device = { .fd = open_block(dev), .chunk = CHUNK_DEFAULT };
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	int64_t ahead = queue_number(dev, "read_ahead_kb", 0);
	int64_t most = queue_number(dev, "max_sectors_kb", 0);

	device.rotational = queue_number(dev, "rotational", 0) != 0 && !is_virtual(dev);
	/* One call takes the larger of both and leaves out the rest without a word. */
	if (ahead < most)
		ahead = most;
	if (ahead)
		device.chunk = ahead < CHUNK_MOST >> 10 ? (uint32_t)ahead << 10 : CHUNK_MOST;
	/* Whole pages, and at least one. */
	device.chunk -= device.chunk % page;
	if (!device.chunk)
		device.chunk = page;
	return device;
}

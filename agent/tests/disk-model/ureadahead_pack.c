/* What a pack says, as ureadahead would have recorded it: so that ureadahead itself can
 * read ahead what bootlap-agent does. For scripts/table-preload.
 *
 *   ureadahead_pack make PACK PLACE OUT    of the files of the file system at PLACE
 *   ureadahead_pack device OUT PLACE       that file system is on another device now
 *
 * ureadahead's pack is a dump of the machine's own types, each list with its length
 * (size_t) in front:
 *
 *	"ura", 2 (the version), 1 if the disk is rotational or 0, three zeros
 *	dev_t of the file system, time_t of the recording
 *	int[]		groups of inodes that are read first
 *	struct path[]	the files
 *	struct block[]	what of them was in the page cache at the end of the recording
 *
 * For a disk that is not rotational, all is in the order of the first use, a file's blocks
 * together. For one that is, blocks are cut where the file is in pieces on the disk and
 * sorted by their place there, paths by group and inode (nearly: by_group), and the
 * groups are those of ext4 with more than 8 of the files' inodes.
 *
 * What ureadahead 0.100.2 records itself of the same reads (--force-trace, Linux 6.18) is
 * the same files in the same order, and up to 51 of their 7149 pages less, others each
 * time. */

#include <fcntl.h>
#include <linux/fiemap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/fiemap.h"
#include "preload/mounts.h"
#include "preload/pack.h"

#define GROUP_WORTH_READING 8

struct path {
	int group; /* -1 if that is not known */
	ino_t ino;
	char path[256];
};

struct block {
	size_t path;
	off_t offset, length;
	off_t physical; /* -1 where the disk is not rotational */
};

struct head {
	unsigned char magic[4], rotational, zero[3];
	dev_t dev;
	time_t made;
};

struct range {
	uint64_t start, end;
};

static struct pack pack;
static struct path *paths;
static struct block *blocks;
static size_t path_count, block_count, block_room;
static int *groups;
static size_t group_count;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void *room_for(void *old, size_t count, size_t size)
{
	void *room = reallocarray(old, count ? count : 1, size);

	if (!room)
		exit(fail("ureadahead_pack: memory"));
	return room;
}

static void add_block(uint64_t start, uint64_t length, off_t physical)
{
	if (block_count == block_room)
		blocks = room_for(blocks, block_room = 2 * block_room + 1024, sizeof *blocks);
	blocks[block_count++] = (struct block){ path_count, (off_t)start, (off_t)length, physical };
}

static void add_place(const struct place *place, void *context)
{
	(void)context;
	if (!(place->flags & FIEMAP_EXTENT_UNKNOWN))
		add_block(place->start, place->length, (off_t)place->at);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_physical(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->physical < y->physical ? -1 : x->physical > y->physical;
}

/* ureadahead looks at inodes one way only: if the first is not the smaller one, names
 * decide. That is no order, but what a sort makes of it is what ureadahead replays. */
static int by_group(const void *a, const void *b)
{
	const struct path *x = *(struct path *const *)a, *y = *(struct path *const *)b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->ino < y->ino ? -1 : strcmp(x->path, y->path);
}

/* The file's pages that were read, in the order of the file: neighbours are one block,
 * whenever each was read. */
static void add_file(uint32_t index, const char *place, int rotational)
{
	static struct range *ranges;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct pack_file file = pack_file(&pack, index);
	struct path *path = &paths[path_count];
	size_t count = 0;
	int fd;

	if (!*file.path || strcmp(pack_fs(&pack, file.fs).place, place))
		return;
	*path = (struct path){ .group = -1, .ino = file.ino };
	if ((size_t)snprintf(path->path, sizeof path->path, "%s/%s", place, file.path) >=
	    sizeof path->path)
		return;
	fd = open(path->path, O_RDONLY | O_NOATIME);
	if (fd < 0) {
		perror(path->path);
		return;
	}
	ranges = room_for(ranges, pack.extent_count, sizeof *ranges);
	for (uint32_t i = 0; i < pack.extent_count; i++) {
		struct pack_extent extent = pack_extent(&pack, i);

		if (extent.file == index)
			ranges[count++] = (struct range){
				extent.start / page * page,
				(extent.start + extent.length + page - 1) / page * page };
	}
	qsort(ranges, count, sizeof *ranges, by_start);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && ranges[next].start <= ranges[i].end; next++)
			if (ranges[next].end > ranges[i].end)
				ranges[i].end = ranges[next].end;
		if (rotational)
			places_each(fd, ranges[i].start, ranges[i].end, 0, add_place, NULL);
		else
			add_block(ranges[i].start, ranges[i].end - ranges[i].start, -1);
	}
	close(fd);
	path_count++;
}

static uint32_t le32(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Which of ext4's groups the inodes are in, and which have enough of them. */
static void find_groups(int disk)
{
	unsigned char super[1024];
	uint32_t per_group, all, *hits;

	if (pread(disk, super, sizeof super, 1024) != sizeof super ||
	    super[56] != 0x53 || super[57] != 0xef || !(per_group = le32(super + 40)))
		return;
	all = le32(super) / per_group; /* inodes ÷ inodes of a group */
	hits = calloc(all, sizeof *hits);
	groups = room_for(NULL, all, sizeof *groups);
	for (size_t i = 0; hits && i < path_count; i++) {
		uint64_t group = (paths[i].ino - 1) / per_group;

		paths[i].group = (int)group;
		if (group < all)
			hits[group]++;
	}
	for (uint32_t i = 0; hits && i < all; i++)
		if (hits[i] > GROUP_WORTH_READING)
			groups[group_count++] = (int)i;
	free(hits);
}

/* Paths change their places, and blocks point to them. */
static void sort_for_a_head(void)
{
	struct path **order = room_for(NULL, path_count, sizeof *order);
	struct path *sorted = room_for(NULL, path_count, sizeof *sorted);
	size_t *now_at = room_for(NULL, path_count, sizeof *now_at);

	for (size_t i = 0; i < path_count; i++)
		order[i] = &paths[i];
	qsort(order, path_count, sizeof *order, by_group);
	for (size_t i = 0; i < path_count; i++) {
		sorted[i] = *order[i];
		now_at[order[i] - paths] = i;
	}
	for (size_t i = 0; i < block_count; i++)
		blocks[i].path = now_at[blocks[i].path];
	qsort(blocks, block_count, sizeof *blocks, by_physical);
	free(now_at);
	free(order);
	free(paths);
	paths = sorted;
}

static int put_list(FILE *out, const void *list, size_t count, size_t size)
{
	return fwrite(&count, sizeof count, 1, out) == 1 &&
	       fwrite(list, size, count, out) == count;
}

static int make(const char *from, const char *place, const char *to)
{
	struct head head = { .magic = { 'u', 'r', 'a', 2 }, .made = time(NULL) };
	struct stat stat_of;
	struct device device;
	FILE *out;

	if (pack_read(&pack, from))
		return 1;
	if (stat(place, &stat_of))
		return fail(place);
	device = device_open(stat_of.st_dev);
	if (device.fd < 0)
		return fail("ureadahead_pack: the disk");
	head.dev = stat_of.st_dev;
	head.rotational = device.rotational != 0;
	paths = room_for(NULL, pack.file_count, sizeof *paths);
	for (uint32_t i = 0; i < pack.file_count; i++)
		add_file(i, place, head.rotational);
	if (head.rotational) {
		find_groups(device.fd);
		sort_for_a_head();
	}
	out = fopen(to, "w");
	if (!out || fwrite(&head, sizeof head, 1, out) != 1 ||
	    !put_list(out, groups, group_count, sizeof *groups) ||
	    !put_list(out, paths, path_count, sizeof *paths) ||
	    !put_list(out, blocks, block_count, sizeof *blocks) || fclose(out))
		return fail(to);
	return 0;
}

static int set_device(const char *of, const char *place)
{
	struct stat stat_of;
	int fd = open(of, O_WRONLY);

	if (fd < 0 || stat(place, &stat_of) ||
	    pwrite(fd, &stat_of.st_dev, sizeof stat_of.st_dev, offsetof(struct head, dev)) !=
		    sizeof stat_of.st_dev)
		return fail(of);
	return close(fd) ? fail(of) : 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "device"))
		return set_device(argv[2], argv[3]);
	fputs("usage: ureadahead_pack make PACK PLACE OUT | device OUT PLACE\n", stderr);
	return 2;
}

/* Other ways to read ahead what a pack says, and the boot that uses it. For
 * scripts/table-preload.
 *
 *   strategies STRATEGY PACK PLACE [OTHER]
 *
 * boot         uses the extents of the file system at PLACE one after the other, each
 *              file opened at its first use, in pieces of 128 KiB as the kernel's readahead has
 *              them; with OTHER that is where the file system is now
 * trace-order  readahead of them in the order of the recording, by 4 processes with
 *              idle priority: ureadahead's strategy for solid disks
 * place-order  its strategy for hard disks: first the inode tables of the groups of
 *              which at least 8 inodes are needed, then all files opened in the order
 *              of the recording, then their data sorted by its place on the disk, in
 *              pieces of 128 KiB, with real-time priority
 * bytes        prints how many files, bytes of them and of metadata that is
 * paths        prints the files in the order of their first use
 * only         writes a pack to OTHER of what is on that file system */

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/mounts.h"
#include "preload/pack.h"

#define PIECE (128u << 10)

static struct pack pack;
static const char *place, *now_at;
static int *fds;

struct piece {
	uint64_t key, start, end;
	uint32_t file;
};

static int is_here(const struct pack_file *file)
{
	return *file->path && !strcmp(pack_fs(&pack, file->fs).place, place);
}

static int open_file(uint32_t index)
{
	struct pack_file file = pack_file(&pack, index);
	char path[4096];

	if (fds[index] < 0 && is_here(&file)) {
		snprintf(path, sizeof path, "%s/%s", now_at, file.path);
		fds[index] = open(path, O_RDONLY | O_NOATIME);
	}
	return fds[index];
}

static void ahead(int fd, uint64_t start, uint64_t end)
{
	for (; start < end; start += PIECE)
		readahead(fd, (off_t)start, end - start < PIECE ? end - start : PIECE);
}

static void boot(void)
{
	static char data[PIECE];

	for (uint32_t i = 0; i < pack.extent_count; i++) {
		struct pack_extent extent = pack_extent(&pack, i);
		uint64_t end = extent.start + extent.length;
		int fresh = fds[extent.file] < 0, fd = open_file(extent.file);

		if (fd < 0)
			continue;
		if (fresh)
			posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		for (uint64_t at = extent.start; at < end; at += sizeof data)
			if (pread(fd, data, end - at < sizeof data ? end - at : sizeof data,
				  (off_t)at) < 0)
				perror("strategies: read");
	}
}

static void trace_order(void)
{
	uint32_t *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	int child = 0;

	syscall(SYS_ioprio_set, 1, 0, 3 << 13);
	while (child < 4 && fork())
		child++;
	if (child == 4) {
		while (wait(NULL) > 0)
			;
		return;
	}
	for (;;) {
		uint32_t i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
		struct pack_extent extent;

		if (i >= pack.extent_count)
			_exit(0);
		extent = pack_extent(&pack, i);
		if (open_file(extent.file) >= 0)
			ahead(fds[extent.file], extent.start, extent.start + extent.length);
	}
}

static uint32_t le32(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* As libext2fs would: the inode tables of the groups with at least 8 hits. */
static void inode_tables(int disk)
{
	static unsigned hits[4096];
	unsigned char super[1024], group[64];
	uint32_t block, per_group, inode_size, desc_size, first;

	if (pread(disk, super, sizeof super, 1024) != sizeof super)
		return;
	block = 1024u << le32(super + 24);
	per_group = le32(super + 40);
	inode_size = le32(super + 88) & 0xffff;
	desc_size = le32(super + 96) & 0x80 ? le32(super + 254) & 0xffff : 32;
	first = le32(super + 20);
	for (uint32_t i = 0; i < pack.file_count; i++) {
		struct pack_file file = pack_file(&pack, i);

		if (is_here(&file) && (file.ino - 1) / per_group < 4096)
			hits[(file.ino - 1) / per_group]++;
	}
	for (uint32_t i = 0; i < 4096; i++) {
		uint64_t table;

		if (hits[i] < 8 ||
		    pread(disk, group, 32, (off_t)(first + 1) * block + (off_t)i * desc_size) != 32)
			continue;
		table = (uint64_t)le32(group + 8) * block;
		ahead(disk, table, table + (uint64_t)per_group * inode_size);
	}
}

static int by_key(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t physical(int fd, uint64_t start, uint64_t end)
{
	struct {
		struct fiemap map;
		struct fiemap_extent extent;
	} place_of = { .map = { .fm_start = start, .fm_length = end - start,
				.fm_extent_count = 1 } };

	if (ioctl(fd, FS_IOC_FIEMAP, &place_of) || !place_of.map.fm_mapped_extents)
		return 0;
	return place_of.extent.fe_physical + start - place_of.extent.fe_logical;
}

static void place_order(void)
{
	struct piece *pieces = calloc(pack.extent_count, sizeof *pieces);
	struct device device;
	struct stat stat_of;
	uint32_t i, count = 0;

	syscall(SYS_ioprio_set, 1, 0, 1 << 13);
	if (stat(place, &stat_of))
		return;
	device = device_open(stat_of.st_dev);
	inode_tables(device.fd);
	for (i = 0; i < pack.file_count; i++)
		open_file(i);
	for (i = 0; i < pack.extent_count; i++) {
		struct pack_extent extent = pack_extent(&pack, i);
		uint64_t end = extent.start + extent.length;

		if (fds[extent.file] < 0)
			continue;
		pieces[count++] = (struct piece){ physical(fds[extent.file], extent.start, end),
						  extent.start, end, extent.file };
	}
	qsort(pieces, count, sizeof *pieces, by_key);
	for (i = 0; i < count; i++)
		ahead(fds[pieces[i].file], pieces[i].start, pieces[i].end);
}

static void count_bytes(void)
{
	unsigned long files = 0, data = 0, metadata = 0;

	for (uint32_t i = 0; i < pack.file_count; i++) {
		struct pack_file file = pack_file(&pack, i);

		files += is_here(&file);
	}
	for (uint32_t i = 0; i < pack.extent_count; i++) {
		struct pack_extent extent = pack_extent(&pack, i);
		struct pack_file file = pack_file(&pack, extent.file);

		if (strcmp(pack_fs(&pack, file.fs).place, place))
			continue;
		*(*file.path ? &data : &metadata) += extent.length;
	}
	printf("%lu %lu %lu\n", files, data, metadata);
}

/* The files that are used, in the order of their first use. */
static void print_paths(void)
{
	for (uint32_t i = 0; i < pack.file_count; i++) {
		struct pack_file file = pack_file(&pack, i);

		if (*file.path)
			printf("%s\n", file.path);
	}
}

/* Leaves only what is of the file system, under another path. */
static int only(const char *out)
{
	static struct touched touched;

	if (touched_open(&touched))
		return 1;
	pack_take(&pack, &touched);
	for (uint32_t i = 0; i < touched.file_count; i++)
		if (touched.files[i].fs != NONE &&
		    strcmp(touched.names + touched.fs[touched.files[i].fs].place, place))
			touched.files[i].fs = NONE;
	return pack_write(out, &touched) != 0;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 1 << 16, 1 << 16 };

	if (argc < 4 || pack_read(&pack, argv[2]))
		return 2;
	place = argv[3];
	now_at = argc > 4 ? argv[4] : place;
	fds = malloc(pack.file_count * sizeof *fds);
	memset(fds, -1, pack.file_count * sizeof *fds);
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!strcmp(argv[1], "boot"))
		boot();
	else if (!strcmp(argv[1], "trace-order"))
		trace_order();
	else if (!strcmp(argv[1], "place-order"))
		place_order();
	else if (!strcmp(argv[1], "bytes"))
		count_bytes();
	else if (!strcmp(argv[1], "paths"))
		print_paths();
	else if (!strcmp(argv[1], "only"))
		return only(now_at);
	else
		return 2;
	return 0;
}

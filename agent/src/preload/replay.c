/* A file system at a time, in two phases. First its metadata, which the block device
 * has in few large pieces; then files can be opened without waiting for the disk. Then
 * their data, in the order of the places: a head moves once over the disk, and where
 * there is none, neighbours become one request. Readahead does not wait for the disk,
 * so one process is enough for most. */

#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collect/now.h"
#include "collect/procfs.h"
#include "load.h"
#include "mounts.h"
#include "text.h"

/* Reading on costs less than a second request, and much less than a seek. */
#define GAP (16u << 10)
#define GAP_ROTATIONAL (256u << 10)

static const struct replay *replay;
static const struct pack *pack;
static uint64_t metadata; /* bytes of it that were loaded */
static uint32_t files, changed, missing;

static uint32_t gap_of(const struct device *device)
{
	return device->rotational ? GAP_ROTATIONAL : GAP;
}

static void load_metadata(uint32_t fs, const struct device *device)
{
	uint64_t before = loading.total.loaded;

	if (device->fd < 0)
		return;
	loading.item_count = 0;
	for (uint32_t i = 0; i < pack->extent_count; i++) {
		struct pack_extent extent = pack_extent(pack, i);
		struct pack_file file = pack_file(pack, extent.file);

		if (file.fs != fs || *file.path)
			continue;
		loading.fds[extent.file] = device->fd;
		load_add(extent.file, extent.start, extent.length, extent.start);
	}
	loading.item_count = load_coalesce(loading.items, loading.item_count, gap_of(device));
	load_all(1, device->chunk);
	metadata += loading.total.loaded - before;
}

/* Opens the file if it is still the one that was recorded. What is no regular file is
 * never opened: with a device that alone may do something. */
static int open_same(int top, dev_t dev, const struct pack_file *file)
{
	struct stat stat;
	int fd = -1;

	for (int opened = 0;; opened = 1) {
		if (opened ? fstat(fd, &stat) :
			     fstatat(top, file->path, &stat, AT_SYMLINK_NOFOLLOW)) {
			missing++;
			return -1;
		}
		if (!S_ISREG(stat.st_mode) || stat.st_dev != dev || stat.st_ino != file->ino ||
		    (uint64_t)stat.st_size != file->size ||
		    (uint64_t)stat.st_mtim.tv_sec * 1000000000 + (uint64_t)stat.st_mtim.tv_nsec !=
			    file->mtime) {
			changed++;
			if (opened)
				close(fd);
			return -1;
		}
		if (opened)
			return fd;
		fd = openat(top, file->path,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_NOCTTY | O_CLOEXEC);
		if (fd < 0) {
			missing++;
			return -1;
		}
	}
}

/* By inode where the disk has a head: inodes lie on it in their order, and on file
 * systems whose metadata the device does not have, opening reads them. */
static void open_files(uint32_t fs, int top, dev_t dev, int by_inode)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pack->file_count; i++) {
		struct pack_file file = pack_file(pack, i);

		if (file.fs == fs && *file.path)
			loading.items[count++] = (struct item){ .key = by_inode ? file.ino : i, .file = i };
	}
	sort(loading.items, count, sizeof *loading.items);
	for (uint32_t i = 0; i < count; i++) {
		struct pack_file file = pack_file(pack, loading.items[i].file);

		if (load_is_late()) {
			loading.total.late = 1;
			return;
		}
		loading.fds[loading.items[i].file] = open_same(top, dev, &file);
		files += loading.fds[loading.items[i].file] >= 0;
	}
}

/* An item for each piece of the disk that the extent lies on; one for all of it where
 * the file system does not tell. */
static void add_places(const struct pack_extent *extent)
{
	static union {
		struct fiemap map;
		unsigned char room[sizeof(struct fiemap) + 64 * sizeof(struct fiemap_extent)];
	} places;
	uint64_t start = extent->start, end = start + extent->length;

	while (start < end) {
		uint64_t from = start;

		memset(&places.map, 0, sizeof places.map);
		places.map.fm_start = start;
		places.map.fm_length = end - start;
		places.map.fm_extent_count = 64;
		if (ioctl(loading.fds[extent->file], FS_IOC_FIEMAP, &places.map) ||
		    !places.map.fm_mapped_extents) {
			load_add(extent->file, start, end - start, 0);
			return;
		}
		for (uint32_t i = 0; i < places.map.fm_mapped_extents && start < end; i++) {
			const struct fiemap_extent *place = &places.map.fm_extents[i];
			uint64_t its_end = place->fe_logical + place->fe_length;

			/* Holes are not read. */
			if (place->fe_logical > start)
				start = place->fe_logical;
			if (its_end > end)
				its_end = end;
			if (its_end <= start)
				continue;
			load_add(extent->file, start, its_end - start,
				 place->fe_physical + (start - place->fe_logical));
			start = its_end;
			if (place->fe_flags & FIEMAP_EXTENT_LAST)
				start = end;
		}
		if (start == from)
			return;
	}
}

static void load_data(uint32_t fs, const struct device *device, int by_place)
{
	loading.item_count = 0;
	for (uint32_t i = 0; i < pack->extent_count; i++) {
		struct pack_extent extent = pack_extent(pack, i);
		struct pack_file file = pack_file(pack, extent.file);

		if (file.fs != fs || !*file.path || loading.fds[extent.file] < 0)
			continue;
		if (by_place)
			add_places(&extent);
		else
			load_add(extent.file, extent.start, extent.length, 0);
	}
	if (by_place)
		loading.item_count = load_coalesce(loading.items, loading.item_count, gap_of(device));
	load_all(replay->threads ? (unsigned)replay->threads : 1, device->chunk);
}

static void replay_fs(uint32_t index)
{
	struct pack_fs fs = pack_fs(pack, index);
	struct device device;
	struct statfs found;
	struct stat stat;
	int top, by_place = !replay->by_time || (pack->flags & PACK_UNORDERED);

	TEXT(place, 4096);
	put(&place, replay->root);
	put(&place, fs.place);
	top = open(place.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 || fstat(top, &stat) || fstatfs(top, &found) ||
	    (uint32_t)found.f_type != fs.type || (fs.id && fs_id(&found) != fs.id)) {
		complain(top < 0 ? errno : 0, "another file system than recorded is at ",
			 place.bytes, NULL);
		if (top >= 0)
			close(top);
		return;
	}
	device = device_open(stat.st_dev);
	load_metadata(index, &device);
	open_files(index, top, stat.st_dev, by_place);
	load_data(index, &device, by_place);
	for (uint32_t i = 0; i < pack->file_count; i++)
		if (loading.fds[i] >= 0 && loading.fds[i] != device.fd)
			close(loading.fds[i]);
	memset(loading.fds, -1, pack->file_count * sizeof *loading.fds);
	if (device.fd >= 0)
		close(device.fd);
	close(top);
}

/* Half of the memory that can be had. */
static uint64_t memory(void)
{
	char bytes[2048];
	const char *line;

	procfs_read(-1, "/proc/meminfo", bytes, sizeof bytes);
	line = procfs_line(bytes, "MemAvailable:");
	return line ? procfs_number(&line) * 512 : UINT64_MAX;
}

static void put_kib(struct text *report, const char *before, uint64_t bytes, const char *behind)
{
	put(report, before);
	put_number(report, bytes >> 10);
	put(report, behind);
}

static void put_count(struct text *report, uint32_t count, const char *of)
{
	if (count) {
		put(report, ", ");
		put_number(report, count);
		put(report, of);
	}
}

static void put_report(struct text *report, uint64_t ns)
{
	put_number(report, files);
	put_kib(report, " files, ", loading.total.asked, " KiB: ");
	if (loading.total.unknown)
		put(report, "how much was there is unknown");
	else {
		put_kib(report, "", loading.total.there, " KiB were there, ");
		put_kib(report, "", loading.total.loaded, " KiB loaded (");
		put_kib(report, "metadata ", metadata, " KiB)");
	}
	put_count(report, changed, " files have changed");
	put_count(report, missing, " files are gone");
	put_count(report, loading.total.errors, " were refused");
	put(report, loading.total.full ? ", more would not fit into memory" : "");
	put(report, loading.total.late ? ", stopped at the deadline" : "");
	put(report, "; ");
	put_number(report, ns / 1000000);
	put(report, " ms");
}

void replay_pack(const struct replay *asked, const struct pack *of, struct text *report)
{
	struct rlimit limit = { of->file_count + 64, of->file_count + 64 };
	uint64_t start = now_ns();

	if (load_open(of->file_count)) {
		complain(errno, "there is no memory to replay a pack", NULL);
		return;
	}
	replay = asked;
	pack = of;
	metadata = 0;
	files = changed = missing = 0;
	loading.look_only = asked->look_only;
	loading.deadline = asked->deadline_ms ? start + (uint64_t)asked->deadline_ms * 1000000 : 0;
	loading.budget = memory();
	/* All files are open at the same time; where that cannot be, some are left out. */
	prlimit(0, RLIMIT_NOFILE, &limit, NULL);
	for (uint32_t i = 0; i < of->fs_count && !load_is_late(); i++)
		replay_fs(i);
	put_report(report, now_ns() - start);
	load_close();
}

/* A file system at a time, in two phases. First its metadata, which the block device
 * has in few large pieces; then files can be opened without waiting for the disk. Then
 * their data, in the order of the places: neighbours become one request. Readahead does
 * not wait for the disk, so one process is enough for most.
 *
 * A head moves once over the disk so. Where there is none, the boot may have what it needs
 * first while the rest is read: both phases go by windows of the recording. The next
 * window's metadata is asked for in front of this one's data, or opening would wait for
 * all of that. */

#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "collect/now.h"
#include "collect/procfs.h"
#include "fiemap.h"
#include "load.h"
#include "mounts.h"
#include "recorded.h"
#include "text.h"

/* Reading on costs less than a second request, and much less than a seek. */
#define GAP (16u << 10)
#define GAP_ROTATIONAL (256u << 10)

/* A card reads so much in 13 ms: with 1 MiB a boot from one is ready 1 to 2 % later. */
#define WINDOW (256u << 10)

/* Of a file that is not open: not yet, or not to be. */
#define CLOSED (-1)
#define REFUSED (-2)

static const struct replay *replay;
static const struct pack *pack;
static uint64_t metadata; /* bytes of it that were loaded */
static uint32_t files, changed, missing, refused;

static uint32_t gap_of(const struct device *device)
{
	return device->rotational ? GAP_ROTATIONAL : GAP;
}

/* Where the window ends that begins with this extent. */
static uint32_t window_end(uint32_t begin, uint32_t window)
{
	uint32_t bytes = 0;

	for (; begin < pack->extent_count && bytes < window; begin++) {
		uint32_t length = pack_extent(pack, begin).length;

		bytes += length < window - bytes ? length : window - bytes;
	}
	return begin;
}

static void load_metadata(uint32_t fs, const struct device *device, uint32_t begin, uint32_t end)
{
	uint64_t before = loading.total.loaded;

	if (device->fd < 0)
		return;
	loading.item_count = 0;
	for (uint32_t i = begin; i < end; i++) {
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

static void open_file(int top, dev_t dev, uint32_t index)
{
	struct pack_file file = pack_file(pack, index);
	int fd = recorded_file(top, dev, &file, O_RDONLY);

	loading.fds[index] = fd < 0 ? REFUSED : fd;
	files += fd >= 0;
	missing += fd == RECORDED_MISSING;
	changed += fd == RECORDED_CHANGED;
	refused += fd == RECORDED_REFUSED;
}

/* By inode where the disk has a head: inodes lie on it in their order, and on file
 * systems whose metadata the device does not have, opening reads them. */
static void open_files(uint32_t fs, int top, dev_t dev, int by_inode, uint32_t begin, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t index = pack_extent(pack, i).file;
		struct pack_file file = pack_file(pack, index);

		if (file.fs == fs && *file.path && loading.fds[index] == CLOSED)
			loading.items[count++] = (struct item){ .key = by_inode ? file.ino : i,
								.file = index };
	}
	sort(loading.items, count, sizeof *loading.items);
	for (uint32_t i = 0; i < count; i++) {
		if (load_is_late()) {
			loading.total.late = 1;
			return;
		}
		/* It may have several extents. */
		if (loading.fds[loading.items[i].file] == CLOSED)
			open_file(top, dev, loading.items[i].file);
	}
}

static void add_place(const struct place *place, void *context)
{
	const struct pack_extent *extent = context;

	load_add(extent->file, place->start, place->length, place->at);
}

/* An item for each piece of the disk that the extent lies on; one for all of it where
 * the file system does not tell. */
static void add_places(struct pack_extent *extent)
{
	uint64_t end = extent->start + extent->length;
	uint64_t told = places_each(loading.fds[extent->file], extent->start, end, 0, add_place,
				    extent);

	load_add(extent->file, told, end - told, 0);
}

static void load_data(uint32_t fs, const struct device *device, int by_place, uint32_t begin,
		      uint32_t end)
{
	loading.item_count = 0;
	for (uint32_t i = begin; i < end; i++) {
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
	dev_t dev;
	int top = recorded_fs(replay->root, &fs, &dev);
	int ordered = !(pack->flags & PACK_UNORDERED), by_place = !replay->by_time || !ordered;
	uint32_t window, end;

	if (top < 0)
		return;
	if (!replay->look_only)
		queue_change(dev, &replay->queue);
	device = device_open(dev);
	window = ordered && !device.rotational ? WINDOW : UINT32_MAX;
	end = window_end(0, window);
	load_metadata(index, &device, 0, end);
	for (uint32_t begin = 0; begin < pack->extent_count;) {
		uint32_t next = window_end(end, window);

		if (load_is_late() || load_is_needless())
			break;
		open_files(index, top, dev, by_place, begin, end);
		load_metadata(index, &device, end, next);
		load_data(index, &device, by_place, begin, end);
		begin = end;
		end = next;
	}
	for (uint32_t i = 0; i < pack->file_count; i++)
		if (loading.fds[i] >= 0 && loading.fds[i] != device.fd)
			close(loading.fds[i]);
	memset(loading.fds, -1, pack->file_count * sizeof *loading.fds);
	if (device.fd >= 0)
		close(device.fd);
	close(top);
	queue_restore();
}

/* Half of the memory that can be had. */
static uint64_t memory(void)
{
	struct sysinfo all;
	char bytes[2048];
	const char *line;

	procfs_read(-1, "/proc/meminfo", bytes, sizeof bytes);
	line = procfs_line(bytes, "MemAvailable:");
	if (line)
		return procfs_number(&line) * 512;
	/* Before /proc is mounted. */
	return sysinfo(&all) ? UINT64_MAX : (uint64_t)(all.freeram + all.bufferram) * all.mem_unit / 2;
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
	put_count(report, refused, " files could not be opened");
	put_count(report, loading.total.errors, " were refused");
	put(report, loading.total.full ? ", more would not fit into memory" : "");
	put(report, loading.total.late ? ", stopped at the deadline" : "");
	put(report, loading.total.fast ? ", no more as the disk is fast" : "");
	put(report, "; ");
	put_number(report, ns / 1000000);
	put(report, " ms");
}

int replay_pack(const struct replay *asked, const struct pack *of, struct text *report)
{
	struct rlimit limit = { of->file_count + 64, of->file_count + 64 };
	uint64_t start = now_ns();

	if (load_open(of->file_count)) {
		complain(errno, "there is no memory to replay a pack", NULL);
		return 0;
	}
	replay = asked;
	pack = of;
	metadata = 0;
	files = changed = missing = refused = 0;
	loading.look_only = asked->look_only;
	loading.always = asked->always;
	loading.deadline = asked->deadline_ms ? start + (uint64_t)asked->deadline_ms * 1000000 : 0;
	loading.budget = memory();
	/* All files are open at the same time; where that cannot be, some are left out. */
	prlimit(0, RLIMIT_NOFILE, &limit, NULL);
	for (uint32_t i = 0; i < of->fs_count && !load_is_late(); i++)
		replay_fs(i);
	put_report(report, now_ns() - start);
	load_close();
	return (changed + missing) * 10 > files + changed + missing;
}

#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "preload/fiemap.h"
#include "preload/recorded.h"
#include "preload/touched.h"
#include "text.h"

#define RANGES (1u << 18)
/* Ranges of a file that are so close are moved as one: what lies between costs less to
 * read than another entry in the file's tree of extents, of which only four are in the
 * inode itself. */
#define GAP (32u << 10)

/* Of ext4's own flags those that linux/fs.h does not name. */
#define FLAG_JOURNALLED 0x4000
#define FLAG_EXTENTS 0x80000
#define FLAG_INLINE 0x10000000
#define UNMOVABLE \
	(FS_IMMUTABLE_FL | FS_APPEND_FL | FS_ENCRYPT_FL | FS_VERITY_FL | FS_DAX_FL | \
	 FLAG_JOURNALLED | FLAG_INLINE)

static struct range *asked; /* what the pack names; behind it is what is planned */

int plan_open(void)
{
	asked = mmap(NULL, 2 * RANGES * sizeof *asked, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return asked == MAP_FAILED ? -1 : 0;
}

void runs_add(const struct place *place, void *context)
{
	struct runs *runs = context;

	runs->count += !runs->count || runs->end != place->at;
	runs->end = place->at + place->length;
}

/* Whether a program on this file system runs: then others are started, too. */
int plan_is_live(dev_t dev)
{
	static _Alignas(8) char entries[DIRECTORY_BYTES];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
	long n;

	while (proc >= 0 && !found && (n = directory_read(proc, entries, sizeof entries)) > 0)
		for (long at = 0; at < n && !found;) {
			const struct entry *entry = (const struct entry *)(entries + at);
			struct stat stat;

			TEXT(path, 64);
			put(&path, entry->name);
			put(&path, "/exe");
			found = *entry->name >= '1' && *entry->name <= '9' &&
				!fstatat(proc, path.bytes, &stat, 0) && stat.st_dev == dev;
			at += entry->len;
		}
	close(proc);
	return found;
}

/* Sorted by file, which is by its first use, and by place in it; joined. */
static uint32_t collect(const struct volume *volume)
{
	const struct pack *pack = volume->pack;
	uint32_t count = 0, last = 0;

	for (uint32_t i = 0; i < pack->extent_count && count < RANGES; i++) {
		struct pack_extent extent = pack_extent(pack, i);
		struct pack_file file = pack_file(pack, extent.file);
		uint64_t start = extent.start - extent.start % volume->unit;
		uint64_t end = extent.start + extent.length;

		if (file.fs != volume->fs || !*file.path || start >= file.size)
			continue;
		end = (end + volume->unit - 1) / volume->unit * volume->unit;
		asked[count++] = (struct range){ .key = (uint64_t)extent.file << 48 | start >> 10,
						 .start = start, .end = end, .file = extent.file };
	}
	sort(asked, count, sizeof *asked);
	for (uint32_t i = 1; i < count; i++) {
		if (asked[i].file == asked[last].file && asked[i].start <= asked[last].end + GAP) {
			if (asked[i].end > asked[last].end)
				asked[last].end = asked[i].end;
		} else {
			asked[++last] = asked[i];
		}
	}
	return count ? last + 1 : 0;
}

/* What of a file is in the way: the counter for that, or NULL. */
static uint32_t *in_the_way(int fd, struct left_out *left_out, const struct volume *volume)
{
	int flags = 0;
	struct stat stat;

	if (fd == RECORDED_CHANGED)
		return &left_out->changed;
	if (fd == RECORDED_MISSING || fd == RECORDED_REFUSED)
		return errno == ETXTBSY ? &left_out->running :
		       errno == ENOENT	? &left_out->gone :
					  &left_out->refused;
	if (fstat(fd, &stat) || (!volume->programs && stat.st_mode & 0111))
		return &left_out->programs;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) || !(flags & FLAG_EXTENTS) || flags & UNMOVABLE)
		return &left_out->refused;
	/* A lease for reading is only given where nobody writes. */
	if (fcntl(fd, F_SETLEASE, F_RDLCK) && errno == EAGAIN)
		return &left_out->in_use;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return NULL;
}

int plan_open_file(struct left_out *left_out, const struct volume *volume, uint32_t index)
{
	struct pack_file file = pack_file(volume->pack, index);
	int fd = recorded_file(volume->top, volume->dev, &file, O_RDONLY);
	uint32_t *way = in_the_way(fd, left_out, volume);

	if (fd >= 0)
		close(fd);
	if (!way) {
		fd = recorded_file(volume->top, volume->dev, &file, O_RDWR);
		if (fd >= 0)
			return fd;
		way = in_the_way(fd, left_out, volume);
	}
	++*way;
	return -1;
}

/* What of a range has blocks that can be moved. */
struct taking {
	struct plan *plan;
	const struct volume *volume;
	uint32_t file;
	uint64_t size; /* of the file, in whole blocks */
};

static void take(const struct place *place, void *context)
{
	struct taking *taking = context;
	struct plan *plan = taking->plan;
	struct range *last = plan->count ? &plan->ranges[plan->count - 1] : NULL;
	uint64_t unit = taking->volume->unit, start, end;

	if (place->flags & ~(FIEMAP_EXTENT_LAST | FIEMAP_EXTENT_MERGED))
		return;
	start = place->start;
	end = place->start + place->length;
	if (end > taking->size)
		end = taking->size;
	if (last && last->file == taking->file && last->end == start) {
		/* Goes on where the last one ended, if elsewhere on the disk. */
		last->end = end;
	} else {
		/* A page is moved as a whole. */
		start = (start + unit - 1) / unit * unit;
		if (start >= end || plan->count == RANGES)
			return;
		plan->ranges[plan->count++] =
			(struct range){ .start = start, .end = end, .file = taking->file };
	}
	runs_add(&(struct place){ .at = place->at + (start - place->start), .length = end - start },
		 &plan->now);
}

static void plan_file(struct plan *plan, const struct volume *volume, const struct range *its,
		      const struct range *end)
{
	struct pack_file file = pack_file(volume->pack, its->file);
	struct taking taking = { .plan = plan, .volume = volume, .file = its->file };
	int fd = plan_open_file(&plan->left_out, volume, its->file);
	uint32_t before = plan->count;

	if (fd < 0)
		return;
	taking.size = (file.size + volume->block - 1) / volume->block * volume->block;
	for (; its < end; its++)
		places_each(fd, its->start, its->end, FIEMAP_FLAG_SYNC, take, &taking);
	close(fd);
	plan->files += plan->count > before;
	for (; before < plan->count; before++)
		plan->bytes += plan->ranges[before].end - plan->ranges[before].start;
}

void plan_make(struct plan *plan, const struct volume *volume)
{
	uint32_t count = collect(volume), first = 0;

	memset(plan, 0, sizeof *plan);
	plan->ranges = asked + RANGES;
	for (uint32_t i = 1; i <= count; i++)
		if (i == count || asked[i].file != asked[first].file) {
			plan_file(plan, volume, &asked[first], &asked[i]);
			first = i;
		}
}

uint32_t plan_end_of_file(const struct plan *plan, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < plan->count && plan->ranges[end].file == plan->ranges[first].file)
		end++;
	return end;
}

struct runs plan_runs(const struct plan *plan, const struct volume *volume)
{
	struct runs runs = { 0 };
	uint32_t end;

	for (uint32_t at = 0; at < plan->count; at = end) {
		struct pack_file file = pack_file(volume->pack, plan->ranges[at].file);
		int fd = recorded_file(volume->top, volume->dev, &file, O_RDONLY);

		end = plan_end_of_file(plan, at);
		for (; fd >= 0 && at < end; at++)
			places_each(fd, plan->ranges[at].start, plan->ranges[at].end, 0, runs_add,
				    &runs);
		if (fd >= 0)
			close(fd);
	}
	return runs;
}

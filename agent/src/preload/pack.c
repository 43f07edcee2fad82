#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "crc32.h"
#include "text.h"

/* Where the numbers of the head are. */
enum head { LENGTH = 8, CRC = 12, FS = 16, FILES = 20, EXTENTS = 24, STRINGS = 28, FLAGS = 32,
	    LOST = 36, UNNAMED = 40, PAGE = 44, BEGAN = 48, MADE = 56 };

/* No more than readahead takes in one call of a 32-bit kernel, and a page's multiple. */
#define LONGEST_EXTENT (1u << 30)

/* Of a place in a file, in sectors; a file's number lies above. */
#define PLACE_BITS 49

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE32 __builtin_bswap32
#define LITTLE64 __builtin_bswap64
#else
#define LITTLE32
#define LITTLE64
#endif

/* One instruction each, where bytes put together would be twenty. */
static inline uint32_t get32(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof number);
	return LITTLE32(number);
}

static inline uint64_t get64(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof number);
	return LITTLE64(number);
}

static inline void set32(unsigned char *at, uint32_t number)
{
	uint32_t little = LITTLE32(number);

	memcpy(at, &little, sizeof little);
}

static inline void set64(unsigned char *at, uint64_t number)
{
	uint64_t little = LITTLE64(number);

	memcpy(at, &little, sizeof little);
}

struct pack_fs pack_fs(const struct pack *pack, uint32_t i)
{
	const unsigned char *at = pack->fs + (size_t)i * PACK_FS;

	return (struct pack_fs){ .id = get64(at), .type = get32(at + 8),
				 .place = pack->strings + get32(at + 12) };
}

struct pack_file pack_file(const struct pack *pack, uint32_t i)
{
	const unsigned char *at = pack->files + (size_t)i * PACK_FILE;

	return (struct pack_file){ .ino = get64(at), .size = get64(at + 8),
				   .mtime = get64(at + 16), .fs = get32(at + 28),
				   .path = pack->strings + get32(at + 24) };
}

struct pack_extent pack_extent(const struct pack *pack, uint32_t i)
{
	const unsigned char *at = pack->extents + (size_t)i * PACK_EXTENT;

	return (struct pack_extent){ .start = get64(at), .length = get32(at + 8),
				     .file = get32(at + 12), .us = get32(at + 16) };
}

/* From the mount point on, and not out of it again. */
static int stays_inside(const char *path)
{
	if (*path == '/')
		return 0;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
			return 0;
	}
	return 1;
}

/* Whether every number of the tables leads somewhere. */
static int leads_somewhere(const struct pack *pack, uint32_t strings)
{
	uint32_t i;

	for (i = 0; i < pack->fs_count; i++)
		if (get32(pack->fs + (size_t)i * PACK_FS + 12) >= strings ||
		    pack_fs(pack, i).place[0] != '/')
			return 0;
	for (i = 0; i < pack->file_count; i++)
		if (get32(pack->files + (size_t)i * PACK_FILE + 24) >= strings ||
		    pack_file(pack, i).fs >= pack->fs_count ||
		    !stays_inside(pack_file(pack, i).path))
			return 0;
	for (i = 0; i < pack->extent_count; i++) {
		struct pack_extent extent = pack_extent(pack, i);

		if (extent.file >= pack->file_count || extent.length > LONGEST_EXTENT ||
		    extent.start > INT64_MAX - LONGEST_EXTENT)
			return 0;
	}
	return 1;
}

const char *pack_check(struct pack *pack, const unsigned char *bytes, size_t len)
{
	uint32_t strings;

	if (len < PACK_HEAD || memcmp(bytes, PACK_MAGIC, PACK_MAGIC_LEN))
		return "is no pack";
	if (get32(bytes + LENGTH) != len || crc32(0, bytes + PACK_CRC_FROM, len - PACK_CRC_FROM) !=
						    get32(bytes + CRC))
		return "is damaged";
	pack->fs_count = get32(bytes + FS);
	pack->file_count = get32(bytes + FILES);
	pack->extent_count = get32(bytes + EXTENTS);
	pack->flags = get32(bytes + FLAGS);
	pack->lost = get32(bytes + LOST);
	pack->unnamed = get32(bytes + UNNAMED);
	strings = get32(bytes + STRINGS);
	if (pack->fs_count > TOUCHED_FS || pack->file_count > TOUCHED_FILES ||
	    pack->extent_count > PACK_LONGEST / PACK_EXTENT ||
	    len != PACK_HEAD + (uint64_t)pack->fs_count * PACK_FS +
			    (uint64_t)pack->file_count * PACK_FILE +
			    (uint64_t)pack->extent_count * PACK_EXTENT + strings ||
	    !strings || bytes[len - 1])
		return "has tables that do not fit";
	pack->fs = bytes + PACK_HEAD;
	pack->files = pack->fs + (size_t)pack->fs_count * PACK_FS;
	pack->extents = pack->files + (size_t)pack->file_count * PACK_FILE;
	pack->strings = (const char *)pack->extents + (size_t)pack->extent_count * PACK_EXTENT;
	return leads_somewhere(pack, strings) ? NULL : "leads nowhere";
}

int pack_read(struct pack *pack, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), failed;
	unsigned char *bytes = MAP_FAILED;
	const char *wrong;
	struct stat stat;
	size_t len = 0;
	ssize_t n;

	/* Read, not mapped: a mapped file that is cut meanwhile would end us. */
	if (fd >= 0 && !fstat(fd, &stat))
		bytes = mmap(NULL, PACK_LONGEST + 1, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED) {
		complain(errno, "cannot read ", path, NULL);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (len <= PACK_LONGEST && (n = read(fd, bytes + len, PACK_LONGEST + 1 - len)) > 0)
		len += (size_t)n;
	failed = len ? 0 : errno;
	close(fd);
	wrong = len > PACK_LONGEST ? "is too long for a pack" : pack_check(pack, bytes, len);
	if (wrong) {
		complain(failed, path, " ", wrong, NULL);
		munmap(bytes, PACK_LONGEST + 1);
	}
	return wrong ? -1 : 0;
}

/* Makes one of what adjoins, of the time of the first: touched_add looks back at a few
 * pieces only, and a card takes a request for each. Sorts by file and place; `before` is
 * the time then, in us from `began` on. */
static void join(struct touched *touched, uint64_t began)
{
	struct touched_extent *last = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < touched->extent_count; i++) {
		struct touched_extent *extent = &touched->extents[i];
		uint64_t us = extent->key - began;

		extent->before = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
		extent->key = (uint64_t)extent->file << PLACE_BITS | extent->start >> 9;
	}
	sort(touched->extents, touched->extent_count, sizeof *touched->extents);
	for (uint32_t i = 0; i < touched->extent_count; i++) {
		struct touched_extent *extent = &touched->extents[i];

		if (!last || extent->file != last->file || extent->start > last->end) {
			last = &touched->extents[count++];
			*last = *extent;
			continue;
		}
		if (extent->end > last->end)
			last->end = extent->end;
		if (extent->before < last->before)
			last->before = extent->before;
	}
	touched->extent_count = count;
}

/* Sorts extents by time; gives files that have a name and extents their numbers, in
 * the order of their first use. */
static uint32_t number_files(struct touched *touched, uint64_t *began)
{
	uint32_t count = 0, i;

	*began = touched->extent_count ? UINT64_MAX : 0;
	for (i = 0; i < touched->extent_count; i++)
		if (touched->extents[i].key < *began)
			*began = touched->extents[i].key;
	join(touched, *began);
	for (i = 0; i < touched->file_count; i++)
		touched->files[i].number = NONE;
	/* What is of the same time stays in its order. */
	for (i = 0; i < touched->extent_count; i++)
		touched->extents[i].key = (uint64_t)touched->extents[i].before << 32 | i;
	sort(touched->extents, touched->extent_count, sizeof *touched->extents);
	for (i = 0; i < touched->extent_count; i++) {
		struct touched_file *file = &touched->files[touched->extents[i].file];

		if (file->fs != NONE && file->number == NONE)
			file->number = count++;
	}
	return count;
}

static unsigned char *make_extents(unsigned char *at, const unsigned char *end,
				   const struct touched *touched)
{
	for (uint32_t i = 0; i < touched->extent_count; i++) {
		const struct touched_extent *extent = &touched->extents[i];
		const struct touched_file *file = &touched->files[extent->file];
		uint64_t start = extent->start, stop = extent->end;

		/* Pages end behind the file. */
		if (file->name && stop > file->size)
			stop = file->size;
		while (file->number != NONE && start < stop) {
			uint64_t left = stop - start;

			if (end - at < PACK_EXTENT)
				return NULL;
			left = left < LONGEST_EXTENT ? left : LONGEST_EXTENT;
			set64(at, start);
			set32(at + 8, (uint32_t)left);
			set32(at + 12, file->number);
			set32(at + 16, (uint32_t)(extent->key >> 32));
			at += PACK_EXTENT;
			start += left;
		}
	}
	return at;
}

size_t pack_make(unsigned char *bytes, size_t room, struct touched *touched, uint64_t made)
{
	uint64_t began;
	uint32_t files = number_files(touched, &began), i;
	unsigned char *at = bytes + PACK_HEAD, *extents;
	size_t len;

	if (room < PACK_HEAD + TOUCHED_FS * PACK_FS + (size_t)files * PACK_FILE)
		return 0;
	memset(bytes, 0, PACK_HEAD);
	for (i = 0; i < touched->fs_count; i++, at += PACK_FS) {
		set64(at, touched->fs[i].id);
		set32(at + 8, touched->fs[i].type);
		set32(at + 12, touched->fs[i].place);
	}
	for (i = 0; i < touched->file_count; i++) {
		const struct touched_file *file = &touched->files[i];
		unsigned char *its = at + (size_t)file->number * PACK_FILE;

		if (file->number == NONE)
			continue;
		set64(its, file->ino);
		set64(its + 8, file->size);
		set64(its + 16, file->mtime);
		set32(its + 24, file->name);
		set32(its + 28, file->fs);
	}
	extents = at + (size_t)files * PACK_FILE;
	at = make_extents(extents, bytes + room, touched);
	if (!at || (size_t)(bytes + room - at) < touched->names_used)
		return 0;
	memcpy(at, touched->names, touched->names_used);
	len = (size_t)(at - bytes) + touched->names_used;
	memcpy(bytes, PACK_MAGIC, PACK_MAGIC_LEN);
	set32(bytes + LENGTH, (uint32_t)len);
	set32(bytes + FS, touched->fs_count);
	set32(bytes + FILES, files);
	set32(bytes + EXTENTS, (uint32_t)((size_t)(at - extents) / PACK_EXTENT));
	set32(bytes + STRINGS, touched->names_used);
	set32(bytes + FLAGS, touched->flags);
	set32(bytes + LOST, touched->lost);
	set32(bytes + UNNAMED, touched->unnamed);
	set32(bytes + PAGE, (uint32_t)sysconf(_SC_PAGESIZE));
	set64(bytes + BEGAN, began * 1000);
	set64(bytes + MADE, made);
	set32(bytes + CRC, crc32(0, bytes + PACK_CRC_FROM, len - PACK_CRC_FROM));
	return len;
}

/* The folder that `path` lies in, so that its new name is on the disk, too. */
static void sync_folder(const char *path)
{
	TEXT(folder, 4096);
	const char *slash = strrchr(path, '/');
	int fd;

	put_bytes(&folder, path, slash ? (size_t)(slash - path) : 0);
	put(&folder, slash ? "/" : ".");
	fd = open(folder.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

/* A device or a link would be replaced. */
static int is_no_plain_file(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && !S_ISREG(stat.st_mode);
}

int pack_write(const char *path, struct touched *touched)
{
	unsigned char *bytes;
	struct timespec now;
	size_t len = 0;
	int fd = -1, failed = 0;

	TEXT(new, 4096);
	if (is_no_plain_file(path)) {
		complain(0, "cannot write ", path, ": it is no plain file", NULL);
		return -1;
	}
	put(&new, path);
	put(&new, ".new");
	bytes = mmap(NULL, PACK_LONGEST, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	if (bytes != MAP_FAILED)
		len = pack_make(bytes, PACK_LONGEST, touched,
				(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	if (!len) {
		complain(0, "there is no memory for a pack", NULL);
		return -1;
	}
	unlink(new.bytes);
	fd = open(new.bytes, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || write_all(fd, bytes, len) || fsync(fd))
		failed = errno;
	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	if (!failed && rename(new.bytes, path))
		failed = errno;
	if (failed) {
		complain(failed, "cannot write ", path, NULL);
		if (fd >= 0)
			unlink(new.bytes);
	} else {
		sync_folder(path);
	}
	munmap(bytes, PACK_LONGEST);
	return failed ? -1 : 0;
}

void pack_take(const struct pack *pack, struct touched *touched)
{
	uint32_t i;

	touched->flags |= pack->flags;
	touched->lost += pack->lost;
	touched->unnamed += pack->unnamed;
	for (i = 0; i < pack->extent_count; i++) {
		struct pack_extent extent = pack_extent(pack, i);
		struct pack_file file = pack_file(pack, extent.file);
		struct pack_fs fs = pack_fs(pack, file.fs);
		/* The disk itself was noted with the number that it had. */
		uint64_t ino = *file.path ? file.ino : 0;
		uint32_t index = touched_file(touched, touched_dev(fs.id, fs.type), ino), name;

		if (index == NONE)
			continue;
		if (touched->files[index].fs == NONE) {
			name = touched_name(touched, file.path, strlen(file.path));
			touched->files[index].name = name;
			touched->files[index].size = file.size;
			touched->files[index].mtime = file.mtime;
			if (name != NONE)
				touched->files[index].fs =
					touched_fs(touched, fs.id, fs.type, fs.place);
		}
		touched_add(touched, index, extent.start, extent.start + extent.length, extent.us);
	}
}

/* A pack: which bytes of which files a boot, or an application, has had read, in
 * the order of their first use. bootlap reads and can make it, too
 * (crates/sources/src/pack reads the same golden file in its tests).
 *
 * Little-endian, without gaps:
 *
 *	head		PACK_HEAD bytes, see below
 *	file systems	PACK_FS bytes each: id u64 (statfs's f_fsid, the first half low;
 *			0 is any), type u32 (statfs's f_type), place u32 (a string: where it
 *			is mounted)
 *	files		PACK_FILE bytes each: inode u64, size u64, mtime in ns u64, path u32
 *			(a string: from the mount point on, without a slash in front), file
 *			system u32. An empty path is the block device itself: the
 *			file system's metadata.
 *	extents		PACK_EXTENT bytes each: start u64, length u32, file u32, us
 *			from `began` to its first use u32. In the order of that.
 *	strings		each with a NUL behind; a string is told by its offset here
 *
 *	head: PACK_MAGIC, length of all u32, crc32 of what follows it u32, file systems
 *	u32, files u32, extents u32, bytes of strings u32, flags u32, events that the
 *	kernel lost u32, files without a path u32, page size u32, began (ns of
 *	CLOCK_MONOTONIC) u64, made (ns since 1970; 0 if bootlap made it) u64.
 *
 * Bytes and not pages, so that a machine with other pages can use it. Nothing in it is
 * trusted: a file is used only as long as inode, size and mtime are what they were. */
#ifndef PACK_H
#define PACK_H

#include <stddef.h>
#include <stdint.h>

#include "touched.h"

#define PACK_MAGIC "bootpak\1"
#define PACK_MAGIC_LEN 8
#define PACK_HEAD 64
#define PACK_FS 16
#define PACK_FILE 32
#define PACK_EXTENT 20
#define PACK_LONGEST (16u << 20)
#define PACK_CRC_FROM 16

enum pack_flag {
	PACK_UNORDERED = 1, /* what was cached at one moment: nothing of when */
};

/* A pack that was found to be whole: all numbers in it lead somewhere. */
struct pack {
	const unsigned char *fs, *files, *extents;
	const char *strings;
	uint32_t fs_count, file_count, extent_count, flags, lost, unnamed;
};

struct pack_fs {
	uint64_t id;
	uint32_t type;
	const char *place;
};

struct pack_file {
	uint64_t ino, size, mtime;
	uint32_t fs;
	const char *path;
};

struct pack_extent {
	uint64_t start;
	uint32_t length, file, us;
};

/* NULL, or what is wrong with these bytes. */
const char *pack_check(struct pack *pack, const unsigned char *bytes, size_t len);

struct pack_fs pack_fs(const struct pack *pack, uint32_t i);
struct pack_file pack_file(const struct pack *pack, uint32_t i);
struct pack_extent pack_extent(const struct pack *pack, uint32_t i);

/* Reads a pack; -1 after a complaint. Its memory is kept until the end. */
int pack_read(struct pack *pack, const char *path);

/* The pack of what was touched, in `bytes`; gives its length, 0 if there is no room.
 * Extents are sorted by time, and of no other use after it. */
size_t pack_make(unsigned char *bytes, size_t room, struct touched *touched, uint64_t made);

/* Writes it so that after a power cut there is the old one or the new one; -1 after a
 * complaint. */
int pack_write(const char *path, struct touched *touched);

/* Takes all of a pack into `touched`. */
void pack_take(const struct pack *pack, struct touched *touched);

#endif

/* preload: packs, damaged ones too; what was touched; sorting; the kernel's trace. */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "crc32.h"
#include "preload/arguments.h"
#include "preload/load.h"
#include "preload/pack.h"
#include "preload/place.h"
#include "preload/trace.h"

#define GOLDEN "tests/corpus/pack/golden"

static unsigned char bytes[1 << 16];

static uint32_t add_file(struct touched *touched, uint64_t ino, const char *path, uint64_t size)
{
	uint32_t file = touched_file(touched, 7, ino);

	touched->files[file].name = touched_name(touched, path, strlen(path));
	touched->files[file].fs = touched_fs(touched, 0x1122334455667788, 0xef53, "/");
	touched->files[file].size = size;
	touched->files[file].mtime = ino * 1000000007;
	return file;
}

/* Two files and metadata, of which the second file was used first. */
static size_t golden(void)
{
	struct touched touched;
	uint32_t a, b, disk;

	CHECK(!touched_open(&touched));
	a = add_file(&touched, 12, "usr/bin/app", 100000);
	b = add_file(&touched, 13, "etc/app.conf", 300);
	disk = add_file(&touched, 1, "", 0);
	touched_add(&touched, a, 4096, 8192, 5000200);
	touched_add(&touched, a, 8192, 12288, 5000300);
	touched_add(&touched, b, 0, 4096, 5000100);
	touched_add(&touched, a, 98304, 102400, 5000400);
	touched_add(&touched, disk, 1 << 20, (1 << 20) + 4096, 5000000);
	/* A file without a name is left out. */
	touched_add(&touched, touched_file(&touched, 7, 99), 0, 4096, 5000000);
	touched.lost = 3;
	touched.unnamed = 1;
	return pack_make(bytes, sizeof bytes, &touched, 1700000000000000000);
}

static void packs_are_as_agreed(void)
{
	unsigned char wanted[sizeof bytes];
	size_t len = golden(), wanted_len;
	struct pack pack;
	FILE *file;

	CHECK(len);
	if (getenv("GOLDEN")) {
		file = fopen(GOLDEN, "wb");
		CHECK(file && fwrite(bytes, 1, len, file) == len && !fclose(file));
	}
	file = fopen(GOLDEN, "rb");
	CHECK(file);
	wanted_len = fread(wanted, 1, sizeof wanted, file);
	fclose(file);
	/* The page size is this machine's. */
	CHECK(sysconf(_SC_PAGESIZE) != 4096 ||
	      (wanted_len == len && !memcmp(wanted, bytes, len)));
	CHECK(!pack_check(&pack, wanted, wanted_len));
	CHECK(pack.fs_count == 1 && pack.file_count == 3 && pack.extent_count == 4);
	CHECK(pack.lost == 3 && pack.unnamed == 1 && !pack.flags);
	CHECK(pack_fs(&pack, 0).id == 0x1122334455667788 && pack_fs(&pack, 0).type == 0xef53);
	CHECK_TEXT(pack_fs(&pack, 0).place, "/");
	CHECK_TEXT(pack_file(&pack, 0).path, "");
	CHECK_TEXT(pack_file(&pack, 1).path, "etc/app.conf");
	CHECK_TEXT(pack_file(&pack, 2).path, "usr/bin/app");
	CHECK(pack_file(&pack, 2).size == 100000 && pack_file(&pack, 2).ino == 12);
	CHECK(pack_extent(&pack, 1).length == 300 && pack_extent(&pack, 1).us == 100);
	CHECK(pack_extent(&pack, 2).start == 4096 && pack_extent(&pack, 2).length == 8192);
	CHECK(pack_extent(&pack, 3).length == 100000 - 98304);
}

/* As if a hostile one had made it: its checksum is right. */
static const char *checked(unsigned char *copy, size_t len)
{
	struct pack pack;
	uint32_t crc = crc32(0, copy + PACK_CRC_FROM, len - PACK_CRC_FROM);

	for (int i = 0; i < 4; i++)
		copy[12 + i] = (unsigned char)(crc >> 8 * i);
	return pack_check(&pack, copy, len);
}

static void damaged_packs_are_refused(void)
{
	static unsigned char copy[sizeof bytes];
	size_t len = golden(), files = PACK_HEAD + PACK_FS, extents = files + 3 * PACK_FILE;
	size_t strings = extents + 4 * PACK_EXTENT;
	struct pack pack;

	for (size_t cut = 0; cut < len; cut++)
		CHECK(pack_check(&pack, bytes, cut));
	for (size_t bit = 0; bit < 8 * len; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		CHECK(pack_check(&pack, bytes, len));
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	CHECK(crc32(0, (const unsigned char *)"123456789", 9) == 0xcbf43926);

#define HOSTILE(at, value)                                           \
	do {                                                         \
		memcpy(copy, bytes, len);                            \
		memset(copy + (at), (value), 4);                     \
		CHECK(checked(copy, len));                           \
	} while (0)
	memcpy(copy, bytes, len);
	CHECK(!checked(copy, len));
	for (size_t at = 16; at < 32; at += 4)
		HOSTILE(at, 0xff);
	HOSTILE(PACK_HEAD + 12, 0xff);   /* where it is mounted */
	HOSTILE(files + 24, 0xff);       /* a path */
	HOSTILE(files + 28, 1);          /* a file system */
	HOSTILE(extents + 4, 0xff);      /* a start */
	HOSTILE(extents + 8, 0xff);      /* a length */
	HOSTILE(extents + 12, 0xff);     /* a file */
	HOSTILE(strings + 1, '/');       /* an absolute path */
	HOSTILE(len - 4, 'x');           /* no NUL at the end */
	static const char *const OUTSIDE[] = { "..", "../x", "a/../b", "a/.." };
	static const char *const INSIDE[] = { "..a", "a..", "a/..b", "a/b../c" };
	for (int i = 0; i < 4; i++) {
		memcpy(copy, bytes, len);
		strcpy((char *)copy + strings + 1, OUTSIDE[i]);
		CHECK_TEXT(checked(copy, len), "leads nowhere");
		memcpy(copy, bytes, len);
		strcpy((char *)copy + strings + 1, INSIDE[i]);
		CHECK(!checked(copy, len));
	}
}

static void packs_come_back_as_they_were(void)
{
	static unsigned char again[sizeof bytes];
	size_t len = golden();
	struct touched touched;
	struct pack pack;

	CHECK(!pack_check(&pack, bytes, len) && !touched_open(&touched));
	pack_take(&pack, &touched);
	CHECK(touched.file_count == 3 && touched.extent_count == 4 && touched.lost == 3);
	CHECK(pack_make(again, sizeof again, &touched, 1700000000000000000));
	CHECK(!pack_check(&pack, again, sizeof again) || pack.file_count == 3);
	CHECK(!pack_make(again, 200, &touched, 0));
}

static void what_adjoins_is_one_extent(void)
{
	struct touched touched;
	uint32_t file;

	CHECK(!touched_open(&touched));
	CHECK(touched_find(&touched, 1, 2) == NONE);
	file = touched_file(&touched, 1, 2);
	CHECK(touched_file(&touched, 1, 2) == file && touched_find(&touched, 1, 2) == file);
	CHECK(touched_file(&touched, 2, 1) != file);
	touched_add(&touched, file, 100, 200, 5);
	touched_add(&touched, file, 200, 300, 6);
	touched_add(&touched, file, 50, 100, 4);
	touched_add(&touched, file, 120, 130, 7);
	touched_add(&touched, file, 400, 500, 8);
	CHECK(touched.extent_count == 2);
	CHECK(touched.extents[0].start == 50 && touched.extents[0].end == 300);
	CHECK(touched.extents[0].key == 4);
	touched_add(&touched, NONE, 1, 2, 3);
	touched_add(&touched, file, 9, 9, 3);
	CHECK(touched.extent_count == 2);
}

/* Pieces that came later than the last few that are looked at join in the pack. */
static void what_adjoins_is_one_extent_of_a_pack(void)
{
	static unsigned char written[1 << 16];
	struct touched touched;
	struct pack_extent extent;
	struct pack pack;
	uint32_t file, size;
	size_t len;

	CHECK(!touched_open(&touched));
	file = touched_file(&touched, 1, 2);
	touched.files[file].fs = touched_fs(&touched, 7, 8, "/");
	touched.files[file].name = touched_name(&touched, "a", 1);
	touched.files[file].size = size = 200 * 4096;
	for (uint32_t i = 0; i < 200; i += 2)
		touched_add(&touched, file, i * 4096, (i + 1) * 4096, 10 + i);
	for (uint32_t i = 1; i < 200; i += 2)
		touched_add(&touched, file, i * 4096, (i + 1) * 4096, 1000 + i);
	CHECK(touched.extent_count > 10);
	len = pack_make(written, sizeof written, &touched, 0);
	CHECK(!pack_check(&pack, written, len) && pack.extent_count == 1);
	extent = pack_extent(&pack, 0);
	CHECK(extent.start == 0 && extent.length == size && extent.us == 0);
}

static void there_is_an_end_to_memory(void)
{
	struct touched touched;
	static char name[TOUCHED_NAMES];

	CHECK(!touched_open(&touched));
	for (uint64_t i = 0; i < TOUCHED_FILES + 5; i++)
		touched_add(&touched, touched_file(&touched, i % 3, i), 0, 1, i);
	CHECK(touched.file_count == TOUCHED_FILES && touched.lost == 5);
	for (uint64_t i = 0; i < TOUCHED_EXTENTS; i++)
		touched_add(&touched, 0, 10 * i + 5, 10 * i + 6, i);
	CHECK(touched.extent_count == TOUCHED_EXTENTS && touched.lost == 5 + TOUCHED_FILES);
	memset(name, 'x', sizeof name);
	CHECK(touched_name(&touched, name, sizeof name - 2) == 1);
	CHECK(touched_name(&touched, "x", 1) == NONE);
	CHECK(touched_name(&touched, "", 0) == 0);
	CHECK(!pack_make(bytes, sizeof bytes, &touched, 0));
}

static void a_difference_is_what_is_left(void)
{
	struct touched before, after;

	CHECK(!touched_open(&before) && !touched_open(&after));
	touched_add(&before, touched_file(&before, 1, 1), 100, 200, 0);
	touched_add(&before, touched_file(&before, 1, 1), 300, 400, 0);
	touched_add(&after, touched_file(&after, 1, 2), 150, 350, 0);
	touched_add(&after, touched_file(&after, 1, 1), 50, 500, 0);
	touched_subtract(&after, &before);
	CHECK(after.extent_count == 4);
	CHECK(after.extents[0].start == 150 && after.extents[0].end == 350);
	CHECK(after.extents[1].start == 50 && after.extents[1].end == 100);
	CHECK(after.extents[2].start == 200 && after.extents[2].end == 300);
	CHECK(after.extents[3].start == 400 && after.extents[3].end == 500);
	touched_subtract(&after, &after);
	CHECK(after.extent_count == 0 || after.extent_count == 4);
}

/* In a pack a file system has no device. */
static void a_difference_to_a_pack_is_one_of_its_files(void)
{
	struct touched before, after, taken;
	struct pack pack;
	size_t len;

	CHECK(!touched_open(&before) && !touched_open(&after) && !touched_open(&taken));
	for (int i = 0; i < 2; i++) {
		struct touched *touched = i ? &after : &before;

		for (uint32_t ino = 1; ino <= 2u + i; ino++) {
			uint32_t file = touched_file(touched, 7 << 20, ino);

			touched->files[file].fs = touched_fs(touched, 99, 5, "/mnt");
			touched->files[file].name = touched_name(touched, "file", 4);
			touched->files[file].size = 1 << 20;
			touched_add(touched, file, 0, 4096, 0);
		}
	}
	len = pack_make(bytes, sizeof bytes, &before, 0);
	CHECK(len && !pack_check(&pack, bytes, len));
	pack_take(&pack, &taken);
	touched_subtract(&after, &taken);
	CHECK(after.extent_count == 1 && after.files[after.extents[0].file].ino == 3);
}

static void sorting_sorts(void)
{
	struct item items[200];
	uint32_t random = 1;

	for (uint32_t count = 0; count <= 200; count++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < count; i++) {
			random = random * 1664525 + 1013904223;
			items[i] = (struct item){ .key = random >> 24, .start = random >> 24 };
			sum += items[i].key;
		}
		sort(items, count, sizeof *items);
		for (uint32_t i = 0; i < count; i++) {
			CHECK(!i || items[i - 1].key <= items[i].key);
			CHECK(items[i].key == items[i].start);
			sum -= items[i].key;
		}
		CHECK(!sum);
	}
}

static void small_gaps_are_read(void)
{
	struct item items[] = {
		{ .start = 1000000, .length = 100 }, { .start = 0, .length = 10 },
		{ .start = 74, .length = 10 },       { .start = 1000050, .length = 10 },
		{ .start = 149, .length = 1 },       { .start = 1ull << 40, .length = 1u << 30 },
		{ .start = (1ull << 40) + (1u << 30), .length = 1u << 30 },
	};

	for (size_t i = 0; i < sizeof items / sizeof *items; i++)
		items[i].key = items[i].start + 4096;
	CHECK(load_coalesce(items, 0, 64) == 0);
	CHECK(load_coalesce(items, 7, 64) == 5);
	CHECK(items[0].start == 0 && items[0].length == 84);
	CHECK(items[1].start == 149 && items[1].length == 1);
	CHECK(items[2].start == 1000000 && items[2].length == 100);
	CHECK(items[3].length == 1u << 30 && items[4].length == 1u << 30);
	/* Neighbours on the disk only, or in the file only, or of another file. */
	struct item apart[] = {
		{ .key = 0, .start = 0, .length = 10 },
		{ .key = 10, .start = 20, .length = 10 },
		{ .key = 50, .start = 30, .length = 10 },
		{ .key = 60, .start = 40, .length = 10, .file = 1 },
	};
	CHECK(load_coalesce(apart, 4, 64) == 4);
}

static const char PAGE64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char EVENT64[] =
	"name: mm_filemap_add_to_page_cache\nID: 600\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t s_dev;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned char order;\toffset:36;\tsize:1;\tsigned:0;\n";

/* The kernel's own order of bytes, and of the parts of an entry's head. */
static void put32(unsigned char *at, uint32_t number)
{
	memcpy(at, &number, sizeof number);
}

static void put_head(unsigned char *at, uint32_t delta, uint32_t kind)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	put32(at, kind << 27 | delta);
#else
	put32(at, delta << 5 | kind);
#endif
}

static void put_commit(unsigned char *page, uint64_t commit)
{
	memcpy(page + 8, &commit, sizeof commit);
}

/* An event of 40 bytes, with its head. */
static size_t put_event(unsigned char *at, uint32_t delta, uint16_t type, uint64_t ino,
			uint64_t index, unsigned char order)
{
	memset(at, 0, 44);
	put_head(at, delta, 10);
	memcpy(at + 4, &type, sizeof type);
	memcpy(at + 4 + 16, &ino, sizeof ino);
	memcpy(at + 4 + 24, &index, sizeof index);
	put32(at + 4 + 32, 8 << 20 | 1);
	at[4 + 36] = order;
	return 44;
}

static void the_kernels_pages_are_read(void)
{
	static unsigned char page[4096];
	struct trace_format format;
	struct touched touched;
	uint64_t time = 5000000000, lost = 9, size = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t at = 16;

	CHECK(!trace_format(&format, PAGE64, EVENT64) && !touched_open(&touched));
	CHECK(format.data.at == 16 && format.id == 600 && format.ino.at == 16);
	memcpy(page, &time, 8);
	at += put_event(page + at, 1000, 600, 77, 3, 0);
	/* Time goes on by 1 << 27 ns and 2000, and there is padding. */
	put_head(page + at, 2000, 30);
	put32(page + at + 4, 1);
	at += 8;
	put_head(page + at, 1, 29);
	put32(page + at + 4, 12);
	at += 16;
	at += put_event(page + at, 0, 600, 78, 16, 2);
	/* Another event than ours. */
	at += put_event(page + at, 0, 601, 79, 16, 2);
	put_commit(page, (at - 16) | 1u << 31 | 1u << 30);
	memcpy(page + at, &lost, sizeof lost);
	trace_page(&format, page, sizeof page, &touched);
	CHECK(touched.file_count == 2 && touched.extent_count == 2 && touched.lost == 9);
	CHECK(touched.files[0].ino == 77 && touched.files[0].dev == (8 << 20 | 1));
	CHECK(touched.extents[0].start == 3 * size && touched.extents[0].end == 4 * size);
	CHECK(touched.extents[0].key == 5000001);
	CHECK(touched.extents[1].start == 16 * size && touched.extents[1].end == 20 * size);
	CHECK(touched.extents[1].key == (5000001000u + (1u << 27) + 2001) / 1000);
	/* What does not fit together is left. */
	for (size_t len = 0; len < sizeof page; len += 7)
		trace_page(&format, page, len, &touched);
	memset(page, 0xff, sizeof page);
	trace_page(&format, page, sizeof page, &touched);
	memset(page, 0, sizeof page);
	put_commit(page, 4000);
	trace_page(&format, page, sizeof page, &touched);
	CHECK(touched.file_count == 2);
	CHECK(trace_format(&format, "", EVENT64) && trace_format(&format, PAGE64, ""));
}

/* Whenever its writer is killed, there is a whole pack. */
static void a_pack_is_never_half(void)
{
	static struct touched touched;
	char path[] = "/tmp/bootlap-pack-XXXXXX", new[sizeof path + 4];
	struct pack pack;
	int fd = mkstemp(path);

	CHECK(fd >= 0 && !close(fd) && !touched_open(&touched));
	add_file(&touched, 12, "usr/bin/app", 100000);
	for (uint64_t i = 0; i < 1000; i++)
		touched_add(&touched, 0, 8192 * i, 8192 * i + 4096, i);
	touched.files[0].size = 8192 * 1000;
	CHECK(!pack_write(path, &touched));
	for (useconds_t us = 0; us < 50; us++) {
		pid_t child = fork();

		while (!child)
			pack_write(path, &touched);
		usleep(us * 337);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		CHECK(!pack_read(&pack, path) && pack.extent_count == 1000);
	}
	unlink(path);
	snprintf(new, sizeof new, "%s.new", path);
	unlink(new);
}

static int64_t number, flag;
static const char *text;

static int read_arguments(char **argv, const char **words)
{
	static const struct argument known[] = {
		{ "--number", NULL, &number, 100 },
		{ "--flag", NULL, &flag, 0 },
		{ "-o", &text, NULL, 0 },
		{ NULL, NULL, NULL, 0 },
	};

	return arguments(argv, known, words, 1, 2);
}

static void command_lines_are_read(void)
{
	const char *words[2] = { NULL, NULL };
	char *good[] = { "diff", "a", "--number", "7", "--flag", "-o", "-x", "b", NULL };
	char *bad[][4] = { { "diff" },           { "diff", "a", "--number" },
			   { "diff", "a", "-x" }, { "diff", "--number", "101", "a" } };
	char *many[] = { "diff", "a", "b", "c", NULL };

	CHECK(!read_arguments(good, words));
	CHECK(number == 7 && flag == 1);
	CHECK_TEXT(text, "-x");
	CHECK_TEXT(words[0], "a");
	CHECK_TEXT(words[1], "b");
	for (int i = 0; i < 4; i++) {
		char *with_end[5] = { bad[i][0], bad[i][1], bad[i][2], bad[i][3], NULL };

		CHECK(read_arguments(with_end, words));
	}
	CHECK(read_arguments(many, words));
}

static void names_are_no_paths(void)
{
	TEXT(path, 64);
	CHECK(!place_of(&path, "firefox", ".pack"));
	CHECK_TEXT(path.bytes, "/var/lib/bootlap/firefox.pack");
	CHECK(place_of(&path, "../x", ".pack") && place_of(&path, "", ".pack"));
	CHECK(place_of(&path, ".x", ".pack"));
}

int main(void)
{
	packs_are_as_agreed();
	damaged_packs_are_refused();
	packs_come_back_as_they_were();
	what_adjoins_is_one_extent();
	what_adjoins_is_one_extent_of_a_pack();
	there_is_an_end_to_memory();
	a_difference_is_what_is_left();
	a_difference_to_a_pack_is_one_of_its_files();
	sorting_sorts();
	small_gaps_are_read();
	the_kernels_pages_are_read();
	a_pack_is_never_half();
	command_lines_are_read();
	names_are_no_paths();
	return 0;
}

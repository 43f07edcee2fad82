/* snapshot, diff: what is in the page cache, by file and by page, and what came in
 * between two snapshots. A snapshot is a pack, so that it can be replayed. */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent.h"
#include "arguments.h"
#include "find.h"
#include "pack.h"
#include "text.h"

static char output[8192];
static struct text printed;

static const char *out;
static int64_t pages;

static const struct argument ARGUMENTS[] = {
	{ "-o", &out, NULL, 0 },
	{ "--pages", NULL, &pages, 0 },
	{ NULL, NULL, NULL, 0 },
};

static int unwritten; /* errno of what could not be printed */

static void flush(void)
{
	if (!unwritten && write_all(STDOUT_FILENO, printed.bytes, printed.len))
		unwritten = errno;
	printed.len = 0;
}

/* Right-aligned, and a blank behind it. */
static void print_number(uint64_t number, unsigned width)
{
	TEXT(digits, 24);

	put_number(&digits, number);
	for (size_t i = digits.len; i < width; i++)
		put(&printed, " ");
	put(&printed, digits.bytes);
	put(&printed, " ");
}

static uint64_t bytes_of(const struct touched *touched, const struct touched_file *file)
{
	uint64_t bytes = 0;

	for (uint32_t i = file->last; i != NONE; i = touched->extents[i].before)
		bytes += touched->extents[i].end - touched->extents[i].start;
	return bytes;
}

/* As reference tools do: inode, size, how much of it is cached, its name. */
static void print_file(const struct touched *touched, const struct touched_file *file)
{
	const char *place = touched->names + touched->fs[file->fs].place;
	uint64_t bytes = bytes_of(touched, file);

	if (!bytes)
		return;
	print_number(file->ino, 10);
	print_number((file->size + 1023) / 1024, 9);
	print_number((bytes + 1023) / 1024, 9);
	print_number(file->name ? bytes * 100 / (file->size ? file->size : 1) : 0, 3);
	put(&printed, place);
	put(&printed, place[1] && file->name ? "/" : "");
	put(&printed, file->name ? touched->names + file->name : " (metadata)");
	put(&printed, "\n");
	for (uint32_t i = file->last; pages && i != NONE; i = touched->extents[i].before) {
		print_number(touched->extents[i].start, 32);
		print_number(touched->extents[i].end - touched->extents[i].start, 0);
		put(&printed, "\n");
		flush();
	}
	flush();
}

static int finish(struct touched *touched)
{
	if (out)
		return pack_write(out, touched) ? EXIT_FAILED : EXIT_OK;
	printed = text_in(output, sizeof output);
	put(&printed, "     inode       KiB    cached   % file\n");
	for (uint32_t i = 0; i < touched->file_count; i++)
		if (touched->files[i].fs != NONE)
			print_file(touched, &touched->files[i]);
	flush();
	if (touched->lost)
		complain(0, "not all of it could be noted", NULL);
	if (unwritten)
		complain(unwritten, "cannot write to standard output", NULL);
	return unwritten ? EXIT_FAILED : EXIT_OK;
}

static int take_file(const char *path, struct touched *touched)
{
	struct pack pack;

	if (touched_open(touched)) {
		complain(errno, "there is no memory", NULL);
		return -1;
	}
	if (pack_read(&pack, path))
		return -1;
	pack_take(&pack, touched);
	return 0;
}

static int run(int argc, char **argv)
{
	static struct touched touched, before;
	int is_diff = !strcmp(argv[0], "diff");
	const char *words[2] = { NULL, NULL };

	(void)argc;
	if (arguments(argv, ARGUMENTS, words, is_diff ? 2 : 0, is_diff ? 2 : 1))
		return EXIT_USAGE;
	if (is_diff) {
		if (take_file(words[0], &before) || take_file(words[1], &touched))
			return EXIT_FAILED;
		touched_subtract(&touched, &before);
	} else if (words[0]) {
		if (take_file(words[0], &touched))
			return EXIT_FAILED;
	} else {
		if (touched_open(&touched)) {
			complain(errno, "there is no memory", NULL);
			return EXIT_FAILED;
		}
		find_cached(&touched);
	}
	return finish(&touched);
}

const struct command snapshot_command = {
	.name = "snapshot",
	.summary = "list what is in the page cache",
	.help = "usage: bootlap-agent snapshot [OPTION]... [PACK]\n\n"
		"Lists the files of which something is in the page cache, or in PACK: inode, KiB,\n"
		"KiB that are cached, per cent, name.\n\n"
		"  --pages  also which bytes: where they start, how many\n"
		"  -o FILE  writes a pack instead\n",
	.run = run,
};

const struct command diff_command = {
	.name = "diff",
	.summary = "list what one snapshot has and another has not",
	.help = "usage: bootlap-agent diff [OPTION]... BEFORE AFTER\n\n"
		"Lists what the pack AFTER has and BEFORE has not, as snapshot does.\n\n"
		"  --pages  also which bytes\n"
		"  -o FILE  writes a pack instead\n",
	.run = run,
};

/* layout: puts what a boot reads together on the disk, in the order of its first use.
 * Only the ranges that the pack names are moved, and only ext4 can do that while it is
 * mounted. The pack stays as it is: it knows places in files, not on the disk. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent.h"
#include "collect/now.h"
#include "collect/procfs.h"
#include "move.h"
#include "plan.h"
#include "preload/arguments.h"
#include "preload/fiemap.h"
#include "preload/mounts.h"
#include "preload/pack.h"
#include "preload/place.h"
#include "preload/recorded.h"
#include "text.h"

#define EXT4 0xef53

static const char *root = "";
static int64_t dry_run, programs, all;

static const struct argument ARGUMENTS[] = {
	{ "--dry-run", NULL, &dry_run, 0 },
	{ "--programs", NULL, &programs, 0 },
	{ "--all", NULL, &all, 0 },
	{ "--root", &root, NULL, 0 },
	{ NULL, NULL, NULL, 0 },
};

static void stop_it(int signal)
{
	(void)signal;
	move_stop = 1;
}

static void put_count(struct text *text, uint32_t count, const char *of)
{
	if (!count)
		return;
	put(text, ", ");
	put_number(text, count);
	put(text, of);
}

static void put_left_out(struct text *text, const struct left_out *left_out)
{
	put_count(text, left_out->changed, " have changed");
	put_count(text, left_out->gone, " are gone");
	put_count(text, left_out->running, " run and cannot be moved now");
	put_count(text, left_out->in_use, " are being written");
	put_count(text, left_out->programs, " programs left out (--programs)");
	put_count(text, left_out->refused, " cannot be moved");
	put(text, "\n");
}

static void put_start(struct text *text, const char *place, uint32_t files, uint64_t bytes,
		      const char *behind)
{
	put(text, "bootlap-agent: layout: ");
	put(text, place);
	put(text, ": ");
	put_number(text, files);
	put(text, " files, ");
	put_number(text, bytes >> 10);
	put(text, behind);
}

static uint32_t discontinuities(const struct runs *runs)
{
	return runs->count ? runs->count - 1 : 0;
}

/* What must hold before anything is moved, or looked at; NULL, or what does not. */
static const char *unfit(const struct statfs *found, dev_t dev)
{
	static char options[4096];
	const char *mode;

	TEXT(path, 128);
	if (found->f_type != EXT4)
		return "is no ext4, and only that can move blocks";
	if (dry_run)
		return NULL;
	if (found->f_flags & ST_RDONLY)
		return "is mounted read-only: mount -o remount,rw";
	put(&path, "/proc/fs/ext4/");
	if (!device_name(dev, &path))
		return "has no block device";
	put(&path, "/options");
	if (!procfs_read(-1, path.bytes, options, sizeof options))
		return "does not say its options in /proc/fs/ext4: mount /proc";
	mode = procfs_line(options, "data=");
	if (!mode || strncmp(mode, "ordered\n", 8))
		return "has no journal with data=ordered, and a power cut would cost files";
	return NULL;
}

static int act(struct plan *plan, const struct volume *volume, const char *place)
{
	uint64_t began = now_ns();
	struct moved moved;
	struct runs runs;
	int donor = donor_open(volume, plan->bytes, &runs), failed;

	TEXT(line, 512);
	if (donor < 0)
		return -1;
	if (runs.count * 2 >= plan->now.count) {
		close(donor);
		put_start(&line, place, plan->files, plan->bytes, " KiB: ");
		put_number(&line, discontinuities(&plan->now));
		put(&line, " discontinuities; the free space would give ");
		put_number(&line, discontinuities(&runs));
		put(&line, ", so nothing is moved\n");
		write_all(STDOUT_FILENO, line.bytes, line.len);
		return 0;
	}
	failed = move_all(plan, volume, donor, &moved);
	close(donor);
	if (failed && !moved.files)
		return -1;
	runs = plan_runs(plan, volume);
	put_start(&line, place, moved.files, moved.bytes, " KiB moved: discontinuities ");
	put_number(&line, discontinuities(&plan->now));
	put(&line, " -> ");
	put_number(&line, discontinuities(&runs));
	put(&line, moved.stopped ? ", stopped when asked to" : "");
	put(&line, "; ");
	put_number(&line, (now_ns() - began) / 1000000);
	put(&line, " ms");
	put_left_out(&line, &plan->left_out);
	write_all(STDOUT_FILENO, line.bytes, line.len);
	return failed;
}

static int layout_fs(const struct pack *pack, uint32_t index)
{
	struct pack_fs fs = pack_fs(pack, index);
	struct volume volume = { .pack = pack, .fs = index };
	struct statfs found;
	struct plan plan;
	const char *wrong;
	int failed = 0;

	TEXT(line, 512);
	volume.top = recorded_fs(root, &fs, &volume.dev);
	if (volume.top < 0)
		return -1;
	if (fstatfs(volume.top, &found))
		wrong = "does not answer";
	else
		wrong = unfit(&found, volume.dev);
	if (wrong) {
		complain(0, fs.place, " ", wrong, NULL);
		close(volume.top);
		return -1;
	}
	volume.block = (uint32_t)found.f_bsize;
	volume.unit = (uint32_t)sysconf(_SC_PAGESIZE);
	if (volume.unit < volume.block)
		volume.unit = volume.block;
	volume.programs = programs || !plan_is_live(volume.dev);
	plan_make(&plan, &volume);
	if (!dry_run && plan.now.count > 1 && (uint64_t)found.f_bavail * volume.block < plan.bytes) {
		complain(0, fs.place, " has no room for a second copy of what is moved", NULL);
		failed = -1;
	} else if (!dry_run && plan.now.count > 1) {
		failed = act(&plan, &volume, fs.place);
	} else {
		put_start(&line, fs.place, plan.files, plan.bytes, " KiB: ");
		put_number(&line, discontinuities(&plan.now));
		put(&line, plan.now.count > 1 ? " discontinuities" :
						" discontinuities, there is nothing to do");
		put_left_out(&line, &plan.left_out);
		write_all(STDOUT_FILENO, line.bytes, line.len);
	}
	close(volume.top);
	return failed;
}

/* Whether the pack has files on the file system. */
static int has_files(const struct pack *pack, uint32_t fs)
{
	for (uint32_t i = 0; i < pack->file_count; i++) {
		struct pack_file file = pack_file(pack, i);

		if (file.fs == fs && *file.path)
			return 1;
	}
	return 0;
}

/* Whether it is to be moved: of several file systems only the root's, unless somebody
 * asks. What the others read, the boot may not have waited for. */
static int is_wanted(const struct pack *pack, uint32_t fs)
{
	uint32_t i, count = 0;

	for (i = 0; i < pack->fs_count; i++)
		count += (uint32_t)has_files(pack, i);
	return all || count < 2 || !strcmp(pack_fs(pack, fs).place, "/");
}

static int run(int argc, char **argv)
{
	struct sigaction stop = { .sa_handler = stop_it };
	const char *path = PLACE "/boot.pack";
	struct pack pack;
	int failed = 0;

	(void)argc;
	if (arguments(argv, ARGUMENTS, &path, 0, 1))
		return EXIT_USAGE;
	if (pack_read(&pack, path))
		return EXIT_FAILED;
	if (plan_open()) {
		complain(errno, "there is no memory for a plan", NULL);
		return EXIT_FAILED;
	}
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	/* That somebody wants what we have a lease of. */
	signal(SIGIO, SIG_IGN);
	for (uint32_t i = 0; i < pack.fs_count && !move_stop; i++) {
		if (!has_files(&pack, i))
			continue;
		if (!is_wanted(&pack, i))
			complain(0, pack_fs(&pack, i).place, " is left as it is (--all)", NULL);
		else if (layout_fs(&pack, i))
			failed = 1;
	}
	return failed ? EXIT_FAILED : EXIT_OK;
}

const struct command layout_command = {
	.name = "layout",
	.summary = "put what was recorded together on the disk",
	.help = "usage: bootlap-agent layout [OPTION]... [PACK]\n\n"
		"Moves the blocks that PACK (" PLACE "/boot.pack) names, on ext4,\n"
		"one behind the other, in the order of their first use. The files stay what\n"
		"they are, whatever happens meanwhile; a SIGTERM stops it.\n\n"
		"  --dry-run        moves nothing, says how scattered they are\n"
		"  --root DIR       file systems are mounted below DIR\n"
		"  --all            of all file systems that PACK names, not the root's alone\n"
		"  --programs       also programs, though some run from this file system: to start\n"
		"                   one while it is moved fails with \"Text file busy\"\n",
	.run = run,
};

/* preload on a real file system: an ext4 image is mounted, what is read of it is
 * recorded, and after it was unmounted, so that nothing is cached, replayed. As root,
 * where loop devices and tracefs are; elsewhere it says that it did nothing. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "check.h"
#include "folder.h"
#include "preload/ahead.h"
#include "preload/cached.h"
#include "preload/pack.h"
#include "preload/replay.h"
#include "preload/trace.h"

#define EVENT "/events/filemap/mm_filemap_add_to_page_cache/enable"

static int wait_for_tracing(void)
{
	static const char *const ROOTS[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (int i = 0; i < 500; i++) {
		for (int root = 0; root < 2; root++) {
			char path[200], state = '0';
			int fd;

			snprintf(path, sizeof path, "%s/instances/bootlap-record%s", ROOTS[root],
				 EVENT);
			fd = open(path, O_RDONLY);
			if (fd >= 0 && read(fd, &state, 1) == 1 && state == '1') {
				close(fd);
				return 1;
			}
			if (fd >= 0)
				close(fd);
		}
		usleep(10000);
	}
	return 0;
}

/* Of which file systems; the folder's are not the root's. */
static const char *record_on;

/* Records until the file `stop` is there, while `command` is done: how that went, and
 * in *ended how the recording did. */
static int record_while(const char *command, int *ended)
{
	char out[128], stop[128];
	char *arguments[] = { "record", "--out", out, "--until-file", stop, "--for-s", "3600",
			      record_on ? "--on" : "--all", (char *)record_on, NULL };
	pid_t child;
	int status;

	strcpy(out, in_folder("pack"));
	strcpy(stop, in_folder("stop"));
	unlink(stop);
	/* One that was left over by a test that was killed looks as if it were ours. */
	trace_remove("record");
	child = fork();
	if (!child) {
		/* Unless it takes note of the file. */
		alarm(120);
		_exit(record_command.run(record_on ? 9 : 8, arguments));
	}
	status = wait_for_tracing() && !shell(command);
	CHECK(!shell("touch stop"));
	CHECK(waitpid(child, ended, 0) == child && WIFEXITED(*ended));
	return status;
}

static int record(const char *command)
{
	int ended, status = record_while(command, &ended);

	CHECK(!ended);
	return status;
}

static uint64_t cached_of(const char *path)
{
	int fd = open(in_folder(path), O_RDONLY);
	int64_t bytes = fd < 0 ? -1 : cached_bytes(fd, 0, 1 << 24);

	close(fd);
	return bytes < 0 ? 0 : (uint64_t)bytes;
}

/* How many files, metadata left out. */
static int files_at(const struct pack *pack, const char *place)
{
	int count = 0;

	for (uint32_t i = 0; i < pack->file_count; i++) {
		struct pack_file file = pack_file(pack, i);

		count += *file.path && !strcmp(pack_fs(pack, file.fs).place, place);
	}
	return count;
}

static int has_file(const struct pack *pack, const char *path)
{
	for (uint32_t i = 0; i < pack->file_count; i++)
		if (!strcmp(pack_file(pack, i).path, path))
			return 1;
	return 0;
}

static void replay_it(const char *name, struct replay replay, struct text *report)
{
	struct pack pack;

	CHECK(!pack_read(&pack, in_folder(name)));
	replay_pack(&replay, &pack, report);
}

static void what_was_read_is_read_again(void)
{
	struct pack pack;

	TEXT(report, 500);
	CHECK(!pack_read(&pack, in_folder("pack")));
	CHECK(has_file(&pack, "b/two") && has_file(&pack, "a/one") && has_file(&pack, ""));
	/* Never read. */
	CHECK(!has_file(&pack, "b/three"));
	CHECK(!shell("umount mnt && mount -o loop disk mnt"));
	CHECK(!cached_of("mnt/a/one"));
	replay_it("pack", (struct replay){ .root = "", .always = 1 }, &report);
	CHECK(cached_of("mnt/a/one") == 3 << 20 && cached_of("mnt/b/two") == 1 << 20);
	CHECK(!cached_of("mnt/b/three"));
}

static void a_changed_file_drops_only_itself(void)
{
	TEXT(report, 500);
	CHECK(!shell("echo x >>mnt/b/two && umount mnt && mount -o loop disk mnt"));
	replay_it("pack", (struct replay){ .root = "", .always = 1, .by_time = 1, .threads = 3 },
		  &report);
	CHECK(strstr(report.bytes, " files have changed"));
	CHECK(cached_of("mnt/a/one") == 3 << 20 && !cached_of("mnt/b/two"));
}

static void looking_loads_nothing(void)
{
	TEXT(report, 500);
	CHECK(!shell("umount mnt && mount -o loop disk mnt"));
	replay_it("pack", (struct replay){ .root = "", .always = 1, .look_only = 1 }, &report);
	CHECK(strstr(report.bytes, " 0 KiB loaded") && !cached_of("mnt/a/one"));
	report.len = 0;
	/* As if the files were on another file system. */
	replay_it("pack", (struct replay){ .root = "/proc" }, &report);
	CHECK(strstr(report.bytes, "0 files, 0 KiB"));
}

/* As an initramfs starts it: the root, and what it needs of /dev, /proc and /sys, moves to
 * another place meanwhile. */
static void a_root_that_moves_is_replayed(void)
{
	char *arguments[] = { "replay", "--always", "--chroot", (char *)in_folder("start"), NULL };
	pid_t child;
	int status;

	CHECK(!shell("umount mnt && mkdir start end && mount -t tmpfs start start && cd start && "
		     "mkdir -p proc sys dev var/lib/bootlap .$OLDPWD/mnt && "
		     "mount -o loop $OLDPWD/disk .$OLDPWD/mnt && "
		     "cp $OLDPWD/pack var/lib/bootlap/boot.pack"));
	child = fork();
	if (!child)
		_exit(replay_command.run(4, arguments));
	/* Long enough for it to wait; were it not, it would have entered either way. */
	usleep(100000);
	CHECK(!shell("mount --make-private start && mount --move start end && cd end && "
		     "mount --bind /dev dev && mount --bind /sys sys && mount --bind /proc proc"));
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!shell("umount end/dev end/sys end/proc && mount -o bind end$PWD/mnt mnt"));
	CHECK(cached_of("mnt/a/one") == 3 << 20);
	CHECK(!shell("umount end$PWD/mnt end"));
}

/* A pack for a pipe, a link and a device: none is opened. */
static void only_files_are_opened(void)
{
	static const char *const NAMES[] = { "pipe", "link", "device" };
	struct touched touched;
	struct stat stat;
	struct pack pack;

	TEXT(report, 500);
	CHECK(!shell("mkfifo mnt/pipe; ln -s a/one mnt/link; mknod mnt/device c 1 3"));
	CHECK(!pack_read(&pack, in_folder("pack")) && !touched_open(&touched));
	for (int i = 0; i < 3; i++) {
		char path[64];
		struct pack_fs fs;
		uint32_t file;

		snprintf(path, sizeof path, "mnt/%s", NAMES[i]);
		CHECK(!lstat(in_folder(path), &stat));
		for (uint32_t j = 0; j < pack.fs_count; j++)
			if (!strcmp(pack_fs(&pack, j).place, in_folder("mnt")))
				fs = pack_fs(&pack, j);
		file = touched_file(&touched, 1, stat.st_ino);
		touched.files[file].fs = touched_fs(&touched, fs.id, fs.type, fs.place);
		touched.files[file].name = touched_name(&touched, NAMES[i], strlen(NAMES[i]));
		touched.files[file].size = 1 << 20;
		touched.files[file].mtime = (uint64_t)stat.st_mtim.tv_sec * 1000000000 +
					    (uint64_t)stat.st_mtim.tv_nsec;
		touched_add(&touched, file, 0, 4096, 0);
	}
	CHECK(!pack_write(in_folder("hostile"), &touched));
	replay_it("hostile", (struct replay){ .root = "", .always = 1 }, &report);
	CHECK(strstr(report.bytes, "0 files, 0 KiB"));
	CHECK(strstr(report.bytes, ", 3 files have changed"));
}

/* Without what the kernel noted there is nothing to write, and the last pack stays. */
static void notes_that_are_gone_are_told(void)
{
	struct stat before, after;
	int ended;

	CHECK(!stat(in_folder("pack"), &before));
	CHECK(record_while("rmdir /sys/kernel/tracing/instances/bootlap-record || "
			   "rmdir /sys/kernel/debug/tracing/instances/bootlap-record", &ended));
	CHECK(WEXITSTATUS(ended) == EXIT_FAILED);
	CHECK(!stat(in_folder("pack"), &after) && before.st_ino == after.st_ino);
}

/* What holds its notes is not begun anew by another. */
static void only_one_records(void)
{
	int held;

	CHECK(!trace_start("record", 64));
	held = trace_hold("record");
	CHECK(held >= 0);
	CHECK(trace_start("record", 64) == -1 && errno == EBUSY);
	close(held);
	CHECK(!trace_start("record", 64));
	trace_remove("record");
}

/* Mounts of the same, a deleted file among what was read, a file system below another:
 * none of it hides what lies on the last one, or gives a file another's name. */
static void mounts_do_not_hide_each_other(void)
{
	struct pack pack;

	CHECK(!shell("cp disk low && cp disk high && cp disk last && mkdir below behind && "
		     "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do mkdir bind$i && "
		     "mount --bind mnt bind$i || exit; done; "
		     "mount -o loop low below && mount -o loop last behind"));
	CHECK(record("exec 3<below/a/one && mount -o loop high below && cat <&3 | wc -c && "
		     "exec 3<&- && echo x >mnt/gone && rm mnt/gone && cat behind/a/one | wc -c"));
	CHECK(!pack_read(&pack, in_folder("pack")));
	CHECK(files_at(&pack, in_folder("behind")) == 1);
	CHECK(!files_at(&pack, in_folder("below")));
}

/* How many bytes of a file the pack has. */
static uint64_t bytes_of(const struct pack *pack, const char *path)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < pack->extent_count; i++) {
		struct pack_extent extent = pack_extent(pack, i);

		if (!strcmp(pack_file(pack, extent.file).path, path))
			bytes += extent.length;
	}
	return bytes;
}

/* What the boot did not ask for is not in it: other file systems, and what the kernel
 * read ahead. The disk reads ahead as before when it is over. */
static void what_was_not_asked_for_is_left_out(void)
{
	static char place[128];
	struct pack pack;

	strcpy(place, in_folder("mnt"));
	record_on = place;
	CHECK(!shell("cp disk elsewhere && mkdir other && umount bind* mnt && "
		     "mount -o loop disk mnt && mount -o loop elsewhere other && "
		     "disk=$(findmnt -no SOURCE mnt) && blockdev --setra 4096 $disk && "
		     "echo $disk >disk-name"));
	CHECK(record("cat other/a/one | wc -c && head -c 100000 mnt/b/three | wc -c && "
		     "cat /sys/fs/ext4/$(basename $(cat disk-name))/inode_readahead_blks >inodes"));
	CHECK(!pack_read(&pack, in_folder("pack")));
	CHECK(files_at(&pack, place) == 1 && !files_at(&pack, in_folder("other")));
	CHECK(bytes_of(&pack, "b/three") >= 100000 && bytes_of(&pack, "b/three") <= 120 << 10);
	CHECK(!shell("[ $(blockdev --getra $(cat disk-name)) = 4096 ]"));
	CHECK(!shell("cd /sys/fs/ext4/$(basename $(cat disk-name)) && "
		     "[ $(cat inode_readahead_blks) = 32 ] && [ $(cat \"$OLDPWD\"/inodes) = 1 ]"));
	record_on = NULL;
}

/* Who has waited for it reads, and none of that is missed. */
static void in_the_background_it_records_once_it_returns(void)
{
	char out[128], stop[128];
	char *arguments[] = { "record", "--all",        "--background", "--out", out,
			      "--until-file", stop, NULL };
	struct pack pack;
	struct stat stat;
	pid_t child;
	int status;

	strcpy(out, in_folder("background"));
	strcpy(stop, in_folder("enough"));
	CHECK(!shell("umount mnt && mount -o loop disk mnt"));
	child = fork();
	if (!child)
		_exit(record_command.run(7, arguments));
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!shell("cat mnt/b/two | wc -c && touch enough"));
	for (int i = 0; i < 2000 && lstat(out, &stat); i++)
		usleep(5000);
	CHECK(!pack_read(&pack, out) && bytes_of(&pack, "b/two") >= 1 << 20);
}

/* A setting of the queue of the disk below mnt. */
static const char *queue_of(const char *name)
{
	static char value[256];
	char path[300];
	struct stat stat;
	ssize_t n;
	int fd;

	CHECK(!lstat(in_folder("mnt"), &stat));
	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/queue/%s", major(stat.st_dev),
		 minor(stat.st_dev), name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, value, sizeof value - 1);
	value[n < 1 ? 0 : n - 1] = 0;
	close(fd);
	return value;
}

/* Until that is the value; only that it never comes is told from that it has come. */
static int becomes(const char *name, const char *value)
{
	for (int i = 0; i < 2000; i++, usleep(5000))
		if (!strcmp(queue_of(name), value))
			return 1;
	return 0;
}

static pid_t change_for_ever(const struct queue *queue)
{
	struct stat stat;
	pid_t child;

	CHECK(!lstat(in_folder("mnt"), &stat));
	child = fork();
	if (!child) {
		queue_change(stat.st_dev, queue);
		for (;;)
			pause();
	}
	return child;
}

static void the_queue_is_as_before_also_after_a_kill(void)
{
	static const struct queue QUEUE = { .scheduler = "mq-deadline", .requests = "77",
					    .read_ahead = "1236" };
	char scheduler[256], requests[256], ahead[256];
	pid_t child;

	TEXT(report, 500);
	strcpy(scheduler, queue_of("scheduler"));
	strcpy(requests, queue_of("nr_requests"));
	strcpy(ahead, queue_of("read_ahead_kb"));
	CHECK(strcmp(ahead, "1236"));
	child = change_for_ever(&QUEUE);
	CHECK(becomes("read_ahead_kb", "1236"));
	CHECK(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
	CHECK(becomes("read_ahead_kb", ahead));
	/* It is the last that is put back. */
	CHECK_TEXT(queue_of("scheduler"), scheduler);
	CHECK_TEXT(queue_of("nr_requests"), requests);
	/* What somebody else has set meanwhile stays. */
	child = change_for_ever(&QUEUE);
	CHECK(becomes("read_ahead_kb", "1236"));
	CHECK(!shell("disk=$(findmnt -no SOURCE mnt) && blockdev --setra 512 $disk"));
	CHECK(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
	CHECK(becomes("scheduler", scheduler) && becomes("nr_requests", requests));
	CHECK_TEXT(queue_of("read_ahead_kb"), "256");
	/* A replay that ends of itself leaves nothing behind at all. */
	replay_it("pack", (struct replay){ .root = "", .always = 1, .queue = QUEUE }, &report);
	CHECK_TEXT(queue_of("scheduler"), scheduler);
	CHECK_TEXT(queue_of("nr_requests"), requests);
	CHECK_TEXT(queue_of("read_ahead_kb"), "256");
}

static int inodes_are(const char *blocks)
{
	TEXT(command, 256);

	put(&command, "[ $(cat /sys/fs/ext4/$(basename $(findmnt -no SOURCE mnt))/inode_readahead_blks) = ");
	put(&command, blocks);
	put(&command, " ]");
	return !shell(command.bytes);
}

static void reading_ahead_is_as_before_after_a_kill(void)
{
	char ahead[256];
	pid_t child;

	strcpy(ahead, queue_of("read_ahead_kb"));
	CHECK(strcmp(ahead, "12") && inodes_are("32"));
	child = fork();
	if (!child) {
		ahead_limit(in_folder("mnt"), 12);
		for (;;)
			pause();
	}
	CHECK(becomes("read_ahead_kb", "12") && inodes_are("1"));
	CHECK(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
	CHECK(becomes("read_ahead_kb", ahead) && inodes_are("32"));
}

/* A pack of which a tenth has changed goes, if that is asked for. */
static void a_pack_that_is_out_of_date_goes(void)
{
	char *arguments[] = { "replay", "--renew", (char *)in_folder("old"), NULL };
	struct stat stat;

	CHECK(!shell("cp pack old"));
	CHECK(replay_command.run(3, arguments) == EXIT_OK);
	usleep(50000);
	CHECK(!lstat(in_folder("old"), &stat));
	CHECK(!shell("echo x >>mnt/b/three && cp pack old"));
	arguments[2] = (char *)in_folder("old");
	CHECK(replay_command.run(3, arguments) == EXIT_OK);
	for (int i = 0; i < 2000 && !lstat(in_folder("old"), &stat); i++)
		usleep(5000);
	CHECK(lstat(in_folder("old"), &stat));
}

static void clean_up(void)
{
	shell("umount below below behind other bind*");
	shell("umount -R start end");
	shell("umount mnt");
	shell("cd / && rm -r \"$OLDPWD\"");
}

int main(void)
{
	strcpy(folder, "/tmp/bootlap-preload-XXXXXX");
	CHECK(mkdtemp(folder));
	atexit(clean_up);
	if (geteuid() || shell("truncate -s 64M disk && mkfs.ext4 -q -F disk && mkdir mnt && "
			       "mount -o loop disk mnt && mkdir mnt/a mnt/b && "
			       "head -c 3145728 /dev/urandom >mnt/a/one && "
			       "head -c 1048576 /dev/urandom >mnt/b/two && "
			       "cp mnt/b/two mnt/b/three && umount mnt && "
			       "mount -o loop disk mnt")) {
		printf("test_preload_disk: skipped: it needs root and a loop device\n");
	} else if (!record("cat mnt/b/two mnt/a/one | wc -c")) {
		printf("test_preload_disk: skipped: the kernel does not trace its page cache\n");
	} else {
		what_was_read_is_read_again();
		a_changed_file_drops_only_itself();
		looking_loads_nothing();
		a_root_that_moves_is_replayed();
		only_files_are_opened();
		notes_that_are_gone_are_told();
		only_one_records();
		mounts_do_not_hide_each_other();
		what_was_not_asked_for_is_left_out();
		in_the_background_it_records_once_it_returns();
		a_pack_that_is_out_of_date_goes();
		the_queue_is_as_before_also_after_a_kill();
	reading_ahead_is_as_before_after_a_kill();
	}
	return 0;
}

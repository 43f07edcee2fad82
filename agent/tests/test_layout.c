/* layout on a real file system: scattered files are put together, and stay what they
 * are when the program is killed or the power fails meanwhile. As root, where loop
 * devices are (and FUSE, for the power cut); elsewhere it says what it left out. */

#include <sys/vfs.h>
#include <sys/wait.h>

#include "agent.h"
#include "check.h"
#include "disk_log.h"
#include "folder.h"
#include "preload/fiemap.h"
#include "preload/mounts.h"
#include "preload/pack.h"

#define FILES 24
#define KILLS 25
#define CUTS 25

static char said[4096]; /* what the last layout printed */
static unsigned random_state = 1;

static unsigned random_number(void)
{
	random_state = random_state * 1103515245 + 12345;
	return random_state >> 16 & 0x7fff;
}

/* Starts layout; what it prints goes to the file `said`. */
static pid_t start_layout(const char *option)
{
	static char pack[128];
	char *arguments[] = { "layout", "--root", folder, pack, (char *)option, NULL };
	pid_t child;

	strcpy(pack, in_folder("pack"));
	fflush(stdout);
	child = fork();
	if (!child) {
		int fd = open(in_folder("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		_exit(layout_command.run(option ? 5 : 4, arguments));
	}
	return child;
}

static int layout(const char *option)
{
	pid_t child = start_layout(option);
	int status, fd;
	ssize_t n;

	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	fd = open(in_folder("said"), O_RDONLY);
	n = read(fd, said, sizeof said - 1);
	close(fd);
	said[n < 0 ? 0 : n] = 0;
	return WEXITSTATUS(status);
}

/* Files whose blocks lie between each other's: written in turns, past the page cache,
 * and the last ones with a hole. */
static void write_files(void)
{
	static _Alignas(4096) unsigned char bytes[16384];
	int fds[FILES];

	for (int i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof name, "mnt/%d", i);
		fds[i] = open(in_folder(name), O_WRONLY | O_CREAT | O_DIRECT, 0644);
		CHECK(fds[i] >= 0);
	}
	for (int round = 0; round < 12; round++)
		for (int i = 0; i < FILES; i++) {
			off_t at = round * (off_t)sizeof bytes;

			if (i >= FILES - 4 && round == 5)
				continue;
			for (size_t j = 0; j < sizeof bytes; j++)
				bytes[j] = (unsigned char)random_number();
			CHECK(pwrite(fds[i], bytes, sizeof bytes, at) == sizeof bytes);
		}
	for (int i = 0; i < FILES; i++) {
		/* Ends within a block. */
		CHECK(!ftruncate(fds[i], 12 * 16384 - 700 * i));
		close(fds[i]);
	}
}

static void add_file(struct touched *touched, const char *name, uint64_t start, uint64_t end)
{
	char path[64];
	struct statfs fs;
	struct stat stat;
	uint32_t file;

	snprintf(path, sizeof path, "mnt/%s", name);
	CHECK(!lstat(in_folder(path), &stat) && !statfs(in_folder("mnt"), &fs));
	file = touched_file(touched, 1, stat.st_ino);
	CHECK(file != NONE);
	touched->files[file].fs =
		touched_fs(touched, fs_id(&fs), (uint32_t)fs.f_type, "/mnt");
	touched->files[file].name = touched_name(touched, name, strlen(name));
	touched->files[file].size = (uint64_t)stat.st_size;
	touched->files[file].mtime =
		(uint64_t)stat.st_mtim.tv_sec * 1000000000 + (uint64_t)stat.st_mtim.tv_nsec;
	touched_add(touched, file, start, end, touched->extent_count);
}

/* As if a boot had read the files from the last to the first, of each two pieces, of
 * some all; and what else is named. */
static void make_pack(const char *const *more)
{
	struct touched touched;

	CHECK(!touched_open(&touched));
	for (int i = FILES; i-- > 0;) {
		char name[8];

		snprintf(name, sizeof name, "%d", i);
		if (i % 3) {
			add_file(&touched, name, 4096, 40000);
			add_file(&touched, name, 100000, 12 * 16384);
		} else {
			add_file(&touched, name, 0, 12 * 16384);
		}
	}
	for (; *more; more++)
		add_file(&touched, *more, 0, 1 << 20);
	CHECK(!pack_write(in_folder("pack"), &touched));
}

/* Unmounts it, and finds the file system whole and all files what they were. */
static void check_disk(void)
{
	CHECK(!shell("umount mnt && e2fsck -fn disk && mount -o loop disk mnt"));
	CHECK(!shell("cd mnt && find . -name '[0-9a-z]*' -type f | sort | xargs md5sum | cmp - ../sums"));
}

static uint64_t last_end;
static unsigned jumps;

static void follow(const struct place *place, void *context)
{
	(void)context;
	jumps += place->at != last_end;
	last_end = place->at + place->length;
}

static unsigned jumps_of_pack(void)
{
	struct pack pack;
	int block = 0;
	struct statfs fs;

	CHECK(!pack_read(&pack, in_folder("pack")) && !statfs(in_folder("mnt"), &fs));
	block = (int)fs.f_bsize;
	jumps = 0;
	for (uint32_t i = 0; i < pack.extent_count; i++) {
		struct pack_extent extent = pack_extent(&pack, i);
		char path[64];
		uint64_t start = extent.start / 4096 * 4096, end = extent.start + extent.length;
		int fd;

		/* In whole blocks of the file and whole pages of the pack. */
		end = (end + 4095) / 4096 * 4096;
		snprintf(path, sizeof path, "mnt/%s", pack_file(&pack, extent.file).path);
		fd = open(in_folder(path), O_RDONLY);
		if (end > pack_file(&pack, extent.file).size)
			end = (pack_file(&pack, extent.file).size + block - 1) / block * block;
		places_each(fd, start, end, 0, follow, NULL);
		close(fd);
	}
	return jumps;
}

static void files_are_put_together(void)
{
	struct stat before, after;
	unsigned scattered = jumps_of_pack();

	CHECK(!stat(in_folder("mnt/1"), &before));
	CHECK(!layout("--dry-run") && strstr(said, " discontinuities") && !strstr(said, "->"));
	CHECK(jumps_of_pack() == scattered && scattered > 2 * FILES);
	CHECK(!layout(NULL) && strstr(said, ": 24 files, ") && strstr(said, "-> 0; "));
	CHECK(jumps_of_pack() == 1);
	CHECK(!stat(in_folder("mnt/1"), &after));
	CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec &&
	      after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
	      after.st_ctim.tv_nsec == before.st_ctim.tv_nsec && after.st_size == before.st_size &&
	      after.st_blocks == before.st_blocks);
	check_disk();
	CHECK(jumps_of_pack() == 1);
	CHECK(!layout(NULL) && strstr(said, "there is nothing to do"));
}

static void what_is_in_use_stays(void)
{
	static const char *const MORE[] = { "sleep", "fixed", "small", "link", NULL };
	int fd;

	CHECK(!shell("cp scattered disk && mount -o loop disk mnt && cp $(command -v sleep) mnt && "
		     "cp mnt/1 mnt/fixed && chattr +i mnt/fixed && echo >mnt/small && "
		     "ln -s 1 mnt/link && umount mnt && mount -o loop disk mnt"));
	make_pack(MORE);
	CHECK(!shell("echo x >>mnt/5 && mnt/sleep 60 & echo $! >pid; sleep 0.2"));
	CHECK(!shell("cd mnt && find . -type f | sort | xargs md5sum >../sums"));
	fd = open(in_folder("mnt/7"), O_WRONLY);
	CHECK(!layout("--dry-run") && strstr(said, ", 2 have changed, "));
	CHECK(strstr(said, ", 1 are being written, 1 programs left out (--programs), 1 cannot"));
	CHECK(!layout("--programs") && strstr(said, ", 1 run and cannot be moved now"));
	close(fd);
	CHECK(!shell("kill $(cat pid); sleep 0.2; chattr -i mnt/fixed"));
	check_disk();
	CHECK(!shell("umount mnt"));
}

static void what_cannot_be_is_said(void)
{
	CHECK(!shell("cp scattered disk && mount -o loop,ro disk mnt"));
	CHECK(layout(NULL) == EXIT_FAILED && strstr(said, "read-only"));
	CHECK(!shell("umount mnt && mount -o loop,data=writeback disk mnt"));
	CHECK(layout(NULL) == EXIT_FAILED && strstr(said, "data=ordered"));
	CHECK(!shell("umount mnt && mount -o loop disk mnt && "
		     "head -c 64M /dev/zero >mnt/full; sync -f mnt"));
	CHECK(layout(NULL) == EXIT_FAILED && strstr(said, "room"));
	CHECK(!shell("umount mnt"));
}

static void a_kill_costs_nothing(void)
{
	unsigned killed = 0;

	for (int i = 0; i < KILLS; i++) {
		pid_t child;
		int status;

		CHECK(!shell("cp scattered disk && mount -o loop disk mnt"));
		child = start_layout(NULL);
		usleep(random_number() * 8);
		/* Some are asked to stop. */
		kill(child, i % 5 ? SIGKILL : SIGTERM);
		CHECK(waitpid(child, &status, 0) == child);
		killed += WIFSIGNALED(status);
		CHECK(WIFSIGNALED(status) || !WEXITSTATUS(status));
		check_disk();
		CHECK(!shell("umount mnt"));
	}
	printf("test_layout: %u of %d were killed before they were done\n", killed, KILLS);
}

static int lucky(void)
{
	return random_number() & 1;
}

static int always(void)
{
	return 1;
}

static void a_power_cut_costs_nothing(void)
{
	struct disk_log *log = disk_log_open(in_folder("scattered"));
	pid_t server, syncer;
	uint32_t from;

	CHECK(!shell("touch shown"));
	server = disk_log_show(log, in_folder("shown"));
	if (server < 0) {
		printf("test_layout: power cuts are left out: they need /dev/fuse\n");
		return;
	}
	CHECK(!shell("losetup -f --show --direct-io=on shown >loop && mount $(cat loop) mnt"));
	from = log->count;
	/* So that the journal is written all the time, without all that is dirty before it. */
	syncer = fork();
	if (!syncer) {
		int fd = open(in_folder("mnt/.busy"), O_CREAT | O_WRONLY, 0600);

		while (write(fd, "x", 1) == 1 && !fsync(fd))
			;
		_exit(1);
	}
	CHECK(!layout(NULL) && strstr(said, "-> 0; "));
	kill(syncer, SIGKILL);
	waitpid(syncer, NULL, 0);
	CHECK(!shell("umount mnt; losetup -d $(cat loop); sleep 0.2; umount shown"));
	waitpid(server, NULL, 0);
	CHECK(log->count > from + 20);
	for (int i = 0; i < CUTS; i++) {
		uint32_t at = from + (random_number() << 15 | random_number()) % (log->count - from);

		disk_log_cut(log, at, i % 4 ? lucky : always, in_folder("disk"));
		/* Mounting replays the journal. */
		CHECK(!shell("mount -o loop disk mnt"));
		check_disk();
		CHECK(!shell("umount mnt"));
	}
	printf("test_layout: %d power cuts among %u writes\n", CUTS, log->count - from);
}

static void clean_up(void)
{
	shell("umount mnt; umount shown");
	shell("cd / && rm -r \"$OLDPWD\"");
}

static int make_disk(const char *options)
{
	char line[256];

	snprintf(line, sizeof line,
		 "truncate -s 48M disk && mkfs.ext4 -q -F %s disk && mount -o loop disk mnt",
		 options);
	if (shell(line))
		return 0;
	write_files();
	CHECK(!shell("cd mnt && find . -type f | sort | xargs md5sum >../sums"));
	CHECK(!shell("umount mnt && cp disk scattered && mount -o loop disk mnt"));
	return 1;
}

int main(void)
{
	static const char *const OPTIONS[] = { "-b 4096 -J size=4", "-b 1024" };

	/* In memory, if that can be: it is mounted some hundred times. */
	strcpy(folder, "/dev/shm/bootlap-layout-XXXXXX");
	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/bootlap-layout-XXXXXX");
		CHECK(mkdtemp(folder));
	}
	CHECK(!shell("mkdir mnt"));
	atexit(clean_up);
	for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
		if (geteuid() || !make_disk(OPTIONS[i])) {
			printf("test_layout: skipped: it needs root and a loop device\n");
			return 0;
		}
		make_pack((const char *const[]){ NULL });
		files_are_put_together();
		CHECK(!shell("umount mnt"));
		a_kill_costs_nothing();
		a_power_cut_costs_nothing();
		what_cannot_be_is_said();
		what_is_in_use_stays();
	}
	return 0;
}

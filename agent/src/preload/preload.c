/* replay, preload: reads ahead what was recorded. Whatever is wrong is one line and an
 * exit code: nothing that boots waits for this or needs it. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "arguments.h"
#include "pack.h"
#include "place.h"
#include "replay.h"
#include "text.h"

/* Classes of ioprio_set: in front of all others, and when there is nothing else. */
#define REALTIME (1 << 13)
#define IDLE (3 << 13)
#define THIS_PROCESS 1

#define REMOVE_S 600

/* To the kernel's log, where boots are looked at, and to our output. */
static void tell(const struct text *report)
{
	TEXT(line, 512);
	int fd = open("/dev/kmsg", O_WRONLY | O_NOCTTY | O_CLOEXEC);

	put(&line, "<6>bootlap-agent: replay: ");
	put(&line, report->bytes);
	put(&line, "\n");
	if (fd >= 0) {
		write_all(fd, line.bytes, line.len);
		close(fd);
	}
	write_all(STDOUT_FILENO, line.bytes + 3, line.len - 3);
}

static struct replay replay = { .root = "" };
static const char *enter;
static int64_t idle, first, look, by_time, renew, always;

static const struct argument ARGUMENTS[] = {
	{ "--idle", NULL, &idle, 0 },
	{ "--first", NULL, &first, 0 },
	{ "--threads", NULL, &replay.threads, 8 },
	{ "--deadline-ms", NULL, &replay.deadline_ms, 3600 * 1000 },
	{ "--root", &replay.root, NULL, 0 },
	{ "--chroot", &enter, NULL, 0 },
	{ "--look", NULL, &look, 0 },
	{ "--by-time", NULL, &by_time, 0 },
	{ "--always", NULL, &always, 0 },
	{ "--renew", NULL, &renew, 0 },
	{ "--scheduler", &replay.queue.scheduler, NULL, 0 },
	{ "--nr-requests", &replay.queue.requests, NULL, 0 },
	{ "--read-ahead-kib", &replay.queue.read_ahead, NULL, 0 },
	{ NULL, NULL, NULL, 0 },
};

/* Removes a pack, so that the next boot records: once its place can be written to, which
 * it cannot be as long as the root is mounted as the kernel does it. */
static void remove_later(const char *path)
{
	struct timespec second = { .tv_sec = 1 };

	if (fork())
		return;
	setsid();
	for (int i = 0; i < REMOVE_S && unlink(path) && errno == EROFS; i++)
		nanosleep(&second, NULL);
	_exit(0);
}

static int replay_file(const char *path, int priority)
{
	struct pack pack;

	TEXT(report, 480);
	if (pack_read(&pack, path))
		return EXIT_FAILED;
	if (priority)
		syscall(SYS_ioprio_set, THIS_PROCESS, 0, priority);
	if (replay_pack(&replay, &pack, &report) && renew) {
		put(&report, "; the pack is out of date and goes");
		remove_later(path);
	}
	if (!report.len)
		return EXIT_FAILED;
	tell(&report);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	const char *word = NULL;
	int is_preload = !strcmp(argv[0], "preload");

	TEXT(path, 256);
	(void)argc;
	if (arguments(argv, ARGUMENTS, &word, is_preload, 1))
		return EXIT_USAGE;
	if (idle && first) {
		complain(0, "--idle or --first, not both", NULL);
		return EXIT_USAGE;
	}
	if (is_preload && place_of(&path, word, ".pack"))
		return EXIT_USAGE;
	if (is_preload)
		word = path.bytes;
	if (place_enter(enter))
		return EXIT_FAILED;
	replay.look_only = look != 0;
	replay.by_time = by_time != 0;
	replay.always = always != 0;
	return replay_file(word ? word : PLACE "/boot.pack",
			   idle ? IDLE : first ? REALTIME : 0);
}

const struct command replay_command = {
	.name = "replay",
	.summary = "read ahead what was recorded",
	.help = "usage: bootlap-agent replay [OPTION]... [PACK]\n\n"
		"Reads ahead what PACK (" PLACE "/boot.pack) says: first the file\n"
		"systems' metadata, then the files that are still the same.\n\n"
		"  --idle           when the disk has nothing else to do\n"
		"  --first          in front of all others\n"
		"  --threads N      processes that read (1)\n"
		"  --deadline-ms N  stops then\n"
		"  --always         also if the disk turns out so fast that nobody waits for it\n"
		"  --by-time        in the order of the recording, not of the places on the disk\n"
		"  --root DIR       file systems are mounted below DIR\n"
		"  --chroot DIR     all paths are DIR's (in an initramfs that goes on meanwhile)\n"
		"  --look           loads nothing, says what is in memory\n"
		"  --renew          removes PACK if a tenth of its files has changed or is gone, so\n"
		"                   that the next boot can record\n"
		"  --scheduler NAME, --nr-requests N, --read-ahead-kib N\n"
		"                   the disk's queue meanwhile; put back also if replay is killed\n",
	.run = run,
};

const struct command preload_command = {
	.name = "preload",
	.summary = "read ahead what an application needs",
	.help = "usage: bootlap-agent preload [OPTION]... NAME\n\n"
		"Reads ahead what bootlap-agent start NAME and stop NAME have recorded, with the\n"
		"options of bootlap-agent replay.\n",
	.run = run,
};

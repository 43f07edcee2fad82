/* replay, preload: reads ahead what was recorded. Whatever is wrong is one line and an
 * exit code: nothing that boots waits for this or needs it. */

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
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
static int64_t idle, first, look, by_time;

static const struct argument ARGUMENTS[] = {
	{ "--idle", NULL, &idle, 0 },
	{ "--first", NULL, &first, 0 },
	{ "--threads", NULL, &replay.threads, 8 },
	{ "--deadline-ms", NULL, &replay.deadline_ms, 3600 * 1000 },
	{ "--root", &replay.root, NULL, 0 },
	{ "--look", NULL, &look, 0 },
	{ "--by-time", NULL, &by_time, 0 },
	{ NULL, NULL, NULL, 0 },
};

static int replay_file(const char *path, int priority)
{
	struct pack pack;

	TEXT(report, 480);
	if (pack_read(&pack, path))
		return EXIT_FAILED;
	if (priority)
		syscall(SYS_ioprio_set, THIS_PROCESS, 0, priority);
	replay_pack(&replay, &pack, &report);
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
	replay.look_only = look != 0;
	replay.by_time = by_time != 0;
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
		"  --by-time        in the order of the recording, not of the places on the disk\n"
		"  --root DIR       file systems are mounted below DIR (in an initramfs)\n"
		"  --look           loads nothing, says what is in memory\n",
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

/* record, start, stop: what is read into the page cache between two moments. The
 * kernel notes it; between start and stop no process of ours lives. Without tracefs
 * what is cached at the end is taken, less what was cached at the start. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "ahead.h"
#include "arguments.h"
#include "collect/now.h"
#include "collect/options.h"
#include "collect/procfs.h"
#include "collect/ready.h"
#include "find.h"
#include "mounts.h"
#include "pack.h"
#include "place.h"
#include "text.h"
#include "trace.h"

#define RECORD "record" /* what the kernel's notes are called */
#define LOOK_MS 200
#define BUFFER_KIB 2048 /* for each CPU: some 40000 events */
#define AHEAD_KIB 8     /* two pages of most */
#define QUIET_S 30      /* nothing was read for so long: the boot is over, however slow the board */
#define FOR_S 60        /* where nothing else ends it, and nothing tells what is read */
#define UNTIL_S 600     /* what ends it may never come */

static volatile sig_atomic_t asked_to_stop;

static void stop_it(int signal)
{
	(void)signal;
	asked_to_stop = 1;
}

static int open_touched(struct touched *touched)
{
	if (!touched_open(touched))
		return 0;
	complain(errno, "there is no memory", NULL);
	return -1;
}

/* Takes what was traced, ends that, and writes the pack. */
static int finish_trace(const char *name, struct touched *touched, const char *out)
{
	int lost;

	trace_stop(name);
	lost = trace_take(name, touched);
	trace_remove(name);
	if (lost < 0) {
		complain(0, "the kernel's notes are gone; no pack is written", NULL);
		return -1;
	}
	touched->lost += (uint32_t)lost;
	find_names(touched);
	/* It was too early for that when the recording began. */
	place_make();
	return pack_write(out, touched);
}

static int write_cached(const char *out, const struct touched *before)
{
	struct touched touched;

	if (open_touched(&touched))
		return -1;
	find_cached(&touched);
	if (before)
		touched_subtract(&touched, before);
	place_make();
	return pack_write(out, &touched);
}

/* Which file system is recorded: most of what the others read, a boot does not wait for. */
static const char *on = "/";
static int64_t all, ahead_kib = AHEAD_KIB, background;

static void limit(void)
{
	if (!all && mounts_limit(on) && strcmp(on, "/"))
		complain(0, on, " is on no disk; all file systems are recorded", NULL);
}

static struct options until;
static const char *enter;
static const char *record_to = PLACE "/boot.pack";
static int64_t buffer_kib = BUFFER_KIB;

static const struct argument ARGUMENTS[] = {
	{ "--out", &record_to, NULL, 0 },
	{ "--chroot", &enter, NULL, 0 },
	{ "--for-s", NULL, &until.for_s, 24 * 3600 },
	{ "--until-mark", &until.until_mark, NULL, 0 },
	{ "--until-file", &until.until_file, NULL, 0 },
	{ "--until-line", &until.until_line, NULL, 0 },
	{ "--on", &on, NULL, 0 },
	{ "--all", NULL, &all, 0 },
	{ "--background", NULL, &background, 0 },
	{ "--read-ahead-kib", NULL, &ahead_kib, 1 << 20 },
	{ "--buffer-kib", NULL, &buffer_kib, 1 << 20 },
	{ NULL, NULL, NULL, 0 },
};
#define NO_ARGUMENTS (&ARGUMENTS[sizeof ARGUMENTS / sizeof *ARGUMENTS - 1])

static const struct argument OF_STOP[] = {
	{ "--on", &on, NULL, 0 },
	{ "--all", NULL, &all, 0 },
	{ NULL, NULL, NULL, 0 },
};

/* Waits for the end, and keeps the kernel's buffer from running over. */
static void wait_for_end(struct touched *touched)
{
	int is_until = until.until_mark || until.until_file || until.until_line;
	int until_quiet = !until.for_s && !is_until && touched;
	uint64_t end, quiet = now_ns() + QUIET_S * 1000000000ull;
	uint32_t extents = 0;

	if (!until.for_s)
		until.for_s = is_until || touched ? UNTIL_S : FOR_S;
	end = now_ns() + (uint64_t)until.for_s * 1000000000;
	procfs_open();
	ready_open(&until, 0);
	while (!asked_to_stop && now_ns() < end) {
		struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };

		nanosleep(&pause, NULL);
		if (touched)
			trace_take(RECORD, touched);
		if (touched && touched->extent_count != extents) {
			extents = touched->extent_count;
			quiet = now_ns() + QUIET_S * 1000000000ull;
		}
		if (until_quiet && now_ns() >= quiet)
			return;
		ready_look();
		if (ready_why())
			return;
	}
	if (is_until && !asked_to_stop)
		complain(0, "what was to end the recording did not come in time; it ends now", NULL);
}

/* Whoever waits for us goes on: from here on nothing is missed. To make the kernel's buffer
 * takes as long as a boot takes to load init and its libraries. */
static void go_on_in_background(void)
{
	if (!background)
		return;
	/* Without a second process this one does it, and is waited for. */
	if (fork() > 0)
		_exit(EXIT_OK);
	setsid();
}

static int record(void)
{
	static struct touched touched, before;
	struct sigaction action = { .sa_handler = stop_it };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (open_touched(&touched))
		return EXIT_FAILED;
	if (!trace_start(RECORD, (unsigned)buffer_kib) && trace_hold(RECORD) >= 0) {
		ahead_limit(on, (long)(ahead_kib ? ahead_kib : LONG_MAX / 2));
		go_on_in_background();
		wait_for_end(&touched);
		ahead_restore();
		limit();
		return finish_trace(RECORD, &touched, record_to) ? EXIT_FAILED : EXIT_OK;
	}
	if (errno == EBUSY || errno == EEXIST) {
		complain(0, "another bootlap-agent records already", NULL);
		return EXIT_FAILED;
	}
	complain(errno, "no filemap events of tracefs here, what is cached is compared", NULL);
	if (open_touched(&before))
		return EXIT_FAILED;
	limit();
	find_cached(&before);
	go_on_in_background();
	wait_for_end(NULL);
	return write_cached(record_to, &before) ? EXIT_FAILED : EXIT_OK;
}

static int run_record(int argc, char **argv)
{
	(void)argc;
	if (arguments(argv, ARGUMENTS, NULL, 0, 0))
		return EXIT_USAGE;
	return place_enter(enter) ? EXIT_FAILED : record();
}

/* What the kernel's notes for an application are called: nothing of ours is. */
static void notes_of(struct text *notes, const char *name)
{
	put(notes, "app-");
	put(notes, name);
}

static int run_start(int argc, char **argv)
{
	const char *name;

	TEXT(before, 256);
	TEXT(notes, 80);
	(void)argc;
	if (arguments(argv, NO_ARGUMENTS, &name, 1, 1) || place_of(&before, name, ".before"))
		return EXIT_USAGE;
	notes_of(&notes, name);
	if (!trace_start(notes.bytes, BUFFER_KIB)) {
		unlink(before.bytes);
		return EXIT_OK;
	}
	complain(errno, "no filemap events of tracefs here, what is cached is compared", NULL);
	return write_cached(before.bytes, NULL) ? EXIT_FAILED : EXIT_OK;
}

static int run_stop(int argc, char **argv)
{
	static struct touched touched;
	struct pack pack;
	const char *name;
	int failed;

	TEXT(before, 256);
	TEXT(out, 256);
	TEXT(notes, 80);
	(void)argc;
	if (arguments(argv, OF_STOP, &name, 1, 1) || place_of(&before, name, ".before") ||
	    place_of(&out, name, ".pack"))
		return EXIT_USAGE;
	limit();
	place_make();
	if (access(PLACE, W_OK)) {
		complain(errno, "cannot write to " PLACE, NULL);
		return EXIT_FAILED;
	}
	if (open_touched(&touched))
		return EXIT_FAILED;
	notes_of(&notes, name);
	if (trace_take(notes.bytes, &touched) >= 0)
		return finish_trace(notes.bytes, &touched, out.bytes) ? EXIT_FAILED : EXIT_OK;
	if (access(before.bytes, R_OK)) {
		complain(0, name, " was not started: bootlap-agent start ", name, NULL);
		return EXIT_FAILED;
	}
	if (pack_read(&pack, before.bytes))
		return EXIT_FAILED;
	pack_take(&pack, &touched);
	failed = write_cached(out.bytes, &touched);
	unlink(before.bytes);
	return failed ? EXIT_FAILED : EXIT_OK;
}

const struct command record_command = {
	.name = "record",
	.summary = "note what a boot reads, for replay",
	.help = "usage: bootlap-agent record [OPTION]...\n\n"
		"Notes which bytes of which files, and of the file systems' metadata, come into\n"
		"the page cache, until one of these:\n\n"
		"  --for-s N          so many seconds (600 with one of the others; else it ends when\n"
		"                     nothing was read for 30); also a SIGTERM ends it\n"
		"  --until-mark NAME  bootlap-agent mark NAME\n"
		"  --until-file FILE  it is there\n"
		"  --until-line TEXT  in the kernel's log\n\n"
		"then writes a pack:\n\n"
		"  --out FILE         instead of " PLACE "/boot.pack\n"
		"  --on PLACE         of the file system there (/)\n"
		"  --all              of all file systems\n"
		"  --background       returns once it records\n"
		"  --chroot DIR       all paths are DIR's (in an initramfs)\n"
		"  --read-ahead-kib N meanwhile the disk reads no further ahead (8; 0 leaves it), so\n"
		"                     that the pack has what was asked for\n"
		"  --buffer-kib N     the kernel's buffer of each CPU (2048)\n",
	.run = run_record,
};

const struct command start_command = {
	.name = "start",
	.summary = "begin to note what an application reads",
	.help = "usage: bootlap-agent start NAME\n\n"
		"The kernel notes what comes into the page cache, until bootlap-agent stop NAME.\n"
		"Drop the cache before, if you want all that the application needs:\n"
		"echo 3 >/proc/sys/vm/drop_caches\n",
	.run = run_start,
};

const struct command stop_command = {
	.name = "stop",
	.summary = "end that, and write " PLACE "/NAME.pack",
	.help = "usage: bootlap-agent stop NAME\n\n"
		"Writes what was read since bootlap-agent start NAME to " PLACE "/\n"
		"NAME.pack, for bootlap-agent preload NAME.\n\n"
		"  --on PLACE  of the file system there (/)\n"
		"  --all       of all file systems\n",
	.run = run_stop,
};

/* collect: what happens between the first process and the application being
 * ready, in one archive.
 *
 * Forks, execs and exits come from the kernel, so that no process is too short;
 * the rest is read at intervals. Between two of them nothing of this runs. As PID 1
 * it starts itself beside the real init, and whatever fails, that starts. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "accounts.h"
#include "agent.h"
#include "archive.h"
#include "events.h"
#include "log_clock.h"
#include "marks.h"
#include "now.h"
#include "options.h"
#include "processes.h"
#include "procfs.h"
#include "ready.h"
#include "rings.h"
#include "samples.h"
#include "send.h"
#include "text.h"
#include "tracing.h"

#define MS 1000000ull
#define S 1000000000ull

/* So many looks until one at everything. */
#define LOOKS_PER_FULL_LOOK 5

/* Init waits for the collector no longer than that. */
#define LISTENS_MS 100

static volatile sig_atomic_t asked_to_stop;

static void stop(int signal)
{
	(void)signal;
	asked_to_stop = 1;
}

static void fact(const char *name, const char *value)
{
	record_begin(WIRE_FACT);
	record_bytes(name, strlen(name) + 1);
	record_string(value);
	record_end();
}

/* The kernel's command line, which is read once. */
static const char *kernel_line(void)
{
	static char line[4096];

	if (!*line)
		procfs_read_record(procfs(), "cmdline", line, sizeof line);
	return line;
}

static void note_start(size_t cpus)
{
	struct timespec wall;
	struct utsname system;

	clock_gettime(CLOCK_REALTIME, &wall);
	record_begin(WIRE_START);
	record_u64(now_ns());
	record_u64((uint64_t)wall.tv_sec * S + (uint64_t)wall.tv_nsec);
	record_u32((uint32_t)sysconf(_SC_CLK_TCK));
	record_u32((uint32_t)cpus);
	record_u32((uint32_t)getpid());
	record_string(AGENT_VERSION);
	record_end();
	if (!uname(&system)) {
		fact("release", system.release);
		fact("machine", system.machine);
	}
	if (*kernel_line())
		fact("cmdline", kernel_line());
}

static uint64_t us(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void note_cost(uint32_t wakeups)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	record_begin(WIRE_COST);
	record_u64(now_ns());
	record_u64(us(used.ru_utime));
	record_u64(us(used.ru_stime));
	record_u32(wakeups);
	record_u32((uint32_t)archive_room());
	record_u32((uint32_t)archive_used());
	record_end();
}

/* Sleeps until then, or until a signal comes. */
static void sleep_until(uint64_t ns)
{
	struct timespec until = { .tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Who tells of what happens. */
struct told {
	int rings; /* whether these tell of processes */
	int events, accounts, marks; /* sockets, or -1 */
};

static int tells_of_exits(const struct told *told)
{
	return told->rings || told->events >= 0;
}

/* Notes what has happened since; what can wait only when `all` is asked for. */
static void look(const struct told *told, int all)
{
	if (told->rings)
		rings_drain(all);
	else if (told->events >= 0)
		events_drain(told->events);
	else
		processes_scan();
	/* They queue up; but if nobody else tells of exits their time is that of reading. */
	if (told->accounts >= 0 && (all || !tells_of_exits(told)))
		accounts_drain(told->accounts);
	if (told->marks >= 0)
		marks_drain(told->marks, ready_mark);
	samples_take();
	if (all)
		samples_take_rest();
}

/* Notes all that comes until the end; gives the reason for it. */
static const char *watch(const struct options *options, const struct told *told,
			 uint32_t *wakeups)
{
	uint64_t start = now_ns(), interval = (uint64_t)options->interval_ms * MS;
	uint64_t end = start + (uint64_t)options->for_s * S, next = start;
	const char *why = NULL;

	for (;;) {
		look(told, ++*wakeups % LOOKS_PER_FULL_LOOK == 0);
		ready_look();
		if (asked_to_stop)
			return "signal";
		if (ready_why() && !why) {
			uint64_t after = now_ns() + (uint64_t)options->after_ms * MS;

			why = ready_why();
			end = after < end ? after : end;
		}
		if (now_ns() >= end)
			return why ? why : "time";
		next += interval;
		/* One that was held up does not make up for it. */
		if (next < now_ns())
			next = now_ns() + interval;
		sleep_until(next < end ? next : end);
	}
}

static void trace(const struct options *options, const char *place)
{
	if (options->trace &&
	    tracing_start(options->trace, (size_t)options->buffer_kib, place))
		complain(0, "nothing is traced", NULL);
}

/* Sees the root that init has by now, so that the archive lands there. */
static void join_init(void)
{
	int fd = openat(procfs(), "1/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNS))
		complain(errno, "cannot see what init has mounted", NULL);
	if (fd >= 0)
		close(fd);
}

/* From the first process on (`from_start`) all others are told by the kernel; `listening`
 * is closed when it does. */
static int collect(const struct options *options, int from_start, int listening)
{
	struct told told = { .events = -1 };
	uint32_t wakeups = 0;
	const char *why, *path;
	size_t cpus;
	int failed;

	if (archive_open((size_t)options->buffer_kib << 10)) {
		complain(errno, "no memory for the buffer", NULL);
		return EXIT_FAILED;
	}
	signal(SIGTERM, stop);
	told.marks = marks_open();
	if (told.marks < 0 && errno == EADDRINUSE) {
		complain(0, "another bootlap-agent collects already", NULL);
		return EXIT_FAILED;
	}
	/* Beside init there is no terminal. */
	if (!from_start) {
		signal(SIGINT, stop);
		signal(SIGHUP, stop);
		trace(options, "/sys/kernel/tracing");
	}
	ready_open(options, from_start);
	told.rings = !rings_open(options->cpu_time);
	failed = errno;
	cpus = told.rings ? rings_open_cpus() : (size_t)sysconf(_SC_NPROCESSORS_CONF);
	note_start(cpus);
	fact("rings", told.rings ? "yes" : strerror(failed));
	if (options->cpu_time && !(told.rings && rings_tell_switches()))
		complain(0, "--cpu-time needs Linux 4.3 with CONFIG_PERF_EVENTS: CPU times are as "
			 "without it", NULL);
	if (!told.rings) {
		told.events = events_open();
		fact("events", told.events < 0 ? strerror(errno) : "yes");
	}
	close(listening);
	told.accounts = accounts_open(told.rings ? rings_cpus() : cpus);
	fact("accounts", told.accounts < 0 ? strerror(errno) : "yes");
	if (!from_start)
		processes_scan();
	why = watch(options, &told, &wakeups);
	signal(SIGPIPE, SIG_IGN);
	/* What ends while the living are looked at is told behind that. */
	if (tells_of_exits(&told))
		processes_scan();
	look(&told, 1);
	if (told.rings)
		rings_finish();
	archive_use_reserve();
	note_cost(wakeups);
	if (from_start)
		join_init();
	log_clock_note();
	archive_close(now_ns(), why);
	path = send_file(options->out);
	tracing_send(path ? path : options->out, options->console);
	if (path && strcmp(path, options->out))
		complain(0, "it is in ", path, NULL);
	if (options->console && send_console())
		path = NULL;
	return path ? EXIT_OK : EXIT_FAILED;
}

/* Whether that would start this program again. */
static int is_self(const char *path)
{
	const char *own = (const char *)getauxval(AT_EXECFN);
	struct stat one, other;

	return own && !stat(path, &one) && !stat(own, &other) && one.st_ino == other.st_ino &&
	       one.st_dev == other.st_dev;
}

/* Behind ` -- ` on its command line the kernel leaves words to init: options may stand
 * there, and are not the real init's. */
static void drop_options(char **argv)
{
	char **kept = argv;

	for (; *argv; argv++)
		if (!options_is_of_kernel(*argv))
			*kept++ = *argv;
	*kept = NULL;
}

static void become(const char *path, char **argv)
{
	if (is_self(path)) {
		errno = ELOOP;
		return;
	}
	argv[0] = (char *)path;
	execv(path, argv);
}

/* Gives whether the folder was made: an initramfs may leave that to its init. */
static int open_proc(void)
{
	int made;

	if (!procfs_open_alone())
		return 0;
	made = errno == ENOENT && !mkdir("/proc", 0555);
	if (!made || procfs_open_alone())
		complain(errno, "cannot mount /proc", NULL);
	return made;
}

/* What the kernel's command line says, then what init was given: by the kernel, or by an
 * init before, such as that of an initramfs. */
static void read_options(struct options *options, int argc, char **argv)
{
	static char words[4096]; /* the options stay in it */
	struct text line = text_in(words, sizeof words);

	options_default(options);
	put(&line, kernel_line());
	options_of_kernel(options, words);
	if (argc > 1 && !strcmp(argv[1], "collect")) {
		/* All of it is ours, and a mistake in it must not end the boot. */
		options_read(options, argc - 1, argv + 1);
		argv[1] = NULL;
	}
	for (char **word = argv + 1; *word; word++)
		if (!strstr(kernel_line(), *word))
			options_of_word(options, *word);
	options_mend(options);
}

/* What init starts before the collector listens would be missed. If that dies, the pipe
 * is closed as well. */
static void wait_for_close(const int pipe[2])
{
	struct pollfd closed = { .fd = pipe[0], .events = POLLIN };

	close(pipe[1]);
	poll(&closed, 1, LISTENS_MS);
}

/* PID 1: whatever happens, the real init comes next. */
static int as_init(int argc, char **argv)
{
	static const char *const INITS[] = { "/sbin/init", "/etc/init", "/bin/init", "/bin/sh" };
	struct options options;
	int in_initramfs, listening, end[2], made_proc = open_proc();
	pid_t collector;

	in_initramfs = !*kernel_line() || strstr(kernel_line(), "rdinit=");
	read_options(&options, argc, argv);
	drop_options(argv);
	/* There is nobody yet who could miss /proc meanwhile. */
	trace(&options, "/proc");
	/* Init finds it as it was. */
	if (made_proc)
		rmdir("/proc");
	listening = pipe2(end, O_CLOEXEC) ? -1 : end[1];
	collector = fork();
	if (!collector) {
		/* systemd leaves such a process alive when it changes roots. */
		argv[0][0] = '@';
		_exit(collect(&options, 1, listening));
	}
	if (collector < 0)
		complain(errno, "cannot start a process; nothing is collected", NULL);
	if (listening >= 0)
		wait_for_close(end);
	if (options.init) {
		become(options.init, argv);
		complain(errno, "cannot start ", options.init, NULL);
	}
	if (in_initramfs)
		become("/init", argv);
	for (size_t i = 0; i < sizeof INITS / sizeof *INITS; i++)
		become(INITS[i], argv);
	complain(errno, "there is no init; bootlap.init=PATH on the kernel's command line names it",
		 NULL);
	return EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	struct options options;

	if (getpid() == 1)
		return as_init(argc, argv);
	options_default(&options);
	if (options_read(&options, argc, argv))
		return EXIT_USAGE;
	if (procfs_open()) {
		complain(errno, "/proc is not there; mount it first", NULL);
		return EXIT_FAILED;
	}
	return collect(&options, 0, -1);
}

const struct command collect_command = {
	.name = "collect",
	.summary = "note processes, CPU, disks and memory until the boot is over",
	.help = "usage: bootlap-agent collect [OPTION]...\n"
		"       init=/path/to/bootlap-agent -- bootlap.OPTION... (the kernel's line)\n\n"
		"  --until-mark NAME     until `bootlap-agent mark NAME` ran\n"
		"  --until-file PATH     until that is there\n"
		"  --until-line TEXT     until the kernel's log has a line with this in it\n"
		"  --until-process NAME  until a program of that name was started\n"
		"  --until-unit NAME     until systemd has begun to start that unit (.service)\n"
		"  --for-s N             but no longer than that (120)\n"
		"  --after-ms N          so much longer (0)\n"
		"  --interval-ms N       between two looks at CPU, disks and memory (200)\n"
		"  --buffer-kib N        memory for all of it (2048); what is too much is counted\n"
		"  --cpu-time            how long each thread ran, to the ns, by its switches\n"
		"  --trace EVENTS        note events of the kernel, too: GROUP, GROUP:EVENT, a\n"
		"                        tracer (function_graph), with commas between, in\n"
		"                        --buffer-kib for each CPU: FILE.trace; `reads`: which\n"
		"                        files are opened and read (four times the buffer);\n"
		"                        `kernel` and `kernel:INSTANCE` take what it traces since\n"
		"                        its start, and leave it: FILE.kernel.trace\n"
		"  --out FILE            the archive (/var/log/bootlap-agent.archive)\n"
		"  --console             print it on the console, too, and what --trace notes\n"
		"  bootlap.init=PATH     what PID 1 becomes (/sbin/init)\n\n"
		"Needs root. Processes come from the kernel (CONFIG_PERF_EVENTS or\n"
		"CONFIG_PROC_EVENTS, CONFIG_TASKSTATS) and are all there, however short; without\n"
		"that they are looked at in intervals.\n",
	.run = run,
};

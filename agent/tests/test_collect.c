/* What collect is asked for: its options, when it is over, where its archive lands, and
 * that no CPU is missed. What needs root or a kernel's log says that it did nothing. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../include/bootlap-mark.h"
#include "check.h"
#include "collect/accounts.h"
#include "collect/archive.h"
#include "collect/now.h"
#include "collect/options.h"
#include "collect/procfs.h"
#include "collect/ready.h"
#include "collect/rings.h"
#include "collect/send.h"
#include "folder.h"

static struct options of_kernel(const char *cmdline)
{
	static char words[512];
	struct options options;

	snprintf(words, sizeof words, "%s", cmdline);
	options_default(&options);
	options_of_kernel(&options, words);
	options_mend(&options);
	return options;
}

static void an_init_before_may_give_options_too(void)
{
	struct options options = of_kernel("quiet bootlap.until-mark=of-kernel");
	char mark[] = "bootlap.until-mark=of init", console[] = "bootlap.console", other[] = "5";
	char cpu_time[] = "bootlap.cpu-time";

	options_of_word(&options, mark);
	options_of_word(&options, console);
	options_of_word(&options, other);
	CHECK_TEXT(options.until_mark, "of init");
	CHECK(options.console && !options.cpu_time);
	options_of_word(&options, cpu_time);
	CHECK(options.cpu_time);
}

static void the_kernels_command_line_is_split_as_it_splits(void)
{
	struct options options = of_kernel(
		"quiet rdinit=/x bootlap.until-line=\"two words\" \"bootlap.until-mark=a b\"\t"
		"bootlap.console=1 bootlap.out=/o -- bootlap.until-file=/f\n");

	CHECK_TEXT(options.until_line, "two words");
	CHECK_TEXT(options.until_mark, "a b");
	CHECK_TEXT(options.out, "/o");
	CHECK_TEXT(options.until_file, "/f");
	CHECK(options.console);
	/* One that never ends. */
	CHECK_TEXT(of_kernel("bootlap.until-mark=\"a b").until_mark, "a b");
}

static void a_mistake_leaves_the_rest_as_it_is(void)
{
	struct options options = of_kernel("bootlap.interval-ms=0 bootlap.buffer-kib=64");

	CHECK(options.interval_ms == 200 && options.buffer_kib == 64);
	options = of_kernel("bootlap.interval-ms=7 bootlap.buffer-kib=1 bootlap.for-s=x");
	CHECK(options.interval_ms == 7 && options.buffer_kib == 2048 && options.for_s == 120);
}

/* Why a collection is over; NULL if it is not. */
static const char *looked(void)
{
	ready_look();
	return ready_why();
}

static void files_are_found_behind_links(void)
{
	char path[128];
	struct options options = { .until_file = path };

	CHECK(!mkdir(in_folder("real"), 0755) && !symlink(in_folder("real"), in_folder("link")));
	strcpy(path, in_folder("link/there"));
	ready_open(&options, 0);
	CHECK(!looked());
	/* A link that leads nowhere is there. */
	CHECK(!symlink("nowhere", in_folder("real/there")));
	CHECK_TEXT(looked(), "file");
	options.until_file = "/proc/self/../version";
	ready_open(&options, 0);
	CHECK_TEXT(looked(), "file");
}

/* Nobody sees a line until it ends. */
static int log_line(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC), written, len;
	char line[256];

	if (fd < 0)
		return 0;
	len = snprintf(line, sizeof line, "%s\n", text);
	written = write(fd, line, (size_t)len) == len;
	close(fd);
	return written;
}

static void lines_and_marks_are_seen_in_the_kernels_log(void)
{
	char line[64], asked[128], mark[64];
	struct options options = { 0 };

	/* No other run has written these. */
	snprintf(line, sizeof line, "gr\xc3\xbc\xc3\x9f \\ %ju", (uintmax_t)now_ns());
	snprintf(asked, sizeof asked, "<7>command line: bootlap.until-line=%s", line);
	snprintf(mark, sizeof mark, "mark %ju", (uintmax_t)now_ns());
	if (access("/dev/kmsg", R_OK | W_OK) || !log_line(asked)) {
		printf("test_collect: no kernel's log here\n");
		return;
	}
	options.until_line = line;
	ready_open(&options, 1);
	CHECK(!looked());
	CHECK(log_line(line));
	CHECK_TEXT(looked(), "line");
	bootlap_mark(mark);
	options = (struct options){ .until_mark = mark };
	ready_open(&options, 0);
	CHECK(!looked());
	bootlap_mark(mark);
	CHECK_TEXT(looked(), "mark");
}

static void processes_that_nobody_told_of_count_if_they_are_new(void)
{
	struct options options = { .until_process = "app" };

	ready_open(&options, 0);
	ready_process("app", 3, now_ns() - 1000000000);
	CHECK(!ready_why());
	ready_process("application", 11, now_ns());
	CHECK(!ready_why());
	ready_process("app", 3, now_ns());
	CHECK_TEXT(ready_why(), "process");
}

static void a_full_buffer_keeps_room_for_the_end(void)
{
	size_t used;

	CHECK(!archive_open(2048));
	for (int i = 0; i < 1000; i++) {
		record_begin(WIRE_FACT);
		record_string("something");
		record_end();
	}
	used = archive_used();
	record_begin(WIRE_COST);
	record_u64(0);
	record_end();
	CHECK(archive_used() == used);
	archive_use_reserve();
	record_begin(WIRE_COST);
	record_u64(0);
	record_end();
	CHECK(archive_used() > used);
	archive_close(1, "test");
	CHECK(archive_used() <= archive_room());
}

/* After a_full_buffer_keeps_room_for_the_end, whose archive is sent. */
static void archives_go_through_links_and_devices(void)
{
	struct stat stat;
	const char *link = in_folder("archive"), *device;

	CHECK(!symlink("target", link));
	CHECK(send_file(link) == link);
	CHECK(!lstat(link, &stat) && S_ISLNK(stat.st_mode));
	CHECK(!lstat(in_folder("target"), &stat) && (size_t)stat.st_size == archive_used());
	device = in_folder("null");
	if (!mknod(device, S_IFCHR | 0600, 1 << 8 | 3)) {
		CHECK(send_file(device) == device);
		CHECK(!lstat(device, &stat) && S_ISCHR(stat.st_mode));
	}
}

static void nobody_can_hold_up_or_get_an_archive(void)
{
	struct stat stat;
	const char *path = in_folder("result");
	char new[256];
	int left;

	snprintf(new, sizeof new, "%s.new", path);
	/* A pipe that nobody reads. */
	CHECK(!mkfifo(new, 0666));
	CHECK(send_file(path) == path);
	CHECK(!lstat(path, &stat) && S_ISREG(stat.st_mode));
	CHECK((size_t)stat.st_size == archive_used());
	/* A file that somebody has open. */
	left = open(new, O_RDWR | O_CREAT | O_EXCL, 0666);
	CHECK(left >= 0 && send_file(path) == path);
	CHECK(!fstat(left, &stat) && !stat.st_size);
	close(left);
}

static void every_cpu_tells_also_those_that_this_may_not_use(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t first, before;

	CHECK(!sched_getaffinity(0, sizeof before, &before));
	CPU_ZERO(&first);
	for (int cpu = 0; !CPU_COUNT(&first); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &first);
	CHECK(!sched_setaffinity(0, sizeof first, &first));
	if (rings_open(0))
		printf("test_collect: the kernel does not tell of processes\n");
	else
		CHECK(rings_open_cpus() == (size_t)online && rings_cpus() >= (size_t)online);
	CHECK(!sched_setaffinity(0, sizeof before, &before));
}

#define BURNERS 40

/* Runs so many rounds without a call of the kernel. */
static pid_t burner(uint64_t rounds)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (volatile uint64_t i = 0; i < rounds; i++)
		;
	_exit(0);
}

/* How long a process that has ended ran by the scheduler's own clock, us. */
static int64_t ran_us(pid_t pid)
{
	struct timespec ran;
	siginfo_t info;
	clockid_t clock;

	CHECK(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	CHECK(!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &ran));
	CHECK(waitpid(pid, NULL, 0) == pid);
	return ran.tv_sec * 1000000 + ran.tv_nsec / 1000;
}

static uint64_t number_at(const unsigned char *at, int bytes)
{
	uint64_t number = 0;

	for (int i = bytes - 1; i >= 0; i--)
		number = number << 8 | at[i];
	return number;
}

/* What the archive's record of this kind says of a process, behind its time; NULL if it has
 * none. */
static const unsigned char *told_of(enum wire_kind kind, pid_t pid)
{
	const unsigned char *at = archive_bytes() + WIRE_MAGIC_LEN;
	const unsigned char *end = archive_bytes() + archive_used();

	while (at + WIRE_HEAD_LEN <= end) {
		const unsigned char *fields = at + WIRE_HEAD_LEN;

		if (*at == kind && number_at(fields + 8, 4) == (uint64_t)pid)
			return fields + 8;
		at = fields + number_at(at + 2, 2);
	}
	return NULL;
}

/* The user and system time of the archive's account of a process, us; 0 if it has none. */
static int64_t told_us(pid_t pid)
{
	const unsigned char *account = told_of(WIRE_ACCOUNT, pid);

	return account ? (int64_t)(number_at(account + 16, 8) + number_at(account + 24, 8)) : 0;
}

/* The kernel has nothing of them in its sums: they end before it looks. */
static void the_time_of_who_never_slept_is_told(void)
{
	int accounts = accounts_open((size_t)sysconf(_SC_NPROCESSORS_CONF));
	int64_t ran = 0, told = 0;

	if (accounts < 0) {
		printf("test_collect: the kernel does not account for processes\n");
		return;
	}
	CHECK(!archive_open(1 << 20));
	for (uint64_t i = 1; i <= BURNERS; i++) {
		pid_t pid = burner(i * 200000);

		ran += ran_us(pid);
		accounts_drain(accounts);
		told += told_us(pid);
	}
	/* Without what comes behind the account, which a sanitizer makes long. */
	CHECK(told > ran / 2);
	close(accounts);
}

/* Runs for less than a tick at a time, and sleeps in between. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (int times = 0; times < 20; times++) {
		for (volatile uint64_t i = 0; i < 300000; i++)
			;
		usleep(500);
	}
	_exit(0);
}

/* Lives until it is killed, or for a minute. */
static pid_t waiter(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	alarm(60);
	for (;;)
		pause();
}

static int lives_still(pid_t pid)
{
	siginfo_t info = { 0 };

	CHECK(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG));
	return !info.si_pid;
}

static void switches_tell_how_long_each_thread_ran(void)
{
	/* What others start meanwhile ends nothing. */
	static const struct options NOTHING;
	int64_t ran[BURNERS], all_ran = 0, all_told = 0;
	pid_t pids[BURNERS], lives;

	ready_open(&NOTHING, 0);
	if (rings_open(1) || !rings_tell_switches()) {
		printf("test_collect: the kernel does not tell of switches\n");
		return;
	}
	CHECK(!archive_open(1 << 20));
	lives = waiter();
	for (int i = 0; i < BURNERS; i++)
		pids[i] = sleeper();
	for (int i = 0; i < BURNERS; i++) {
		/* Looked at often enough that nothing is lost. */
		while (lives_still(pids[i])) {
			rings_drain(0);
			usleep(5000);
		}
		ran[i] = ran_us(pids[i]);
	}
	rings_drain(0);
	rings_finish();
	for (int i = 0; i < BURNERS; i++) {
		const unsigned char *told = told_of(WIRE_RAN, pids[i]);
		int64_t us = told ? (int64_t)number_at(told + 4, 8) / 1000 : 0;

		CHECK(us > ran[i] * 4 / 5);
		all_ran += ran[i];
		all_told += us;
	}
	/* Interrupts may be in it, and what a host took, which some kernels do not count. */
	CHECK(all_told > all_ran * 19 / 20 && all_told < all_ran * 2);
	/* Who lives is told, who was there before is not. */
	CHECK(told_of(WIRE_RAN, lives) && !told_of(WIRE_RAN, getpid()));
	kill(lives, SIGKILL);
	CHECK(waitpid(lives, NULL, 0) == lives);
}

static void clean_up(void)
{
	shell("cd / && rm -r \"$OLDPWD\"");
}

int main(void)
{
	strcpy(folder, "/tmp/bootlap-collect-XXXXXX");
	CHECK(mkdtemp(folder));
	atexit(clean_up);
	CHECK(!procfs_open());
	the_kernels_command_line_is_split_as_it_splits();
	an_init_before_may_give_options_too();
	a_mistake_leaves_the_rest_as_it_is();
	files_are_found_behind_links();
	lines_and_marks_are_seen_in_the_kernels_log();
	processes_that_nobody_told_of_count_if_they_are_new();
	a_full_buffer_keeps_room_for_the_end();
	archives_go_through_links_and_devices();
	nobody_can_hold_up_or_get_an_archive();
	every_cpu_tells_also_those_that_this_may_not_use();
	the_time_of_who_never_slept_is_told();
	switches_tell_how_long_each_thread_ran();
	return 0;
}

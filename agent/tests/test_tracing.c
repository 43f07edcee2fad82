/* tracing: the kernel's own events, in a file at the end. As root, where tracefs is;
 * elsewhere it says that it did nothing. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "collect/tracing.h"

static char archive[] = "/tmp/bootlap-tracing-XXXXXX";

/* As one that bootconfig made. */
#define OTHERS "/sys/kernel/tracing/instances/bootlap-test"

static const char *trace_of(const char *archive_path, const char *name)
{
	static char path[64], text[1 << 20];
	FILE *file;

	snprintf(path, sizeof path, "%s%s.trace", archive_path, name);
	file = fopen(path, "r");
	CHECK(file);
	text[fread(text, 1, sizeof text - 1, file)] = 0;
	fclose(file);
	unlink(path);
	return text;
}

static int is_left(void)
{
	return !access("/sys/kernel/tracing/instances/bootlap-collect", F_OK);
}

static void what_is_known_is_traced(void)
{
	const char *trace;

	CHECK(!tracing_start("sched:sched_process_exec,nonsense,sched:sched_process_exit", 512,
			     "/sys/kernel/tracing"));
	CHECK(!system("/bin/true"));
	tracing_send(archive, 0);
	trace = trace_of(archive, "");
	CHECK(strstr(trace, "sched_process_exec: filename=/bin/true"));
	CHECK(strstr(trace, "sched_process_exit: comm=true"));
	CHECK(!strncmp(trace, "# clock: mono\n# tracer: nop\n", 28));
	CHECK(!is_left());
}

static void what_nobody_knows_is_said(void)
{
	CHECK(tracing_start("nonsense", 512, "/sys/kernel/tracing"));
	CHECK(!is_left());
	/* There is nothing to be sent. */
	tracing_send(archive, 0);
	CHECK(access("/sys/kernel/tracing/instances/bootlap-collect", F_OK));
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static char first_of(const char *path)
{
	char first = 0;
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0 && read(fd, &first, 1) == 1);
	close(fd);
	return first;
}

/* Both of the kernel's own are taken, and neither is ended or changed. */
static void what_the_kernel_traces_is_taken(void)
{
	const char *trace;

	rmdir(OTHERS);
	CHECK(!mkdir(OTHERS, 0700));
	write_to(OTHERS "/trace_marker", "from the start");
	CHECK(!tracing_start("kernel,kernel:bootlap-test,kernel:nonsense", 512,
			     "/sys/kernel/tracing"));
	CHECK(!is_left());
	write_to(OTHERS "/trace_marker", "and later");
	tracing_send(archive, 0);
	CHECK(strstr(trace_of(archive, ".kernel"), "# tracer: "));
	trace = trace_of(archive, ".bootlap-test");
	CHECK(strstr(trace, "from the start") && strstr(trace, "and later"));
	CHECK(!strstr(trace, "DROPPED"));
	CHECK(!strncmp(trace, "# clock: local\n", 15));
	CHECK(first_of(OTHERS "/tracing_on") == '1');
	CHECK(first_of(OTHERS "/options/pause-on-trace") == '0');
	/* It still is there for others, and goes on. */
	write_to(OTHERS "/trace_marker", "afterwards");
	CHECK(!tracing_start("kernel:bootlap-test", 512, "/sys/kernel/tracing"));
	tracing_send(archive, 0);
	trace = trace_of(archive, ".bootlap-test");
	CHECK(strstr(trace, "from the start") && strstr(trace, "afterwards"));
}

static void what_was_lost_is_told(void)
{
	write_to(OTHERS "/buffer_size_kb", "4");
	for (int i = 0; i < 2000; i++)
		write_to(OTHERS "/trace_marker", "one of many that do not all fit");
	CHECK(!tracing_start("kernel:bootlap-test", 512, "/sys/kernel/tracing"));
	tracing_send(archive, 0);
	CHECK(strstr(trace_of(archive, ".bootlap-test"), " EVENTS DROPPED]\n"));
	CHECK(!rmdir(OTHERS));
}

/* `nop` every kernel has, and gives it to instances. */
static void a_tracer_is_no_event(void)
{
	CHECK(!tracing_start("nop", 512, "/sys/kernel/tracing"));
	tracing_send(archive, 0);
	CHECK(strstr(trace_of(archive, ""), "# tracer: nop"));
	/* Neither is there; so nothing is left. */
	CHECK(tracing_start("kernel:,kernel:nonsense,kernel:../x", 512, "/sys/kernel/tracing"));
	CHECK(!is_left());
}

/* Only of calls that end while it is traced. */
static void what_files_are_read_is_traced(void)
{
	const char *trace;

	if (access("/sys/kernel/tracing/events/syscalls", F_OK))
		return;
	CHECK(!tracing_start("reads", 512, "/sys/kernel/tracing"));
	CHECK(!system("read line </etc/passwd"));
	tracing_send(archive, 0);
	trace = trace_of(archive, "");
	CHECK(!strncmp(trace, "# clock: mono\n# reads\n", 22));
	CHECK(strstr(trace, "sys_read(fd: 0, ") && strstr(trace, "sys_read -> 0x1\n"));
	CHECK(strstr(trace, "sys_openat -> 0x") && strstr(trace, "sys_close(fd: "));
	CHECK(strstr(trace, "task_newtask: ") && strstr(trace, "sched_process_exec: filename="));
	/* Not all kernels can say the path. */
	CHECK(strstr(trace, "path=\"/etc/passwd\"") || !strstr(trace, "path="));
	CHECK(!is_left());
}

int main(void)
{
	if (getuid() || access("/sys/kernel/tracing/instances", W_OK)) {
		puts("test_tracing: not root, or no tracefs: nothing was tested");
		return 0;
	}
	CHECK(mkstemp(archive) >= 0);
	what_is_known_is_traced();
	what_nobody_knows_is_said();
	what_the_kernel_traces_is_taken();
	what_was_lost_is_told();
	a_tracer_is_no_event();
	what_files_are_read_is_traced();
	unlink(archive);
	return 0;
}

/* tracing: the kernel's own events, in a file at the end. As root, where tracefs is;
 * elsewhere it says that it did nothing. */

#include <unistd.h>

#include "check.h"
#include "collect/tracing.h"

static char archive[] = "/tmp/bootlap-tracing-XXXXXX";

static const char *trace_of(const char *archive_path)
{
	static char path[64], text[1 << 20];
	FILE *file;

	snprintf(path, sizeof path, "%s.trace", archive_path);
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
	tracing_send(archive);
	trace = trace_of(archive);
	CHECK(strstr(trace, "sched_process_exec: filename=/bin/true"));
	CHECK(strstr(trace, "sched_process_exit: comm=true"));
	CHECK(!is_left());
}

static void what_nobody_knows_is_said(void)
{
	CHECK(tracing_start("nonsense", 512, "/sys/kernel/tracing"));
	CHECK(!is_left());
	/* There is nothing to be sent. */
	tracing_send(archive);
	CHECK(access("/sys/kernel/tracing/instances/bootlap-collect", F_OK));
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
	unlink(archive);
	return 0;
}

/* rc: plans are read as the host writes them, scripts start in their order, and
 * nothing that goes wrong keeps the others from starting. */

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "check.h"
#include "crc32.h"
#include "rc/folder.h"
#include "rc/plan.h"
#include "text.h"

static char dir[] = "/tmp/bootlap-rc-XXXXXX";
static struct plan plan;
static char bytes[PLAN_BYTES + 1];

static const char *in_dir(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && !write_all(fd, text, strlen(text)));
	CHECK(!fchmod(fd, mode) && !close(fd));
}

static const char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes - 1);

	CHECK(n >= 0);
	if (fd >= 0)
		close(fd);
	bytes[n] = 0;
	return bytes;
}

/* A script that notes its begin and end in $dir/out. */
static void script(const char *name, const char *body)
{
	char text[1024];

	snprintf(text, sizeof text, "#!/bin/sh\necho \"$1 %s\" >> %s/out\n%s\necho \"end %s\" >> %s/out\n",
		 name, dir, body, name, dir);
	write_file(name, text, 0755);
}

/* Writes the plan of these scripts. */
static void write_plan(const char *scripts)
{
	char text[2048];
	int len = snprintf(text, sizeof text, "bootlap-rc 1\ndir %s\n%s", dir, scripts);
	unsigned count = 0;

	for (const char *at = scripts; *at; at++)
		count += *at == '\n';
	snprintf(text + len, sizeof text - (size_t)len, "end %u %08x\n", count,
		 crc32(0, text, (size_t)len));
	write_file("plan", text, 0644);
}

static int rc(const char *option, const char *value)
{
	char *argv[] = { (char *)"rc", (char *)in_dir("plan"), (char *)"--log",
			 (char *)in_dir("log"), (char *)option, (char *)value, NULL };

	unlink(in_dir("out"));
	return rc_command.run(option ? 6 : 4, argv);
}

static const char *out(void)
{
	return read_file(in_dir("out"));
}

static int in_order(const char *text, const char *first, const char *second)
{
	const char *at = strstr(text, first);

	return at && strstr(at, second);
}

static void what_the_host_writes_is_read(void)
{
	const char *golden = read_file("tests/corpus/rc/golden");

	CHECK(!plan_parse(&plan, bytes, strlen(golden)));
	CHECK_TEXT(plan.dir, "/etc/rcS.d");
	CHECK(plan.count == 5 && plan.edge_count == 5);
	CHECK_TEXT(plan.scripts[2].name, "S03keyboard-setup.sh");
	CHECK(plan.scripts[2].alone && !plan.scripts[1].alone);
	CHECK(plan.scripts[2].waits == 2 && plan.scripts[3].waits == 0);
	CHECK(plan.edges[plan.scripts[4].first] == 1 && plan.edges[plan.scripts[4].first + 1] == 3);
}

static void a_damaged_plan_is_seen(void)
{
	size_t len = strlen(read_file("tests/corpus/rc/golden"));

	for (size_t cut = 0; cut < len; cut++) {
		read_file("tests/corpus/rc/golden");
		CHECK(plan_parse(&plan, bytes, cut));
		read_file("tests/corpus/rc/golden");
		bytes[cut] ^= 1;
		CHECK(plan_parse(&plan, bytes, len));
	}
}

static void plan_has_no_cycle(void)
{
	script("a", "");
	script("b", "");
	write_plan("script a after 1\nscript b after 0\n");
	CHECK(plan_parse(&plan, bytes, strlen(read_file(in_dir("plan")))));
	write_plan("script a after 0\n");
	CHECK(plan_parse(&plan, bytes, strlen(read_file(in_dir("plan")))));
}

static void scripts_wait_for_what_they_need(void)
{
	char until_c[300];

	snprintf(until_c, sizeof until_c, "until grep -q 'start c' %s/out; do sleep 0.01; done", dir);
	script("a", "sleep 0.1");
	script("b", until_c);
	script("c", "");
	script("d", "");
	write_plan("script a\nscript b after 0\nscript c after 0\nscript d after 1 2\n");
	CHECK(rc(NULL, NULL) == EXIT_OK);
	CHECK(in_order(out(), "end a", "start b") && in_order(out(), "end a", "start c"));
	CHECK(in_order(out(), "start c", "end b"));
	CHECK(in_order(out(), "end b", "start d") && in_order(out(), "end c", "start d"));
	read_file(in_dir("log"));
	CHECK(in_order(bytes, "bootlap-rc-log 1\n", " start a\n"));
	CHECK(in_order(bytes, " end 0 a\n", " start b\n") && strstr(bytes, " end 0 d\n"));
}

static void one_at_a_time_if_asked(void)
{
	script("a", "sleep 0.1");
	script("b", "");
	write_plan("script a\nscript b\n");
	CHECK(rc("--jobs", "1") == EXIT_OK);
	CHECK_TEXT(out(), "start a\nend a\nstart b\nend b\n");
	CHECK(rc("--action", "restart") == EXIT_OK);
	CHECK(strstr(out(), "restart a\n"));
}

static void nothing_runs_beside_an_interactive_one(void)
{
	script("a", "sleep 0.1");
	script("b", "sleep 0.1");
	script("c", "");
	write_plan("script a\nscript b alone\nscript c\n");
	CHECK(rc(NULL, NULL) == EXIT_OK);
	CHECK_TEXT(out(), "start a\nend a\nstart b\nend b\nstart c\nend c\n");
}

static void one_that_fails_has_ended(void)
{
	script("a", "exit 3");
	script("b", "kill -9 $$");
	script("c", "");
	write_plan("script a\nscript b\nscript missing\nscript c after 0 1 2\n");
	CHECK(rc(NULL, NULL) == EXIT_FAILED);
	CHECK(strstr(out(), "end c\n"));
	read_file(in_dir("log"));
	CHECK(strstr(bytes, " end 3 a\n") && strstr(bytes, " end 137 b\n"));
	CHECK(strstr(bytes, " end 127 missing\n") && strstr(bytes, " end 0 c\n"));
}

static void one_that_hangs_is_passed_over(void)
{
	script("a", "sleep 1.5");
	script("b", "");
	write_plan("script a\nscript b after 0\n");
	CHECK(rc("--timeout-s", "1") == EXIT_FAILED);
	CHECK_TEXT(out(), "start a\nstart b\nend b\n");
	CHECK(strstr(read_file(in_dir("log")), " end timeout a\n"));
	while (wait(NULL) > 0)
		;
}

static void shells_start_what_is_no_program(void)
{
	char text[512];

	snprintf(text, sizeof text, "echo \"$1 a\" >> %s/out\n", dir);
	write_file("a", text, 0755);
	write_file("b", text, 0644);
	write_plan("script a\nscript b after 0\n");
	CHECK(rc(NULL, NULL) == EXIT_OK);
	CHECK_TEXT(out(), "start a\nstart a\n");
}

static void without_a_plan_all_start_by_name(void)
{
	script("S20second", "");
	script("S03first", "sleep 0.1");
	script("K01stopped", "");
	script("S20second.sh", "");
	write_file("plan", "bootlap-rc 1\nscrpt", 0644);
	CHECK(rc("--dir", dir) == EXIT_FAILED);
	CHECK_TEXT(out(), "start S03first\nend S03first\nstart S20second\nend S20second\n"
			  "start S20second.sh\nend S20second.sh\n");
	unlink(in_dir("plan"));
	CHECK(rc("--dir", dir) == EXIT_FAILED);
	CHECK(strstr(out(), "end S20second.sh\n"));
	/* The folder that a damaged plan names. */
	write_plan("script a\n");
	read_file(in_dir("plan"));
	bytes[strlen(bytes) - 2] ^= 1;
	write_file("plan", bytes, 0644);
	CHECK(rc(NULL, NULL) == EXIT_FAILED);
	CHECK(strstr(out(), "end S20second.sh\n"));
}

static void without_numbers_only_what_a_boot_starts(void)
{
	for (const char *const *name = (const char *const[]){ "S20second", "S03first",
							      "S20second.sh", NULL };
	     *name; name++)
		CHECK(!unlink(in_dir(*name)));
	script("a", "# none\n");
	script("halt", "\n# Default-Start:\n# Default-Stop: 0");
	script("killprocs", "\n# Default-Start: 1\n");
	script("network", "\n# Default-Start:     2 3\n");
	script("udev", "\n#  default-start:\t0 S\n");
	CHECK(!plan_of_folder(&plan, dir, bytes, sizeof bytes));
	CHECK(plan.count == 2);
	CHECK_TEXT(plan.scripts[0].name, "udev");
	CHECK_TEXT(plan.scripts[1].name, "network");
	CHECK(plan.scripts[1].waits == 1 && plan.edges[plan.scripts[1].first] == 0);
	CHECK(plan_of_folder(&plan, "/nowhere", bytes, sizeof bytes) == -1);
}

static void mistakes_are_told(void)
{
	char *none[] = { (char *)"rc", NULL };
	char *two[] = { (char *)"rc", (char *)"a", (char *)"b", NULL };
	char *odd[] = { (char *)"rc", (char *)"a", (char *)"--odd", NULL };
	char *letter[] = { (char *)"rc", (char *)"-x", NULL };
	char *zero[] = { (char *)"rc", (char *)"a", (char *)"--jobs=0", NULL };

	CHECK(rc_command.run(1, none) == EXIT_USAGE);
	CHECK(rc_command.run(3, two) == EXIT_USAGE);
	CHECK(rc_command.run(3, odd) == EXIT_USAGE);
	CHECK(rc_command.run(2, letter) == EXIT_USAGE);
	CHECK(rc_command.run(3, zero) == EXIT_USAGE);
}

int main(void)
{
	char clean[64];

	CHECK(mkdtemp(dir));
	what_the_host_writes_is_read();
	a_damaged_plan_is_seen();
	plan_has_no_cycle();
	scripts_wait_for_what_they_need();
	one_at_a_time_if_asked();
	nothing_runs_beside_an_interactive_one();
	one_that_fails_has_ended();
	one_that_hangs_is_passed_over();
	shells_start_what_is_no_program();
	without_a_plan_all_start_by_name();
	without_numbers_only_what_a_boot_starts();
	mistakes_are_told();
	snprintf(clean, sizeof clean, "rm -r %s", dir);
	return system(clean) != 0;
}

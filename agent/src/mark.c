/* mark: says in the evidence that something has been reached.
 *
 * A line `bootlap: NAME` goes into the kernel's log, whose time is exact, and
 * onto the console, unless the kernel prints it there anyway; and a collector
 * that runs is told. */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"
#include "collect/marks.h"
#include "collect/now.h"
#include "text.h"

static int write_to(const char *path, const struct text *line)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	int failed;

	if (fd < 0)
		return errno;
	failed = write_all(fd, line->bytes, line->len) ? errno : 0;
	close(fd);
	return failed;
}

/* Whether the kernel prints messages of level 5 (notice). */
static int kernel_prints(void)
{
	char level[8] = "";
	int fd = open("/proc/sys/kernel/printk", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, level, sizeof level - 1);
	close(fd);
	/* "4\t4\t1\t7": the console's comes first, and has one digit or two. */
	return n > 1 && level[0] >= '0' && (level[0] > '5' || level[1] != '\t');
}

static int tell_collector(const char *name)
{
	struct mark mark = { .time = now_ns() };
	size_t name_len = strlen(name);
	struct sockaddr_un to;
	socklen_t len = marks_address(&to);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int told;

	if (fd < 0)
		return 0;
	memcpy(mark.name, name, name_len);
	told = sendto(fd, &mark, offsetof(struct mark, name) + name_len, MSG_DONTWAIT,
		      (struct sockaddr *)&to, len) >= 0;
	close(fd);
	return told;
}

static int run(int argc, char **argv)
{
	TEXT(line, MARK_NAME + 32);
	int log, console = 0, told;

	if (argc != 2 || !argv[1][0]) {
		complain(0, "mark needs one name, e.g. bootlap-agent mark network-up", NULL);
		return EXIT_USAGE;
	}
	if (argv[1][0] == '-') {
		complain(0, "mark knows no option ", argv[1],
			 "; a name begins with something else, e.g. network-up", NULL);
		return EXIT_USAGE;
	}
	if (strlen(argv[1]) > MARK_NAME) {
		complain(0, "that name is too long for a line", NULL);
		return EXIT_USAGE;
	}
	for (const char *c = argv[1]; *c; c++)
		if ((unsigned char)*c < ' ') {
			complain(0, "a name has no line breaks or other control characters", NULL);
			return EXIT_USAGE;
		}
	put(&line, "<5>bootlap: ");
	put(&line, argv[1]);
	put(&line, "\n");
	log = write_to("/dev/kmsg", &line);
	if (log || !kernel_prints()) {
		struct text rest = { line.bytes + 3, line.room - 3, line.len - 3 };

		console = write_to("/dev/console", &rest);
	}
	told = tell_collector(argv[1]);
	if (log && console && !told) {
		complain(log, "cannot write to /dev/kmsg", NULL);
		complain(console, "nor to /dev/console", NULL);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

const struct command mark_command = {
	.name = "mark",
	.summary = "say in the evidence that something has been reached",
	.help = "usage: bootlap-agent mark NAME\n\n"
		"Writes `bootlap: NAME` to the kernel's log, and to the console if the kernel\n"
		"does not print it there; a collector that runs notes it. bootlap shows it as\n"
		"a mark in the timeline.\n",
	.run = run,
};

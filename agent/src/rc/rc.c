/* rc: starts a folder of init scripts, as many at a time as their headers allow.
 *
 * Their order comes from the host (`bootlap rc`). A plan that cannot be read is one
 * line on standard error: the scripts then start one after the other, as without
 * this program. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "evidence.h"
#include "folder.h"
#include "plan.h"
#include "run.h"
#include "text.h"

struct rc {
	const char *plan, *log, *dir;
	struct run_options run;
};

static struct plan plan;
static char bytes[PLAN_BYTES + 1];

static int set(struct rc *rc, const char *name, const char *value)
{
	if (!strcmp(name, "action")) {
		rc->run.action = value;
	} else if (!strcmp(name, "log")) {
		rc->log = value;
	} else if (!strcmp(name, "dir") && *value == '/' && strlen(value) <= PLAN_DIR) {
		rc->dir = value;
	} else if (!strcmp(name, "jobs")) {
		rc->run.jobs = number_in(value, PLAN_SCRIPTS);
		return rc->run.jobs > 0;
	} else if (!strcmp(name, "timeout-s")) {
		rc->run.timeout_s = number_in(value, 24 * 3600);
		return rc->run.timeout_s > 0;
	} else {
		return 0;
	}
	return *value != 0;
}

static int read_options(struct rc *rc, int argc, char **argv)
{
	*rc = (struct rc){ .run = { .action = "start" } };
	for (int i = 1; i < argc; i++) {
		TEXT(name, 16);
		const char *value = strchr(argv[i], '='), *word = argv[i];

		if (argv[i][0] != '-' && !rc->plan) {
			rc->plan = argv[i];
			continue;
		}
		if (!strncmp(argv[i], "--", 2)) {
			put_bytes(&name, argv[i] + 2,
				  value ? (size_t)(value - argv[i] - 2) : strlen(argv[i] + 2));
			value = value ? value + 1 : argv[i + 1] ? argv[++i] : "";
		}
		if (!name.len || !set(rc, name.bytes, value)) {
			complain(0, "rc does not understand ", word, name.len ? " " : "",
				 name.len && !strchr(word, '=') ? value : "",
				 "; bootlap-agent rc --help says what it does", NULL);
			return -1;
		}
	}
	if (!rc->plan) {
		complain(0, "rc needs a plan; `bootlap rc DIR -o PLAN` makes one", NULL);
		return -1;
	}
	return 0;
}

/* NULL, or what is wrong with it. */
static const char *read_plan(const char *path)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return strerror(errno);
	while (len < PLAN_BYTES && (n = read(fd, bytes + len, PLAN_BYTES - len)) > 0)
		len += (size_t)n;
	error = errno;
	close(fd);
	if (n < 0)
		return strerror(error);
	if (len == PLAN_BYTES)
		return "is too long";
	return plan_parse(&plan, bytes, len);
}

/* What --dir says, what the plan said, or where scripts are. */
static int take_folder(const struct rc *rc, const char *wrong)
{
	static char dir[PLAN_DIR + 1];
	struct text path = text_in(dir, sizeof dir);
	int unread;

	put(&path, rc->dir ? rc->dir : plan.dir ? plan.dir : "/etc/init.d");
	complain(0, rc->plan, ": ", wrong, "; starting the scripts of ", dir, " one by one", NULL);
	unread = plan_of_folder(&plan, dir, bytes, sizeof bytes);
	if (plan.count)
		return 0;
	complain(unread ? errno : 0, "there are no scripts in ", dir, NULL);
	return -1;
}

static int run(int argc, char **argv)
{
	const char *wrong;
	struct rc rc;

	if (read_options(&rc, argc, argv))
		return EXIT_USAGE;
	evidence_open(rc.log);
	wrong = read_plan(rc.plan);
	if (wrong && take_folder(&rc, wrong))
		return EXIT_FAILED;
	if (rc.dir)
		plan.dir = rc.dir;
	return run_plan(&plan, &rc.run) || wrong ? EXIT_FAILED : EXIT_OK;
}

const struct command rc_command = {
	.name = "rc",
	.summary = "start init scripts at the same time, as their headers allow",
	.help = "usage: bootlap-agent rc PLAN [OPTION]...\n\n"
		"  --jobs N       at most so many at a time (as many as the CPUs can take)\n"
		"  --action WORD  what each script is told (start)\n"
		"  --timeout-s N  a script that takes longer is passed over, and runs on\n"
		"  --log FILE     starts and ends, with ns of CLOCK_MONOTONIC\n"
		"  --dir DIR      where the scripts are, from / on, if not where the plan says\n\n"
		"`bootlap rc DIR -o PLAN` makes the plan on the host. A script starts when all\n"
		"that it waits for have ended, well or not. Each start and end is a line in the\n"
		"kernel's log: `bootlap: rc NAME start`, `bootlap: rc NAME end STATUS`. Without\n"
		"a plan that can be read the scripts start one after the other, by name. The\n"
		"exit code is 1 then, or if a script did not go well.\n",
	.run = run,
};

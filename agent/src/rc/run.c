/* A script starts when all that it waits for have ended, well or not, and when
 * there is room for it.
 *
 * How much room there is: scripts mostly wait, for hardware or in `sleep`, so one
 * for each CPU would leave CPUs idle; but more than those that compute would only
 * slow down the script that all wait for. So without --jobs there is always room
 * for one a CPU, and for more as long as the kernel has fewer tasks that want to
 * run than CPUs. */

#include "run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/now.h"
#include "collect/procfs.h"
#include "evidence.h"
#include "text.h"

#define MS 1000000ull
#define S 1000000000ull

/* Between two looks at the CPUs, as long as a script is held back for them. */
#define LOOK_MS 2
/* Without /proc, for each CPU. */
#define UNSEEN_JOBS 4

enum state { WAITING, RUNNING, ENDED };

static struct {
	pid_t pid;
	enum state state;
	uint64_t started;
} jobs[PLAN_SCRIPTS];

static const struct plan *plan;
static const struct run_options *options;
static size_t running, ended, failed;
static int alone_runs;
static size_t cpus;

/* How many more tasks the CPUs could run now: "0.00 0.01 0.05 RUNNABLE/ALL PID",
 * this one among them. */
static size_t idle_cpus(void)
{
	char load[128];
	const char *at = load;
	uint64_t runnable;

	if (!procfs_read(-1, "/proc/loadavg", load, sizeof load))
		return running < cpus * UNSEEN_JOBS;
	for (int blanks = 0; *at && blanks < 3; at++)
		blanks += *at == ' ';
	runnable = procfs_number(&at);
	return runnable > cpus ? 0 : (size_t)(cpus + 1 - runnable);
}

static int has_room(void)
{
	if (options->jobs)
		return running < (size_t)options->jobs;
	return running < cpus || idle_cpus() > 0;
}

static int is_ready(const struct script *script)
{
	for (size_t i = 0; i < script->waits; i++)
		if (jobs[plan->edges[script->first + i]].state != ENDED)
			return 0;
	return 1;
}

static void end(size_t i, const char *status)
{
	evidence_end(plan->scripts[i].name, status);
	if (plan->scripts[i].alone)
		alone_runs = 0;
	jobs[i].state = ENDED;
	running--;
	ended++;
	if (strcmp(status, "0")) {
		failed++;
		complain(0, plan->scripts[i].name, " did not go well: ", status, NULL);
	}
}

/* In the child. Scripts without #! or without the x bit get a shell. */
static _Noreturn void become(const char *name)
{
	TEXT(path, PLAN_DIR + PLAN_NAME + 2);
	char *direct[] = { path.bytes, (char *)options->action, NULL };
	char *shell[] = { (char *)"sh", path.bytes, (char *)options->action, NULL };
	sigset_t none;
	int why;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	put(&path, plan->dir);
	put(&path, "/");
	put(&path, name);
	execv(path.bytes, direct);
	why = errno;
	if (why == ENOEXEC || why == EACCES)
		execv("/bin/sh", shell);
	complain(why, "cannot start ", path.bytes, NULL);
	_exit(127);
}

/* -1 if there is no process to be had now. */
static int start(size_t i)
{
	const struct script *script = &plan->scripts[i];
	pid_t pid;

	evidence_start(script->name);
	pid = fork();
	if (!pid)
		become(script->name);
	if (pid < 0 && running) {
		evidence_end(script->name, "later");
		return -1;
	}
	running++;
	alone_runs = script->alone;
	jobs[i].pid = pid;
	jobs[i].started = now_ns();
	jobs[i].state = RUNNING;
	if (pid < 0) {
		complain(errno, "cannot start a process", NULL);
		end(i, "no-process");
	}
	return 0;
}

/* Starts what may start; 1 if scripts are held back for want of idle CPUs. */
static int start_ready(void)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct script *script = &plan->scripts[i];

		if (alone_runs)
			return 0;
		if (jobs[i].state != WAITING || !is_ready(script))
			continue;
		if (script->alone && running)
			return 0; /* the rest waits, so that its turn comes */
		if (!has_room())
			return !options->jobs;
		if (start(i))
			return 0;
	}
	return 0;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < plan->count; i++) {
			TEXT(code, 16);

			if (jobs[i].state != RUNNING || jobs[i].pid != pid)
				continue;
			put_number(&code, (uint64_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
								       WEXITSTATUS(status)));
			end(i, code.bytes);
		}
}

/* Passes over scripts that hang, and says whether there was one; *next is when
 * another one will have. */
static int pass_over(uint64_t *next)
{
	uint64_t now = now_ns();
	int any = 0;

	*next = UINT64_MAX;
	for (size_t i = 0; options->timeout_s && i < plan->count; i++) {
		uint64_t until = jobs[i].started + (uint64_t)options->timeout_s * S;

		if (jobs[i].state != RUNNING)
			continue;
		if (until > now) {
			*next = until < *next ? until : *next;
			continue;
		}
		end(i, "timeout");
		any = 1;
	}
	return any;
}

/* Waits until a script has ended, or until then. */
static void wait_until(uint64_t ns)
{
	uint64_t now = now_ns(), left = ns > now ? ns - now : 0;
	struct timespec time = { .tv_sec = (time_t)(left / S), .tv_nsec = (long)(left % S) };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (ns == UINT64_MAX)
		sigwaitinfo(&child, NULL);
	else
		sigtimedwait(&child, NULL, &time);
}

size_t run_plan(const struct plan *of, const struct run_options *with)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t child;

	plan = of;
	options = with;
	running = ended = failed = 0;
	alone_runs = 0;
	memset(jobs, 0, sizeof jobs);
	cpus = online > 0 ? (size_t)online : 1;
	/* Blocked, so that one that comes before the wait is not missed. It must not
	 * be ignored either, or nobody learns how a script went. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (;;) {
		uint64_t next;
		int held;

		do
			held = start_ready();
		while (pass_over(&next));
		if (ended == plan->count)
			break;
		if (held && next > now_ns() + LOOK_MS * MS)
			next = now_ns() + LOOK_MS * MS;
		if (running)
			wait_until(next);
		reap();
	}
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	return failed;
}

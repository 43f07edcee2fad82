/* A child puts the settings back: it waits until nobody has the other end of a pipe any
 * more, which is so however its parent ends. What somebody else has set meanwhile is left. */
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/procfs.h"
#include "mounts.h"
#include "text.h"

/* A new scheduler has its own number of requests, so it comes first, both ways. */
enum { SCHEDULER, REQUESTS, READ_AHEAD, SETTINGS };

static const char *const NAMES[] = { "scheduler", "nr_requests", "read_ahead_kb" };

static struct setting {
	char was[64], is[64]; /* "" if it is not changed */
} settings[SETTINGS];

static pid_t keeper;
static int held = -1; /* as long as we live */

/* The setting's value; of schedulers that can be had, the one in brackets is. */
static void read_setting(dev_t disk, int which, char *value, size_t room)
{
	char line[256], *at = line, *bracket;
	TEXT(path, 96);

	queue_path(&path, disk, NAMES[which]);
	*value = 0;
	if (!procfs_read(-1, path.bytes, line, sizeof line))
		return;
	bracket = strchr(line, '[');
	if (bracket)
		at = bracket + 1;
	at[strcspn(at, "]\n")] = 0;
	if (strlen(at) < room)
		strcpy(value, at);
}

static int write_setting(dev_t disk, int which, const char *value)
{
	TEXT(path, 96);

	queue_path(&path, disk, NAMES[which]);
	return procfs_write(-1, path.bytes, value);
}

/* Sets what is asked for, and notes what it was and what the kernel made of it. */
static void set(dev_t disk, const char *const *values)
{
	for (int i = 0; i < SETTINGS; i++) {
		struct setting *setting = &settings[i];

		if (!values[i])
			continue;
		read_setting(disk, i, setting->was, sizeof setting->was);
		if (!strcmp(setting->was, values[i]))
			continue;
		if (write_setting(disk, i, values[i]))
			complain(errno, "the disk's ", NAMES[i], " cannot be set to ", values[i],
				 NULL);
		else
			read_setting(disk, i, setting->is, sizeof setting->is);
	}
}

static void put_back(dev_t disk)
{
	for (int i = 0; i < SETTINGS; i++) {
		char now[64];

		if (!*settings[i].is)
			continue;
		read_setting(disk, i, now, sizeof now);
		/* A scheduler that was put back has brought its own number of requests. */
		if (!strcmp(now, settings[i].is) || (i == REQUESTS && *settings[SCHEDULER].is))
			write_setting(disk, i, settings[i].was);
	}
}

/* The child: it says when the settings are made, and ends with the disk as it was. */
static void keep(dev_t disk, const char *const *values, int ready, int until)
{
	char byte = 0;

	setsid();
	for (int i = 1; i < 32; i++)
		signal(i, SIG_IGN);
	set(disk, values);
	write_all(ready, &byte, 1);
	close(ready);
	while (read(until, &byte, 1) < 0 && errno == EINTR)
		;
	put_back(disk);
	_exit(0);
}

void queue_change(dev_t disk, const struct queue *asked)
{
	const char *const values[] = { asked->scheduler, asked->requests, asked->read_ahead };
	int ready[2], until[2];
	char byte;

	if ((!values[0] && !values[1] && !values[2]) || pipe2(ready, O_CLOEXEC))
		return;
	if (pipe2(until, O_CLOEXEC)) {
		close(ready[0]);
		close(ready[1]);
		return;
	}
	keeper = fork();
	if (!keeper) {
		close(ready[0]);
		close(until[1]);
		keep(disk, values, ready[1], until[0]);
	}
	close(ready[1]);
	close(until[0]);
	if (keeper > 0) {
		while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
			;
		held = until[1];
	} else {
		close(until[1]);
	}
	close(ready[0]);
}

void queue_restore(void)
{
	if (held < 0)
		return;
	close(held);
	held = -1;
	while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
		;
}

/* What somebody else has set meanwhile is left. */
#include "queue.h"

#include <errno.h>
#include <string.h>

#include "collect/procfs.h"
#include "keeper.h"
#include "mounts.h"
#include "text.h"

/* A new scheduler has its own number of requests, so it comes first, both ways. */
enum { SCHEDULER, REQUESTS, READ_AHEAD, SETTINGS };

static const char *const NAMES[] = { "scheduler", "nr_requests", "read_ahead_kb" };

static struct setting {
	char was[64], is[64]; /* "" if it is not changed */
} settings[SETTINGS];

/* What the keeper works with. */
struct change {
	dev_t disk;
	const char *values[SETTINGS];
};

static struct keeper keeper;

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
static void set(void *what)
{
	const struct change *change = what;
	const char *const *values = change->values;
	dev_t disk = change->disk;

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

static void put_back(void *what)
{
	dev_t disk = ((const struct change *)what)->disk;

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

void queue_change(dev_t disk, const struct queue *asked)
{
	struct change change = { disk, { asked->scheduler, asked->requests, asked->read_ahead } };

	if (asked->scheduler || asked->requests || asked->read_ahead)
		keeper_start(&keeper, set, put_back, &change);
}

void queue_restore(void)
{
	keeper_end(&keeper);
}

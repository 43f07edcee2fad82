#include "folder.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collect/procfs.h"
#include "directory.h"
#include "text.h"

/* Longer headers have not been seen. */
#define HEADER 4096

static int has_number(const char *name)
{
	return name[0] == 'S' && name[1] >= '0' && name[1] <= '9' && name[2] >= '0' &&
	       name[2] <= '9' && name[3];
}

/* What stands behind `Default-Start:` in a line of the header; NULL if it is another. */
static const char *levels_of(const char *line)
{
	static const char KEY[] = "Default-Start:";

	if (*line != '#')
		return NULL;
	line += 1 + strspn(line + 1, " \t");
	return strncasecmp(line, KEY, sizeof KEY - 1) ? NULL : line + sizeof KEY - 1;
}

/* 2 if one of them is S, which comes before the others, 1 if one of them is passed at a
 * boot, and not at a halt, in single user mode or at a reboot. */
static int rank_of_levels(const char *levels)
{
	int rank = 0;

	for (; *levels && *levels != '\n'; levels++) {
		if (*levels == 'S' || *levels == 's')
			return 2;
		if (*levels >= '2' && *levels <= '5')
			rank = 1;
	}
	return rank;
}

/* The same of a script; 0 as well if it has no header. */
static int starts(const char *dir, const char *name)
{
	static char text[HEADER];
	TEXT(path, PLAN_DIR + PLAN_NAME + 2);

	put(&path, dir);
	put(&path, "/");
	put(&path, name);
	procfs_read(-1, path.bytes, text, sizeof text);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *levels = levels_of(line += *line == '\n');

		if (levels)
			return rank_of_levels(levels);
	}
	return 0;
}

/* Puts it where it belongs, those with a higher rank first. */
static void insert(struct plan *plan, const char *name, int rank)
{
	size_t i = plan->count++;

	for (; i; i--) {
		const struct script *before = &plan->scripts[i - 1];

		if (before->waits > rank || (before->waits == rank && strcmp(before->name, name) < 0))
			break;
		plan->scripts[i] = *before;
	}
	plan->scripts[i] = (struct script){ .name = name, .waits = (uint16_t)rank };
}

/* Names end up in lines of the kernel's log. */
static int is_odd(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 127)
			return 1;
	return 0;
}

/* Whether it begins with S and two digits, or is to be started as such. */
static int rank_of(const char *name, const char *path, int numbered)
{
	if (strlen(name) > PLAN_NAME || *name == '.' || is_odd(name))
		return 0;
	return numbered ? has_number(name) : starts(path, name);
}

static void take(struct plan *plan, int fd, int numbered, struct text *names)
{
	static _Alignas(8) char entries[DIRECTORY_BYTES];
	long n;

	while ((n = directory_read(fd, entries, sizeof entries)) > 0) {
		const struct entry *entry;

		for (long at = 0; at < n; at += entry->len) {
			size_t len;
			int rank;

			entry = (const struct entry *)(entries + at);
			len = strlen(entry->name);
			rank = rank_of(entry->name, plan->dir, numbered);
			if (!rank || plan->count >= PLAN_SCRIPTS ||
			    len + 2 > names->room - names->len)
				continue;
			put_bytes(names, entry->name, len + 1);
			insert(plan, names->bytes + names->len - len - 1, rank);
		}
	}
}

int plan_of_folder(struct plan *plan, const char *path, char *bytes, size_t room)
{
	struct text names = text_in(bytes, room);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*plan = (struct plan){ .dir = path };
	if (fd < 0)
		return -1;
	take(plan, fd, 1, &names);
	if (!plan->count) {
		lseek(fd, 0, SEEK_SET);
		take(plan, fd, 0, &names);
	}
	close(fd);
	for (size_t i = 0; i < plan->count; i++) {
		plan->scripts[i].waits = i > 0;
		plan->scripts[i].first = (uint16_t)plan->edge_count;
		if (i)
			plan->edges[plan->edge_count++] = (uint16_t)(i - 1);
	}
	return 0;
}

#include "place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Without these mounts it goes on as well as it can. */
#define PAUSE_MS 2
#define MOST_PAUSES 1000

void place_make(void)
{
	mkdir("/var", 0755);
	mkdir("/var/lib", 0755);
	mkdir(PLACE, 0755);
}

int place_of(struct text *path, const char *name, const char *suffix)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > 64) {
		complain(0, "a name has no slash, no dot in front and at most 64 letters", NULL);
		return -1;
	}
	put(path, PLACE "/");
	put(path, name);
	put(path, suffix);
	return 0;
}

int place_enter(const char *root)
{
	struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };

	if (!root)
		return 0;
	if (chdir(root) || chroot(".") || chdir("/")) {
		complain(errno, "cannot enter ", root, NULL);
		return -1;
	}
	for (int i = 0; i < MOST_PAUSES && (access("/proc/self", F_OK) || access("/sys/dev", F_OK) ||
					    access("/dev/null", F_OK)); i++)
		nanosleep(&pause, NULL);
	return 0;
}

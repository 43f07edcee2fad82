#include "place.h"

#include <string.h>
#include <sys/stat.h>

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

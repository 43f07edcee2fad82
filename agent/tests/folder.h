/* A folder of its own for a test that needs files: names in it, and commands. The test
 * makes it (mkdtemp) and removes it. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdio.h>
#include <stdlib.h>

static char folder[64];

/* The name of a file in it; the last four stay. */
static inline const char *in_folder(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
	return path[turn];
}

/* Runs a command in it, whose words go to the file `log`; gives how it ended. */
static inline int shell(const char *command)
{
	char line[1024];

	snprintf(line, sizeof line, "cd %s && { %s; } >>log 2>&1", folder, command);
	return system(line);
}

#endif

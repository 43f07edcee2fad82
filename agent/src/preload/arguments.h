/* The command lines of record, replay and their kin. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdint.h>

struct argument {
	const char *name;  /* with the dashes */
	const char **text; /* where its value goes, or */
	int64_t *number;   /* where its number goes, which is at most */
	int64_t most;      /* that; 0 for a flag, which sets it to 1 */
};

/* Reads them; what is no option goes to `words`, of which there are `least` to `most`.
 * -1 after a complaint. */
int arguments(char **argv, const struct argument *known, const char **words, int least, int most);

#endif

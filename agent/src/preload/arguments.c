#include "arguments.h"

#include <stddef.h>
#include <string.h>

#include "text.h"

static const struct argument *find(const struct argument *known, const char *name)
{
	for (; known->name; known++)
		if (!strcmp(known->name, name))
			return known;
	return NULL;
}

int arguments(char **argv, const struct argument *known, const char **words, int least, int most)
{
	const char *command = *argv;
	int count = 0;

	while (*++argv) {
		const struct argument *argument = find(known, *argv);
		const char *name = *argv;

		if (!argument && (name[0] == '-' || count == most)) {
			complain(0, command, " does not know what to do with ", name,
				 "; bootlap-agent ", command, " --help says what it does", NULL);
			return -1;
		}
		if (!argument) {
			words[count++] = name;
			continue;
		}
		if (argument->number && !argument->most) {
			*argument->number = 1;
			continue;
		}
		if (!argv[1]) {
			complain(0, name, " needs a value", NULL);
			return -1;
		}
		argv++;
		if (argument->text) {
			*argument->text = *argv;
			continue;
		}
		*argument->number = number_in(*argv, argument->most);
		if (*argument->number < 0) {
			complain(0, name, " needs a number that is not too large", NULL);
			return -1;
		}
	}
	if (count < least)
		complain(0, command, " needs more; bootlap-agent ", command, " --help", NULL);
	return count < least ? -1 : 0;
}

/* What tests are written with: CHECK says where and what, and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
				#condition);                                        \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

#define CHECK_TEXT(found, wanted)                                                        \
	do {                                                                             \
		if (strcmp(found, wanted)) {                                             \
			fprintf(stderr, "%s:%d: `%s`, not `%s`\n", __FILE__, __LINE__, \
				found, wanted);                                          \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

#endif

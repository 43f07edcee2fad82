/* When a collection is over: what was asked for has been seen. */
#ifndef READY_H
#define READY_H

#include <stddef.h>

#include "options.h"

/* Makes ready to see it. */
void ready_open(const struct options *options);

/* Looks at what nobody tells: files, the kernel's log. */
void ready_look(void);

/* Tells of a mark, or of a program that was started: the kernel's name for it, or
 * its arguments with a NUL behind each. */
void ready_mark(const char *name);
void ready_name(const char *name, size_t len);
void ready_arguments(const char *arguments, size_t len);

/* What was seen, or NULL. */
const char *ready_why(void);

#endif

/* When a collection is over: what was asked for has been seen. */
#ifndef READY_H
#define READY_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* Makes ready to see it: from the first process on, or from now. */
void ready_open(const struct options *options, int from_start);

/* Looks at what nobody tells: files, the kernel's log. */
void ready_look(void);

/* Tells of a mark, or of a program that was started: the kernel's name for it, or
 * its arguments with a NUL behind each. */
void ready_mark(const char *name);
void ready_name(const char *name, size_t len);
void ready_arguments(const char *arguments, size_t len);
/* Of a process that nobody told of, which began at `began` (ns of CLOCK_MONOTONIC): it
 * counts if it was not there before. */
void ready_process(const char *name, size_t len, uint64_t began);

/* What was seen, or NULL. */
const char *ready_why(void);

#endif

/* Pages that come into the page cache, as the kernel traces them: in an instance of
 * tracefs, which has buffers of its own and needs no process while it fills. */
#ifndef TRACE_H
#define TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "touched.h"

/* Where numbers lie in what the kernel writes: it tells that in files of its own. */
struct trace_number {
	unsigned at, size;
};

struct trace_format {
	struct trace_number commit, data; /* of a page of the buffer */
	unsigned id;
	struct trace_number type, ino, index, dev, order; /* of an event */
};

/* Begins to trace, with so many KiB for each CPU; -1 and errno, which is EBUSY while
 * another process holds what it notes. */
int trace_start(const char *name, unsigned kib);

/* Keeps other processes from beginning it anew as long as the file that it gives is
 * open; -1 and errno. */
int trace_hold(const char *name);

/* Ends it, but what was traced stays. */
void trace_stop(const char *name);

/* Notes what was traced since the last time; -1 if there is no such instance. */
int trace_take(const char *name, struct touched *touched);

void trace_remove(const char *name);

/* What the kernel says of its buffers' pages and of the event: 0 if it is usable. */
int trace_format(struct trace_format *format, const char *page, const char *event);

/* Notes the events in a page of a buffer. */
void trace_page(const struct trace_format *format, const unsigned char *page, size_t len,
		struct touched *touched);

#endif

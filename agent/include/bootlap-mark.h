/* bootlap_mark("name") says in the kernel's log that something has been reached:
 * `bootlap: name`, which bootlap shows as a mark. For programs that want no
 * dependency: copy this file. Needs to write to /dev/kmsg; if it may not, nothing
 * happens. */
#ifndef BOOTLAP_MARK_H
#define BOOTLAP_MARK_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static inline void bootlap_mark(const char *name)
{
	char line[256];
	int len = snprintf(line, sizeof line, "<5>bootlap: %s\n", name);
	int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (log >= 0 && len > 0 && len < (int)sizeof line && write(log, line, (size_t)len) < 0) {
		/* A boot goes on without it. */
	}
	if (log >= 0)
		close(log);
}

#endif

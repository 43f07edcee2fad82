#include "log_clock.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "now.h"
#include "procfs.h"

static const char LINE[] = "<7>bootlap-agent: collecting\n";
/* Others may write at the same time. */
#define LINES 16

/* The time of our line, "priority,number,us,flags;text", among those behind the
 * place of reading; 0 if it is not there. */
static uint64_t logged_us(int fd)
{
	char record[1024];

	for (int i = 0; i < LINES; i++) {
		ssize_t n = read(fd, record, sizeof record - 1);
		const char *at = record;

		if (n <= 0)
			return 0;
		record[n] = 0;
		if (!strstr(record, ";bootlap-agent: collecting"))
			continue;
		for (int comma = 0; comma < 2 && at; comma++) {
			at = strchr(at, ',');
			at = at ? at + 1 : NULL;
		}
		return at ? procfs_number(&at) : 0;
	}
	return 0;
}

void log_clock_note(void)
{
	int fd = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	uint64_t before, after, us = 0;

	if (fd < 0)
		return;
	lseek(fd, 0, SEEK_END);
	before = now_ns();
	if (write(fd, LINE, sizeof LINE - 1) > 0)
		us = logged_us(fd);
	after = now_ns();
	close(fd);
	if (!us)
		return;
	record_begin(WIRE_LOG_CLOCK);
	record_u64(before);
	record_u64(after);
	record_u64(us);
	record_end();
}

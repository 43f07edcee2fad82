#include "marks.h"

#include <stddef.h>
#include <string.h>

#include "archive.h"

/* A program that says more between two looks is not listened to further. */
#define MOST 64

static const char NAME[] = "bootlap-agent";

socklen_t marks_address(struct sockaddr_un *address)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + 1, NAME, sizeof NAME - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof NAME);
}

int marks_open(void)
{
	struct sockaddr_un address;
	socklen_t len = marks_address(&address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, len)) {
		/* Another one collects. */
		return -1;
	}
	return fd;
}

void marks_drain(int fd, void (*seen)(const char *name))
{
	for (int i = 0; i < MOST; i++) {
		struct mark mark;
		ssize_t n = recv(fd, &mark, sizeof mark - 1, MSG_DONTWAIT);

		if (n <= 0)
			return;
		if ((size_t)n <= offsetof(struct mark, name))
			continue;
		((char *)&mark)[n] = 0;
		record_begin(WIRE_MARK);
		record_u64(mark.time);
		record_string(mark.name);
		record_end();
		seen(mark.name);
	}
}

#include "netlink.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* A boot forks some thousand times; a message takes about 1 KiB in the queue. */
#define QUEUE_BYTES (4 << 20)

int netlink_open(int protocol, unsigned groups)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int queue = QUEUE_BYTES;
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0)
		return -1;
	/* It may exceed the system's limit if we are root; else it is what it is. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof queue))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
	/* Without groups the first message binds it. */
	if (groups && bind(fd, (struct sockaddr *)&address, sizeof address)) {
		int failed = errno;

		close(fd);
		errno = failed;
		return -1;
	}
	return fd;
}

void netlink_drain(int fd, void (*message)(const struct nlmsghdr *head, size_t len),
		   enum lost lost)
{
	_Alignas(struct nlmsghdr) char bytes[8192];

	for (;;) {
		struct sockaddr_nl from;
		socklen_t from_len = sizeof from;
		const struct nlmsghdr *head = (const struct nlmsghdr *)bytes;
		ssize_t n = recvfrom(fd, bytes, sizeof bytes, MSG_DONTWAIT,
				     (struct sockaddr *)&from, &from_len);
		unsigned left = (unsigned)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			archive_lost(lost, 1);
			continue;
		}
		if (n <= 0)
			return;
		/* Any process may send to a netlink address: the kernel is 0. */
		if (from.nl_pid)
			continue;
		for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left))
			message(head, head->nlmsg_len - NLMSG_HDRLEN);
	}
}

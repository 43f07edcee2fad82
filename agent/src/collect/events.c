#include "events.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "archive.h"
#include "netlink.h"
#include "processes.h"

int events_open(void)
{
	struct {
		struct nlmsghdr head;
		struct cn_msg message;
		enum proc_cn_mcast_op op;
	} __attribute__((packed)) listen = { .head = { .nlmsg_len = sizeof listen,
						      .nlmsg_type = NLMSG_DONE },
					     .message = { .id = { CN_IDX_PROC, CN_VAL_PROC },
							  .len = sizeof listen.op },
					     .op = PROC_CN_MCAST_LISTEN };
	int fd = netlink_open(NETLINK_CONNECTOR, CN_IDX_PROC);

	if (fd < 0)
		return -1;
	if (send(fd, &listen, sizeof listen, 0) < 0) {
		int failed = errno;

		close(fd);
		errno = failed;
		return -1;
	}
	return fd;
}

static void note(const struct proc_event *event)
{
	uint64_t time = event->timestamp_ns;

	switch (event->what) {
	case PROC_EVENT_FORK:
		record_begin(WIRE_FORK);
		record_u64(time);
		record_u32((uint32_t)event->event_data.fork.parent_tgid);
		record_u32((uint32_t)event->event_data.fork.child_pid);
		record_u32((uint32_t)event->event_data.fork.child_tgid);
		record_end();
		break;
	case PROC_EVENT_EXEC:
		processes_exec(time, (uint32_t)event->event_data.exec.process_tgid);
		break;
	case PROC_EVENT_EXIT:
		record_begin(WIRE_EXIT);
		record_u64(time);
		record_u32((uint32_t)event->event_data.exit.process_pid);
		record_u32((uint32_t)event->event_data.exit.process_tgid);
		record_u32(event->event_data.exit.exit_code);
		record_end();
		break;
	default:
		break;
	}
}

static void message(const struct nlmsghdr *head, size_t len)
{
	const struct cn_msg *message = NLMSG_DATA(head);
	struct proc_event event;

	if (len < sizeof *message || message->id.idx != CN_IDX_PROC)
		return;
	/* Older kernels tell less: what they do not fill stays 0. */
	memset(&event, 0, sizeof event);
	len -= sizeof *message;
	memcpy(&event, message->data, len < sizeof event ? len : sizeof event);
	if (len >= offsetof(struct proc_event, event_data))
		note(&event);
}

void events_drain(int fd)
{
	netlink_drain(fd, message, LOST_EVENTS);
}

/* The kernel's messages over netlink, without anything allocated. */
#ifndef NETLINK_H
#define NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>

#include "archive.h"

/* A socket that nobody waits for, with a long queue; -1 and errno. */
int netlink_open(int protocol, unsigned groups);

/* Hands every message that is there to `message`, with the length of its data;
 * counts under `lost` how often the queue ran over. */
void netlink_drain(int fd, void (*message)(const struct nlmsghdr *head, size_t len),
		   enum lost lost);

#endif

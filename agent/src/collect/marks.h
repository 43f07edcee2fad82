/* How `bootlap-agent mark` reaches a collector: datagrams to an abstract socket,
 * which needs no file system and goes away with the collector. Each is a struct
 * mark, without the rest of the name. */
#ifndef MARKS_H
#define MARKS_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MARK_NAME 200

struct mark {
	uint64_t time; /* CLOCK_MONOTONIC, in ns */
	char name[MARK_NAME + 1];
};

/* Fills in the address and gives its length. */
socklen_t marks_address(struct sockaddr_un *address);

/* The collector's end, or -1. */
int marks_open(void);

/* Notes the marks that have come, at most so many; `seen` gets each name. */
void marks_drain(int fd, void (*seen)(const char *name));

#endif

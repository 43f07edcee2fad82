/* The names in a folder, as the kernel gives them: readdir would bring an allocator
 * along. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

struct entry {
	uint64_t ino;
	int64_t next; /* where reading goes on behind it */
	uint16_t len; /* from this entry to the next */
	unsigned char type; /* DT_… */
	char name[];
};

/* Of entries; aligned for them. */
#define DIRECTORY_BYTES 4096

/* Reads so many bytes of entries; 0 at the end, -1 and errno if it cannot. */
long directory_read(int fd, void *entries, size_t room);

#endif

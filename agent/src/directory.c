#include "directory.h"

#include <sys/syscall.h>
#include <unistd.h>

long directory_read(int fd, void *entries, size_t room)
{
	return syscall(SYS_getdents64, fd, entries, room);
}

#include "mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>

int mounted_nowhere(const char *type, const char *place)
{
	int fd, failed;

	if (mount(type, place, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -1;
	fd = openat(AT_FDCWD, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	failed = errno;
	/* What is open stays. */
	umount2(place, MNT_DETACH);
	errno = failed;
	return fd;
}

/* What the kernel reads ahead comes into the page cache like what was asked for, and a
 * pack would have both: 102 MB where a boot needed 66. */
#include "ahead.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mounts.h"

struct ahead ahead_limit(const char *place, long kib)
{
	struct ahead ahead = { .disk = -1 };
	struct stat stat;

	if (lstat(place, &stat))
		return ahead;
	ahead.disk = device_open(stat.st_dev).fd;
	if (ahead.disk < 0)
		return ahead;
	if (ioctl(ahead.disk, BLKRAGET, &ahead.was) || ahead.was <= kib * 2 ||
	    ioctl(ahead.disk, BLKRASET, (unsigned long)kib * 2)) {
		close(ahead.disk);
		ahead.disk = -1;
	}
	return ahead;
}

void ahead_restore(struct ahead *ahead)
{
	if (ahead->disk < 0)
		return;
	ioctl(ahead->disk, BLKRASET, (unsigned long)ahead->was);
	close(ahead->disk);
	ahead->disk = -1;
}

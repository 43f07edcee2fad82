#include "recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "mounts.h"
#include "text.h"

int recorded_fs(const char *root, const struct pack_fs *fs, dev_t *dev)
{
	struct statfs found;
	struct stat stat;
	int top;

	TEXT(place, 4096);
	put(&place, root);
	put(&place, fs->place);
	top = open(place.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 || fstat(top, &stat) || fstatfs(top, &found) ||
	    (uint32_t)found.f_type != fs->type || (fs->id && fs_id(&found) != fs->id)) {
		complain(top < 0 ? errno : 0, "another file system than recorded is at ",
			 place.bytes, NULL);
		if (top >= 0)
			close(top);
		return -1;
	}
	*dev = stat.st_dev;
	return top;
}

int recorded_file(int top, dev_t dev, const struct pack_file *file, int flags)
{
	struct stat stat;
	int fd = -1;

	for (int opened = 0;; opened = 1) {
		if (opened ? fstat(fd, &stat) :
			     fstatat(top, file->path, &stat, AT_SYMLINK_NOFOLLOW))
			return RECORDED_MISSING;
		if (!S_ISREG(stat.st_mode) || stat.st_dev != dev || stat.st_ino != file->ino ||
		    (uint64_t)stat.st_size != file->size ||
		    (uint64_t)stat.st_mtim.tv_sec * 1000000000 + (uint64_t)stat.st_mtim.tv_nsec !=
			    file->mtime) {
			if (opened)
				close(fd);
			return RECORDED_CHANGED;
		}
		if (opened)
			return fd;
		flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
		fd = openat(top, file->path, flags | O_NOATIME);
		/* Only who owns it may ask for that. */
		if (fd < 0 && errno == EPERM)
			fd = openat(top, file->path, flags);
		if (fd < 0)
			return RECORDED_REFUSED;
	}
}

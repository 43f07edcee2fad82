/* What a pack names, found again: a file system at the place where it was mounted, a
 * file that is still the one that was recorded. */
#ifndef RECORDED_H
#define RECORDED_H

#include <sys/types.h>

#include "pack.h"

enum recorded {
	RECORDED_MISSING = -1, /* errno says more */
	RECORDED_CHANGED = -2,
	RECORDED_REFUSED = -3, /* it is the same, and may not be opened; errno says more */
};

/* Opens the folder, below `root`, where the file system is mounted, and says which it
 * is; -1 after a complaint if another one is there. */
int recorded_fs(const char *root, const struct pack_fs *fs, dev_t *dev);

/* Opens the file below that folder, with these flags and some more, if inode, size and
 * mtime are what they were. What is no regular file is never opened: with a device that
 * alone may do something. */
int recorded_file(int top, dev_t dev, const struct pack_file *file, int flags);

#endif

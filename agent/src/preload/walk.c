#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "text.h"

#define DEEPEST 64

struct level {
	int fd;
	int64_t next;
	size_t path_len;
};

static int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Opens a folder that lies on the file system `dev`; -1 if it does not. */
static int enter(int dir, const char *name, dev_t dev)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
	struct stat stat;

	if (fd >= 0 && (fstat(fd, &stat) || stat.st_dev != dev)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void walk(int top, int (*visit)(const struct walked *walked, void *context), void *context)
{
	static struct level levels[DEEPEST];
	static _Alignas(8) char buffer[16 << 10];
	struct level *level = levels;
	struct stat stat;
	int done = fstat(top, &stat);

	TEXT(path, 4096);
	*level = (struct level){ .fd = top };
	while (level >= levels) {
		struct level *deeper = NULL;
		long n = done ? 0 : directory_read(level->fd, buffer, sizeof buffer);

		if (n <= 0) {
			close(level->fd);
			/* The folder above was left in the middle. */
			if (level-- > levels)
				lseek(level->fd, level->next, SEEK_SET);
			continue;
		}
		for (long at = 0; at < n && !done && !deeper;) {
			const struct entry *entry = (const struct entry *)(buffer + at);
			struct walked walked = { .dir = level->fd, .name = entry->name,
						 .ino = entry->ino, .type = entry->type };

			at += entry->len;
			if (is_dots(entry->name))
				continue;
			path.len = level->path_len;
			put(&path, entry->name);
			walked.path = path.bytes;
			walked.path_len = path.len;
			if (entry->type == DT_REG || entry->type == DT_UNKNOWN)
				done = visit(&walked, context);
			if (entry->type != DT_DIR && entry->type != DT_UNKNOWN)
				continue;
			if (level + 1 < levels + DEEPEST && path.len + 2 < path.room) {
				int fd = enter(level->fd, entry->name, stat.st_dev);

				level->next = entry->next;
				put(&path, "/");
				if (fd >= 0) {
					deeper = level + 1;
					*deeper = (struct level){ .fd = fd,
								  .path_len = path.len };
				}
			}
		}
		if (deeper)
			level = deeper;
	}
}

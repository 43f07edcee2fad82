/* A disk that remembers in which order it was written, and when it was told to have all
 * of that for good: so a test can ask what would be on it after a power cut at any
 * moment. A FUSE file in memory, for a loop device above it. */
#ifndef DISK_LOG_H
#define DISK_LOG_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define DISK_LONGEST (1u << 20)
#define DISK_WRITES (1u << 17)
#define DISK_LOGGED ((size_t)1 << 30)

struct disk_write {
	uint64_t at;  /* on the disk */
	size_t data;  /* in the log */
	uint32_t len; /* 0: what came before is there for good */
};

struct disk_log {
	size_t size, used;
	uint32_t count;
	struct disk_write writes[DISK_WRITES];
	unsigned char *image, *first, *data; /* as it is, as it was, what was written */
};

static inline void *disk_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

static inline struct disk_log *disk_log_open(const char *path)
{
	struct disk_log *log = disk_memory(sizeof *log);
	int fd = open(path, O_RDONLY);
	struct stat stat;

	CHECK(fd >= 0 && !fstat(fd, &stat));
	log->size = (size_t)stat.st_size;
	log->image = disk_memory(log->size);
	log->first = disk_memory(log->size);
	log->data = disk_memory(DISK_LOGGED);
	for (size_t at = 0; at < log->size;) {
		ssize_t n = read(fd, log->first + at, log->size - at);

		CHECK(n > 0);
		at += (size_t)n;
	}
	memcpy(log->image, log->first, log->size);
	close(fd);
	return log;
}

static inline void disk_answer(int device, const struct fuse_in_header *to, int error,
			       const void *body, size_t len)
{
	static unsigned char out[sizeof(struct fuse_out_header) + DISK_LONGEST];
	struct fuse_out_header head = { .len = (uint32_t)(sizeof head + len), .error = -error,
					.unique = to->unique };

	memcpy(out, &head, sizeof head);
	if (len)
		memcpy(out + sizeof head, body, len);
	CHECK(write(device, out, head.len) == (ssize_t)head.len || errno == ENOENT);
}

static inline void disk_note(struct disk_log *log, uint64_t at, const void *data, uint32_t len)
{
	CHECK(log->count < DISK_WRITES && DISK_LOGGED - log->used >= len &&
	      at + len <= log->size);
	log->writes[log->count++] = (struct disk_write){ .at = at, .data = log->used, .len = len };
	if (!len)
		return;
	memcpy(log->data + log->used, data, len);
	memcpy(log->image + at, data, len);
	log->used += len;
}

static inline void disk_serve(struct disk_log *log, int device, const struct fuse_in_header *request)
{
	const void *body = request + 1;
	const struct fuse_read_in *get = body;
	const struct fuse_write_in *put = body;
	struct fuse_attr attr = { .ino = 1, .size = log->size, .blocks = log->size / 512,
				  .mode = S_IFREG | 0600, .nlink = 1, .blksize = 4096 };
	struct fuse_attr_out attr_out = { .attr_valid = 1000, .attr = attr };
	struct fuse_open_out open_out = { .open_flags = FOPEN_DIRECT_IO };
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31,
				      .max_readahead = DISK_LONGEST, .flags = FUSE_MAX_PAGES,
				      .max_background = 64, .congestion_threshold = 48,
				      .max_write = DISK_LONGEST, .time_gran = 1,
				      .max_pages = DISK_LONGEST / 4096 };
	struct fuse_write_out written = { 0 };

	switch (request->opcode) {
	case FUSE_INIT:
		disk_answer(device, request, 0, &init, sizeof init);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		disk_answer(device, request, 0, &attr_out, sizeof attr_out);
		break;
	case FUSE_OPEN:
		disk_answer(device, request, 0, &open_out, sizeof open_out);
		break;
	case FUSE_READ:
		CHECK(get->offset + get->size <= log->size && get->size <= DISK_LONGEST);
		disk_answer(device, request, 0, log->image + get->offset, get->size);
		break;
	case FUSE_WRITE:
		disk_note(log, put->offset, put + 1, put->size);
		written.size = put->size;
		disk_answer(device, request, 0, &written, sizeof written);
		break;
	case FUSE_FSYNC:
		disk_note(log, 0, NULL, 0);
		disk_answer(device, request, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		disk_answer(device, request, 0, NULL, 0);
		break;
	default:
		disk_answer(device, request, ENOSYS, NULL, 0);
	}
}

/* Shows it at `place`, an empty file, until that is unmounted; gives the process that
 * serves it, -1 where there is no FUSE. */
static inline pid_t disk_log_show(struct disk_log *log, const char *place)
{
	static _Alignas(8) unsigned char request[DISK_LONGEST + 4096];
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[160];
	pid_t child;

	snprintf(options, sizeof options, "fd=%d,rootmode=100600,user_id=0,group_id=0", device);
	if (device < 0 || mount("disk_log", place, "fuse", MS_NODEV | MS_NOSUID, options))
		return -1;
	child = fork();
	while (!child) {
		ssize_t n = read(device, request, sizeof request);

		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			disk_serve(log, device, (struct fuse_in_header *)request);
		else if (n >= 0 || (errno != EINTR && errno != EAGAIN && errno != ENOENT))
			_exit(0);
	}
	close(device);
	return child;
}

/* Writes to `path` what could be on the disk after a power cut behind the write `last`:
 * all up to the last time it was told to have it for good, and of the writes since then
 * those that `lucky` says. */
static inline void disk_log_cut(const struct disk_log *log, uint32_t last, int (*lucky)(void),
				const char *path)
{
	unsigned char *image = disk_memory(log->size);
	uint32_t good = last;
	int fd;

	memcpy(image, log->first, log->size);
	while (good && log->writes[good - 1].len)
		good--;
	for (uint32_t i = 0; i < last; i++)
		if (i < good || lucky())
			memcpy(image + log->writes[i].at, log->data + log->writes[i].data,
			       log->writes[i].len);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, image, log->size) == (ssize_t)log->size);
	close(fd);
	munmap(image, log->size);
}

#endif

#define _GNU_SOURCE
#include "stamps.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qemu.h"

#define IS_MARK (UINT64_C(1) << 63)
#define IS_DETAIL (UINT64_C(1) << 62)

/* A guest that reads its disk in a loop must not fill the host's memory. */
#define MOST_REQUESTS 100000

static int stamps_fd = -1;
static bool counted;
static int64_t given_ns = -1;
static dev_t console_dev;
static ino_t console_ino;
static int console_fd = -1;

static void store_le64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

/* Writes n records with one time: `{ns | flag, instructions << 8 | byte}`. */
static void record(uint64_t flag, const unsigned char *bytes, size_t n)
{
	unsigned char buf[16 * 64];
	int64_t now = given_ns >= 0 ? given_ns : qemu.qemu_clock_get_ns(CLOCK_VIRTUAL);
	uint64_t ns = (uint64_t)now | flag;
	uint64_t insns = counted ? (uint64_t)qemu.icount_get_raw() : 0;

	while (n > 0 && stamps_fd >= 0) {
		size_t batch = n < 64 ? n : 64;
		for (size_t i = 0; i < batch; i++) {
			store_le64(buf + 16 * i, ns);
			store_le64(buf + 16 * i + 8, insns << 8 | bytes[i]);
		}
		if (write(stamps_fd, buf, 16 * batch) != (ssize_t)(16 * batch))
			stamps_fd = -1; /* full disk: the lab counts and tells */
		bytes += batch;
		n -= batch;
	}
}

void stamps_mark(enum mark m)
{
	unsigned char code = (unsigned char)m;
	record(IS_MARK, &code, 1);
}

static void detail(uint64_t first, uint64_t second, unsigned code)
{
	unsigned char buf[16];

	store_le64(buf, (first & (IS_DETAIL - 1)) | IS_MARK | IS_DETAIL);
	store_le64(buf + 8, second << 8 | code);
	if (stamps_fd >= 0 && write(stamps_fd, buf, sizeof buf) != (ssize_t)sizeof buf)
		stamps_fd = -1;
}

void stamps_request(const struct stamps_request *r)
{
	static unsigned n;

	if (n == MOST_REQUESTS)
		return;
	n++;
	stamps_mark(MARK_REQUEST);
	detail(r->offset, r->bytes, r->disk << 2 | r->what);
	detail((uint64_t)r->took_ps / 1000, (uint64_t)r->waited_ps / 1000, 0);
}

void stamps_at(int64_t ns)
{
	given_ns = ns;
}

void stamps_now(void)
{
	given_ns = -1;
}

static bool is_console(int fd)
{
	struct stat st;

	if (fd == console_fd)
		return true;
	if (console_fd >= 0 || fstat(fd, &st) != 0)
		return false;
	if (st.st_dev != console_dev || st.st_ino != console_ino)
		return false;
	console_fd = fd;
	return true;
}

/* Before the C library's: see probe.c. */
EXPORT ssize_t writev(int fd, const struct iovec *iov, int iovcnt)
{
	static ssize_t (*next)(int, const struct iovec *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "writev");
	ssize_t written = next(fd, iov, iovcnt);
	if (stamps_fd < 0 || written <= 0 || !is_console(fd))
		return written;

	size_t left = (size_t)written;
	for (int i = 0; i < iovcnt && left > 0; i++) {
		size_t n = iov[i].iov_len < left ? iov[i].iov_len : left;
		record(0, iov[i].iov_base, n);
		left -= n;
	}
	return written;
}

bool stamps_open(const char *console, const char *stamps, enum stamp_clock clock)
{
	unsigned char header[16] = {'B', 'O', 'O', 'T', 'L', 'A', 'P', 0, 1, (unsigned char)clock};
	struct stat st;

	if (stat(console, &st) != 0) {
		perror("bootlap probe: console");
		return false;
	}
	console_dev = st.st_dev;
	console_ino = st.st_ino;
	counted = clock != CLOCK_QEMU;
	stamps_fd = open(stamps, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (stamps_fd < 0 || write(stamps_fd, header, sizeof header) != (ssize_t)sizeof header) {
		perror("bootlap probe: stamps");
		return false;
	}
	return true;
}

#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static unsigned char head[SPLASH_HEAD_LEN + 1] = SPLASH_MAGIC;

static void make_head(const struct screen *screen, size_t len)
{
	uint32_t sums[2] = { 0, 0 };

	put_little(head + 8, screen->width, 2);
	put_little(head + 10, screen->height, 2);
	put_little(head + 12, screen->format, 4);
	put_little(head + 20, (uint32_t)len, 4);
	put_little(head + 24, (uint32_t)(SPLASH_HEAD_LEN + len + (-len & 3)), 4);
	add_words(sums, head, SPLASH_SUMS_AT);
	put_little(head + SPLASH_SUMS_AT, sums[0], 4);
	put_little(head + SPLASH_SUMS_AT + 4, sums[1], 4);
}

int capture(const struct screen *screen, const char *path)
{
	size_t row_len = (size_t)screen->width * pixel_bytes(screen->format);
	int fd, failed;

	if (screen->width > SPLASH_MOST || screen->height > SPLASH_MOST) {
		errno = EFBIG;
		return -1;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	make_head(screen, row_len * screen->height);
	failed = write_all(fd, head, SPLASH_HEAD_LEN);
	for (unsigned y = 0; y < screen->height && !failed; y++)
		failed = write_all(fd, screen->pixels + y * screen->stride, row_len);
	if (!failed)
		failed = write_all(fd, "\0\0\0", -(row_len * screen->height) & 3);
	if (close(fd))
		failed = -1;
	return failed;
}

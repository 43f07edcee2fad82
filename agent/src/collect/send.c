#include "send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "crc32.h"
#include "text.h"

/* Bytes of the archive in a line of the console, 76 characters of base64. */
#define BYTES_A_LINE 57

static int write_bytes(int fd)
{
	int failed = write_all(fd, archive_bytes(), archive_used()) ? errno : 0;

	return close(fd) && !failed ? errno : failed;
}

/* Whether it is there, and no plain file that may be replaced: a device, a pipe, a link. */
static int is_written_through(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && !S_ISREG(stat.st_mode);
}

static int write_through(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0644);

	return fd < 0 ? errno : write_bytes(fd);
}

/* Anybody can have put something where a temporary file goes: a pipe would wait for a
 * reader for ever, and a file of somebody's would be theirs to read. So what is there is
 * removed, and the new one is made by nobody else. */
static int write_file(const char *path, mode_t mode)
{
	TEXT(new, 1024);
	int fd, failed;

	put(&new, path);
	put(&new, ".new");
	unlink(new.bytes);
	fd = open(new.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return errno;
	failed = write_bytes(fd);
	if (!failed && rename(new.bytes, path))
		failed = errno;
	if (failed)
		unlink(new.bytes);
	return failed;
}

const char *send_file(const char *path)
{
	static const char *const ELSEWHERE[] = { "/run/bootlap-agent.archive",
						 "/tmp/bootlap-agent.archive" };
	int failed = is_written_through(path) ? write_through(path) : write_file(path, 0644);

	if (!failed)
		return path;
	complain(failed, "cannot write ", path, NULL);
	for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++)
		if (!write_file(ELSEWHERE[i], 0600))
			return ELSEWHERE[i];
	return NULL;
}

static void put_base64(struct text *line, const unsigned char *bytes, size_t len)
{
	static const char DIGITS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;
		char four[4] = "==";

		if (i + 1 < len)
			three |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < len)
			three |= bytes[i + 2];
		four[0] = DIGITS[three >> 18];
		four[1] = DIGITS[three >> 12 & 63];
		four[2] = i + 1 < len ? DIGITS[three >> 6 & 63] : '=';
		four[3] = i + 2 < len ? DIGITS[three & 63] : '=';
		put_bytes(line, four, sizeof four);
	}
}

/* One line of it: the place in front, so that a line that another one broke into
 * is missed. */
static int print_part(int fd, const unsigned char *bytes, size_t at, size_t len)
{
	TEXT(line, 160);

	put(&line, "bootlap-archive ");
	put_number(&line, at);
	put(&line, "/");
	put_number(&line, len);
	put(&line, " ");
	put_base64(&line, bytes + at, len - at < BYTES_A_LINE ? len - at : BYTES_A_LINE);
	put(&line, "\n");
	return write_all(fd, line.bytes, line.len);
}

static int print_end(int fd, const unsigned char *bytes, size_t len)
{
	TEXT(line, 64);

	/* The word at the end is what a recorder waits for. */
	put(&line, "bootlap-archive ");
	put_number(&line, crc32(0, bytes, len));
	put(&line, " end\n");
	return write_all(fd, line.bytes, line.len);
}

int send_console(void)
{
	const unsigned char *bytes = archive_bytes();
	size_t len = archive_used();
	int fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	int failed = fd < 0 ? errno : 0;

	/* A login may ask for a name there: what is behind that on its line is not read. */
	if (!failed && write_all(fd, "\n", 1))
		failed = errno;
	for (size_t at = 0; !failed && at < len; at += BYTES_A_LINE)
		if (print_part(fd, bytes, at, len))
			failed = errno;
	if (!failed && print_end(fd, bytes, len))
		failed = errno;
	if (fd >= 0)
		close(fd);
	if (failed)
		complain(failed, "cannot write to /dev/console", NULL);
	return failed ? -1 : 0;
}

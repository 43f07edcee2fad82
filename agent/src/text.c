#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct text text_in(char *bytes, size_t room)
{
	bytes[0] = 0;
	return (struct text){ .bytes = bytes, .room = room, .len = 0 };
}

void put_bytes(struct text *text, const char *bytes, size_t len)
{
	size_t left = text->room - text->len - 1;

	if (len > left)
		len = left;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = 0;
}

void put(struct text *text, const char *string)
{
	put_bytes(text, string, strlen(string));
}

void put_number(struct text *text, uint64_t number)
{
	char digits[20], *first = digits + sizeof digits;

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	put_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

void complain(int error, ...)
{
	TEXT(line, 1024);
	const char *part;
	va_list parts;

	put(&line, "bootlap-agent: ");
	va_start(parts, error);
	while ((part = va_arg(parts, const char *)))
		put(&line, part);
	va_end(parts);
	if (error) {
		put(&line, ": ");
		put(&line, strerror(error));
	}
	put(&line, "\n");
	write_all(STDERR_FILENO, line.bytes, line.len);
}

int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n) {
			errno = ENOSPC;
			return -1;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int64_t number_in(const char *string, int64_t most)
{
	int64_t number = 0;

	if (!*string)
		return -1;
	for (; *string; string++) {
		int digit = *string - '0';

		if (digit < 0 || digit > 9 || digit > most ||
		    number > (most - digit) / 10)
			return -1;
		number = number * 10 + digit;
	}
	return number;
}

#include "lz4.h"

#include <string.h>

/* Lengths from 15 on go on in further bytes, up to the first that is not 255. */
static int read_length(const unsigned char **from, const unsigned char *end, size_t *len)
{
	unsigned char more = 255;

	if (*len != 15)
		return 0;
	while (more == 255) {
		if (*from == end)
			return -1;
		more = *(*from)++;
		*len += more;
	}
	return 0;
}

/* What is there already can be copied as a whole, twice as much each time. */
void repeat(unsigned char *to, size_t distance, size_t len)
{
	const unsigned char *from = to - distance;

	while (len) {
		size_t n = (size_t)(to - from);

		if (n > len)
			n = len;
		memcpy(to, from, n);
		to += n;
		len -= n;
	}
}

int lz4_unpack(const unsigned char *from, size_t from_len, unsigned char *to, size_t room)
{
	const unsigned char *end = from + from_len;
	const unsigned char *start = to, *to_end = to + room;

	while (from < end) {
		size_t literals = *from >> 4, match = *from & 15, distance;

		from++;
		if (read_length(&from, end, &literals) || literals > (size_t)(end - from) ||
		    literals > (size_t)(to_end - to))
			return -1;
		memcpy(to, from, literals);
		to += literals;
		from += literals;
		/* The last sequence has no match. */
		if (from == end)
			break;
		if (end - from < 2)
			return -1;
		distance = (size_t)(from[0] | from[1] << 8);
		from += 2;
		if (read_length(&from, end, &match))
			return -1;
		match += 4;
		if (!distance || distance > (size_t)(to - start) || match > (size_t)(to_end - to))
			return -1;
		repeat(to, distance, match);
		to += match;
	}
	return to == to_end ? 0 : -1;
}

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

/* Most sequences are short, and are copied whole, as long as there is room behind them: more is
 * written than belongs to them, and then written over. */
#define SHORT_LITERALS 14
#define SHORT_MATCH 18
#define ROOM_FROM (1 + 16 + 2)
#define ROOM_TO (SHORT_LITERALS + 24)

/* Unpacks sequences as long as they are such; gives how far it came, by *to too. */
static const unsigned char *unpack_short(const unsigned char *from, const unsigned char *end,
					 const unsigned char *start, unsigned char **to_at,
					 const unsigned char *to_end)
{
	unsigned char *to = *to_at;

	while (end - from >= ROOM_FROM && to_end - to >= ROOM_TO) {
		size_t literals = *from >> 4, match = *from & 15, distance;
		const unsigned char *behind = from + 1 + literals;
		unsigned char *match_to = to + literals;

		if (literals > SHORT_LITERALS || match > SHORT_MATCH - 4)
			break;
		distance = (size_t)(behind[0] | behind[1] << 8);
		/* Eight bytes at once must not be some that are not there yet. */
		if (distance < 8 || distance > (size_t)(match_to - start))
			break;
		memcpy(to, from + 1, 8);
		memcpy(to + 8, from + 9, 8);
		memcpy(match_to, match_to - distance, 8);
		memcpy(match_to + 8, match_to - distance + 8, 8);
		memcpy(match_to + 16, match_to - distance + 16, 8);
		from = behind + 2;
		to = match_to + match + 4;
	}
	*to_at = to;
	return from;
}

int lz4_unpack(const unsigned char *from, size_t from_len, unsigned char *to, size_t room)
{
	const unsigned char *end = from + from_len;
	const unsigned char *start = to, *to_end = to + room;

	while ((from = unpack_short(from, end, start, &to, to_end)) < end) {
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

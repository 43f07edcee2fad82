#include "lz4_pack.h"

#include <stdint.h>
#include <string.h>

#define HASH_BITS 12
/* What the format asks for: no match begins in the last 12 bytes, or reaches into the last 5. */
#define LAST_START 12
#define LAST_LITERALS 5
#define SHORTEST 4

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* How many bytes a length takes beside its four bits. */
static size_t more_of(size_t length)
{
	return length < 15 ? 0 : (length - 15) / 255 + 1;
}

static unsigned char *put_more(unsigned char *to, size_t length)
{
	if (length < 15)
		return to;
	for (length -= 15; length >= 255; length -= 255)
		*to++ = 255;
	*to++ = (unsigned char)length;
	return to;
}

/* One sequence: literals, and a match behind them unless `match` is 0; NULL if it does not fit. */
static unsigned char *put_sequence(unsigned char *to, const unsigned char *end,
				   const unsigned char *literals, size_t count, size_t distance,
				   size_t match)
{
	size_t rest = match ? match - SHORTEST : 0;
	size_t needed = 1 + more_of(count) + count + (match ? 2 + more_of(rest) : 0);

	if (needed > (size_t)(end - to))
		return NULL;
	*to++ = (unsigned char)((count < 15 ? count : 15) << 4 | (rest < 15 ? rest : 15));
	to = put_more(to, count);
	memcpy(to, literals, count);
	to += count;
	if (!match)
		return to;
	*to++ = (unsigned char)distance;
	*to++ = (unsigned char)(distance >> 8);
	return put_more(to, rest);
}

size_t lz4_pack(const unsigned char *from, size_t length, unsigned char *to, size_t room)
{
	static uint16_t last[1 << HASH_BITS];
	const unsigned char *start = to, *end = to + room - 1;
	size_t at = 0, literals = 0;

	memset(last, 0, sizeof last);
	if (!room)
		return 0;
	while (length > LAST_START && at < length - LAST_START) {
		uint32_t word = word_at(from + at);
		uint32_t hash = (word * 2654435761u) >> (32 - HASH_BITS);
		size_t before = last[hash], match;

		last[hash] = (uint16_t)at;
		if (before >= at || word_at(from + before) != word) {
			/* What does not repeat for long is passed in longer steps. */
			at += 1 + ((at - literals) >> 6);
			continue;
		}
		match = SHORTEST;
		while (at + match < length - LAST_LITERALS && from[before + match] == from[at + match])
			match++;
		to = put_sequence(to, end, from + literals, at - literals, at - before, match);
		if (!to)
			return 0;
		at += match;
		literals = at;
	}
	to = put_sequence(to, end, from + literals, length - literals, 0, 0);
	return to ? (size_t)(to - start) : 0;
}

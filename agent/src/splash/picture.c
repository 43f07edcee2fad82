#include "picture.h"

#include <string.h>

#include "lz4.h"

static unsigned char band[SPLASH_BAND];

uint32_t little_u16(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

uint32_t little_u32(const unsigned char *bytes)
{
	return little_u16(bytes) | little_u16(bytes + 2) << 16;
}

void put_little(unsigned char *bytes, uint32_t number, unsigned len)
{
	for (; len; len--, number >>= 8)
		*bytes++ = (unsigned char)number;
}

unsigned pixel_bytes(uint32_t format)
{
	return format == SPLASH_XRGB8888 ? 4 : format == SPLASH_RGB565 ? 2 : 0;
}

void add_words(uint32_t sums[2], const unsigned char *bytes, size_t len)
{
	uint32_t sum = sums[0], of_sums = sums[1];

	for (const unsigned char *end = bytes + (len & ~(size_t)3); bytes < end; bytes += 4) {
		sum += little_u32(bytes);
		of_sums += sum;
	}
	sums[0] = sum;
	sums[1] = of_sums;
}

/* What headers of a splash and of a frame have in common. */
static const char *read_picture(struct picture *picture, const unsigned char *size,
				unsigned char encoding)
{
	unsigned bytes = pixel_bytes(picture->format);

	picture->width = little_u16(size);
	picture->height = little_u16(size + 2);
	picture->encoding = encoding;
	picture->done = picture->again = 0;
	if (!bytes)
		return "its pixels are of a kind that is not known";
	if (!picture->width || !picture->height || picture->width > SPLASH_MOST ||
	    picture->height > SPLASH_MOST)
		return "its size makes no sense";
	if (encoding > SPLASH_LZ4)
		return "its encoding is not known";
	if (encoding == SPLASH_RAW && (size_t)(picture->end - picture->at) !=
					      (size_t)picture->width * picture->height * bytes)
		return "its length does not fit its size";
	return NULL;
}

const char *splash_read(struct splash *splash, const unsigned char *bytes, size_t len)
{
	struct picture *picture = &splash->picture;
	uint32_t sums[2] = { 0, 0 };
	size_t length;

	if (len < SPLASH_HEAD_LEN || memcmp(bytes, SPLASH_MAGIC, SPLASH_MAGIC_LEN))
		return "it is no picture of bootlap's; bootlap splash makes one";
	if (little_u32(bytes + SPLASH_TOTAL_AT) != len || len % 4)
		return "it is cut short or goes on behind its end";
	length = little_u32(bytes + 20);
	if (length > len - SPLASH_HEAD_LEN)
		return "its picture is longer than it";
	add_words(sums, bytes, SPLASH_SUMS_AT);
	if (bytes[16] != SPLASH_RAW)
		add_words(sums, bytes + SPLASH_HEAD_LEN, len - SPLASH_HEAD_LEN);
	if (sums[0] != little_u32(bytes + SPLASH_SUMS_AT) ||
	    sums[1] != little_u32(bytes + SPLASH_SUMS_AT + 4))
		return "it is damaged: its sums are wrong";
	picture->format = little_u32(bytes + 12);
	picture->at = bytes + SPLASH_HEAD_LEN;
	picture->end = picture->at + length;
	splash->frames = picture->end;
	splash->end = bytes + len;
	splash->frame_count = little_u16(bytes + 18);
	if (splash->frame_count > SPLASH_FRAMES)
		return "it has too many frames";
	return read_picture(picture, bytes + 8, bytes[16]);
}

int frame_read(struct frame *frame, const struct splash *splash, const unsigned char **at)
{
	const unsigned char *head = *at;
	size_t length;

	if (splash->end - head < SPLASH_FRAME_LEN)
		return -1;
	length = little_u32(head + 12);
	if (length > (size_t)(splash->end - head) - SPLASH_FRAME_LEN)
		return -1;
	frame->x = little_u16(head);
	frame->y = little_u16(head + 2);
	frame->ms = little_u16(head + 8);
	frame->picture.format = splash->picture.format;
	frame->picture.at = head + SPLASH_FRAME_LEN;
	frame->picture.end = *at = frame->picture.at + length;
	return read_picture(&frame->picture, head + 4, head[10]) ? -1 : 0;
}

/* Fills the band's beginning with a row. */
static int unpack_runs(struct picture *picture, unsigned bytes)
{
	const unsigned char *from = picture->at, *end = picture->end;
	unsigned char *to = band, *to_end = band + (size_t)picture->width * bytes;

	if (end - from < 2)
		return -1;
	picture->again = little_u16(from);
	from += 2;
	while (to < to_end) {
		size_t literal = bytes, run = 0;

		if (from == end)
			return -1;
		if (*from < 128)
			literal *= *from + 1u;
		else
			run = (*from - 127u) * bytes;
		from++;
		if (literal > (size_t)(end - from) || literal + run > (size_t)(to_end - to))
			return -1;
		memcpy(to, from, literal);
		from += literal;
		to += literal;
		repeat(to, bytes, run);
		to += run;
	}
	picture->at = from;
	picture->row = band;
	return picture->again ? 0 : -1;
}

static int unpack_band(struct picture *picture, unsigned row_len)
{
	unsigned rows = SPLASH_BAND / row_len, left = picture->height - picture->done;
	size_t len;

	if (rows > left)
		rows = left;
	if (picture->end - picture->at < 4)
		return -1;
	len = little_u32(picture->at);
	picture->at += 4;
	if (len > (size_t)(picture->end - picture->at) ||
	    lz4_unpack(picture->at, len, band, (size_t)rows * row_len))
		return -1;
	picture->at += len;
	picture->row = band;
	picture->again = rows;
	return 0;
}

const unsigned char *picture_row(struct picture *picture)
{
	unsigned bytes = pixel_bytes(picture->format), row_len = picture->width * bytes;
	const unsigned char *row;

	if (picture->done == picture->height)
		return NULL;
	if (picture->encoding == SPLASH_RAW) {
		row = picture->at;
		picture->at += row_len;
	} else {
		if (!picture->again && (picture->encoding == SPLASH_RLE
						? unpack_runs(picture, bytes)
						: unpack_band(picture, row_len)))
			return NULL;
		row = picture->row;
		if (picture->encoding == SPLASH_LZ4)
			picture->row += row_len;
		picture->again--;
	}
	picture->done++;
	return row;
}

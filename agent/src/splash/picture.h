/* Pictures in the bytes of a file: what lies where, and its pixels row by row. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "splash_format.h"

/* Pixels of which the rows are taken one after the other. */
struct picture {
	const unsigned char *at, *end; /* what is encoded and not yet read */
	const unsigned char *row;      /* the one given last, or in a band the next */
	unsigned width, height, done;
	unsigned again; /* rows that are as the last one, or left in the band */
	uint32_t format;
	unsigned char encoding;
};

struct splash {
	struct picture picture;
	const unsigned char *frames, *end;
	unsigned frame_count;
};

struct frame {
	struct picture picture;
	unsigned x, y; /* in the splash's picture */
	unsigned ms;
};

uint32_t little_u16(const unsigned char *bytes);
uint32_t little_u32(const unsigned char *bytes);
void put_little(unsigned char *bytes, uint32_t number, unsigned len);

/* Bytes of a pixel; 0 if the format is unknown. */
unsigned pixel_bytes(uint32_t format);

/* Adds words to both sums. */
void add_words(uint32_t sums[2], const unsigned char *bytes, size_t len);

/* Reads the header. NULL, or what is wrong. */
const char *splash_read(struct splash *splash, const unsigned char *bytes, size_t len);

/* The frame at `*at`, which goes on to the next; -1 if it is none. */
int frame_read(struct frame *frame, const struct splash *splash, const unsigned char **at);

/* The next row, until another picture's is asked for; NULL if it is damaged. */
const unsigned char *picture_row(struct picture *picture);

#endif

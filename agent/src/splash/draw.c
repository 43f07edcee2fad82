/* One copy, from top to bottom and left to right: screens' memory is slow where it is
 * read, or written in no order. */

#include <string.h>

#include "screen.h"

int centred(unsigned outer, unsigned inner)
{
	return ((int)outer - (int)inner) / 2;
}

/* The part of `len` from `at` on that lies within `room`: gives how many it is, and
 * sets how many come before. */
static int clip(int at, int len, int room, int *before)
{
	*before = at < 0 ? -at : 0;
	if (len > room - at)
		len = room - at;
	return len - *before;
}

static void widen(unsigned char *to, const unsigned char *from, unsigned count)
{
	for (; count; count--, from += 2, to += 4) {
		uint32_t pixel = little_u16(from);
		uint32_t red = pixel >> 11, green = pixel >> 5 & 63, blue = pixel & 31;

		put_little(to,
			   (red << 3 | red >> 2) << 16 | (green << 2 | green >> 4) << 8 |
				   blue << 3 | blue >> 2,
			   4);
	}
}

static void narrow(unsigned char *to, const unsigned char *from, unsigned count)
{
	for (; count; count--, from += 4, to += 2) {
		uint32_t pixel = little_u32(from);

		put_little(to, (pixel >> 8 & 0xf800) | (pixel >> 5 & 0x07e0) | (pixel >> 3 & 31),
			   2);
	}
}

int draw(const struct screen *screen, struct picture *picture, int x, int y)
{
	unsigned from = pixel_bytes(picture->format), to = pixel_bytes(screen->format);
	int left, columns = clip(x, (int)picture->width, (int)screen->width, &left);
	int above, rows = clip(y, (int)picture->height, (int)screen->height, &above);
	const unsigned char *row;
	unsigned char *at;

	if (columns <= 0 || rows <= 0)
		return 0;
	for (; above; above--)
		if (!picture_row(picture))
			return -1;
	at = screen->pixels + (size_t)(y < 0 ? 0 : y) * screen->stride +
	     (size_t)(x < 0 ? 0 : x) * to;
	for (; rows; rows--, at += screen->stride) {
		row = picture_row(picture);
		if (!row)
			return -1;
		row += (size_t)left * from;
		if (from == to)
			memcpy(at, row, (size_t)columns * to);
		else if (from == 2)
			widen(at, row, (unsigned)columns);
		else
			narrow(at, row, (unsigned)columns);
	}
	return 0;
}

/* splash: pictures are read, unpacked and drawn where they belong. */

#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "lz4.h"
#include "splash/picture.h"
#include "splash/screen.h"

#define WIDTH 20
#define HEIGHT 12

static unsigned char file[1 << 16];
static size_t file_len;

static void read_golden(const char *name)
{
	char path[128];
	FILE *from;

	snprintf(path, sizeof path, "tests/corpus/splash/%s.splash", name);
	from = fopen(path, "rb");
	CHECK(from);
	file_len = fread(file, 1, sizeof file, from);
	fclose(from);
}

/* What crates/rootfs/src/splash/tests.rs computes, too. */
static uint32_t golden(unsigned x, unsigned y)
{
	if (y < 4)
		return 0x203040;
	if (x < 10)
		return 0x010203 * x + y / 4;
	return 0xff8000 + y / 6;
}

static uint32_t pixel_at(const struct screen *screen, unsigned x, unsigned y)
{
	const unsigned char *at = screen->pixels + y * screen->stride;

	return screen->format == SPLASH_RGB565 ? little_u16(at + 2 * x) : little_u32(at + 4 * x);
}

/* A screen of which not a byte beyond the pixels may be touched. */
static struct screen new_screen(unsigned width, unsigned height, uint32_t format)
{
	size_t row = width * pixel_bytes(format);
	struct screen screen = { .width = width, .height = height, .format = format,
				 .stride = row + 12 };

	screen.pixels = malloc((height - 1) * screen.stride + row);
	CHECK(screen.pixels);
	memset(screen.pixels, 0xee, (height - 1) * screen.stride + row);
	return screen;
}

static void golden_pictures_are_drawn(void)
{
	static const char *const NAMES[] = { "xrgb8888-raw", "xrgb8888-rle", "xrgb8888-lz4",
					     "rgb565-raw",   "rgb565-rle",   "rgb565-lz4" };

	for (unsigned i = 0; i < 6; i++) {
		uint32_t format = i < 3 ? SPLASH_XRGB8888 : SPLASH_RGB565;
		struct screen screen = new_screen(WIDTH, HEIGHT, format);
		uint32_t mask = i < 3 ? UINT32_MAX : 0xffff;
		struct splash splash;
		struct frame frame;
		const unsigned char *at;

		read_golden(NAMES[i]);
		CHECK(!splash_read(&splash, file, file_len));
		CHECK(!draw(&screen, &splash.picture, 0, 0));
		for (unsigned y = 0; y < HEIGHT; y++) {
			for (unsigned x = 0; x < WIDTH; x++)
				CHECK(pixel_at(&screen, x, y) == (golden(x, y) & mask));
			/* Between the rows nothing is written. */
			if (y + 1 < HEIGHT)
				CHECK(screen.pixels[(y + 1) * screen.stride - 1] == 0xee);
		}
		at = splash.frames;
		CHECK(splash.frame_count == 2);
		for (unsigned n = 0; n < 2; n++) {
			CHECK(!frame_read(&frame, &splash, &at));
			CHECK(!draw(&screen, &frame.picture, (int)frame.x, (int)frame.y));
		}
		CHECK(frame.x == 15 && frame.y == 5 && frame.ms == 20);
		CHECK(pixel_at(&screen, 19, 0) == ((golden(19, 0) + 10) & mask));
		CHECK(pixel_at(&screen, 15, 5) == ((golden(15, 5) + 20) & mask));
		CHECK(pixel_at(&screen, 19, 11) == ((golden(19, 11) + 20) & mask));
		CHECK(pixel_at(&screen, 14, 5) == (golden(14, 5) & mask));
		CHECK(frame_read(&frame, &splash, &at));
		free(screen.pixels);
	}
}

static void what_is_outside_is_left_out(void)
{
	static const int PLACES[] = { -25, -20, -19, -3, 0, 2, 6, 7, 30 };
	struct splash splash;

	read_golden("xrgb8888-rle");
	for (unsigned i = 0; i < 9; i++)
		for (unsigned j = 0; j < 9; j++) {
			struct screen screen = new_screen(7, 5, SPLASH_XRGB8888);
			int left = PLACES[i], top = PLACES[j];

			CHECK(!splash_read(&splash, file, file_len));
			CHECK(!draw(&screen, &splash.picture, left, top));
			for (int y = 0; y < 5; y++)
				for (int x = 0; x < 7; x++) {
					int from_x = x - left, from_y = y - top;
					int inside = from_x >= 0 && from_x < WIDTH &&
						     from_y >= 0 && from_y < HEIGHT;

					CHECK(pixel_at(&screen, (unsigned)x, (unsigned)y) ==
					      (inside ? golden((unsigned)from_x, (unsigned)from_y)
						      : 0xeeeeeeee));
				}
			free(screen.pixels);
		}
	CHECK(centred(7, 20) == -6);
	CHECK(centred(20, 7) == 6);
}

static void other_pixels_are_converted(void)
{
	struct screen narrow = new_screen(WIDTH, HEIGHT, SPLASH_RGB565);
	struct screen wide = new_screen(WIDTH, HEIGHT, SPLASH_XRGB8888);
	struct splash splash;

	read_golden("xrgb8888-lz4");
	CHECK(!splash_read(&splash, file, file_len));
	CHECK(!draw(&narrow, &splash.picture, 0, 0));
	CHECK(pixel_at(&narrow, 0, 0) == (0x20 >> 3 << 11 | 0x30 >> 2 << 5 | 0x40 >> 3));
	CHECK(pixel_at(&narrow, 19, 11) == (0xff >> 3 << 11 | 0x80 >> 2 << 5));
	read_golden("rgb565-rle");
	CHECK(!splash_read(&splash, file, file_len));
	CHECK(!draw(&wide, &splash.picture, 0, 0));
	/* 0x3040: 6 red, 2 green, 0 blue; 0x8001: 16, 0, 1. */
	CHECK(pixel_at(&wide, 0, 0) == ((6 << 3 | 6 >> 2) << 16 | 2 << 2 << 8));
	CHECK(pixel_at(&wide, 19, 11) == ((16 << 3 | 16 >> 2) << 16 | 1 << 3));
	free(narrow.pixels);
	free(wide.pixels);
}

static void damaged_files_are_refused(void)
{
	struct splash splash;

	read_golden("rgb565-rle");
	for (size_t len = 0; len < file_len; len++)
		CHECK(splash_read(&splash, file, len));
	for (size_t i = 0; i < file_len; i++) {
		file[i] ^= 0x40;
		CHECK(splash_read(&splash, file, file_len));
		file[i] ^= 0x40;
	}
	CHECK(!splash_read(&splash, file, file_len));
}

static int unpack(const char *block, size_t len, size_t room)
{
	/* Of their exact sizes, for the sanitizer to see what is beyond. */
	unsigned char *from = malloc(len + 1), *to = malloc(room + 1);
	int result;

	memcpy(from + 1, block, len);
	result = lz4_unpack(from + 1, len, to + 1, room);
	if (!result && room == 9)
		CHECK(!memcmp(to + 1, "abababaXY", 9));
	free(from);
	free(to);
	return result;
}

static void blocks_end_where_they_should(void)
{
	CHECK(!unpack("\x21" "ab\x02\x00" "\x20" "XY", 8, 9));
	CHECK(unpack("\x21" "ab\x02\x00" "\x20" "XY", 8, 8));
	CHECK(unpack("\x21" "ab\x02\x00" "\x20" "XY", 8, 10));
	CHECK(unpack("\x21" "ab\x03\x00" "\x20" "XY", 8, 9));
	CHECK(unpack("\x21" "ab\x00\x00" "\x20" "XY", 8, 9));
	CHECK(unpack("\x21" "ab\x02", 4, 9));
	CHECK(unpack("\xf0\xff\xff", 3, 9));
	CHECK(unpack("\x90" "ab", 3, 9));
	CHECK(!unpack("\x00", 1, 0));
}

int main(void)
{
	golden_pictures_are_drawn();
	what_is_outside_is_left_out();
	other_pixels_are_converted();
	damaged_files_are_refused();
	blocks_end_where_they_should();
	return 0;
}

/* Files of pictures, as hostile as they come. Sums are made right first: else nearly
 * all of them would end there. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "splash/picture.h"
#include "splash/screen.h"

#define MOST_LEN (1 << 16)

static void put_sums(unsigned char *bytes, size_t len)
{
	uint32_t sums[2] = { 0, 0 };

	put_little(bytes + 24, (uint32_t)len, 4);
	add_words(sums, bytes, SPLASH_SUMS_AT);
	if (bytes[16] != SPLASH_RAW)
		add_words(sums, bytes + SPLASH_HEAD_LEN, len - SPLASH_HEAD_LEN);
	put_little(bytes + SPLASH_SUMS_AT, sums[0], 4);
	put_little(bytes + SPLASH_SUMS_AT + 4, sums[1], 4);
}

static void draw_all(const unsigned char *bytes, size_t len, uint32_t format)
{
	static unsigned char pixels[64 * 48 * 4];
	struct screen screen = { .pixels = pixels, .width = 64, .height = 48, .format = format,
				 .stride = 64 * pixel_bytes(format) };
	struct splash splash;
	struct frame frame;
	const unsigned char *at;
	int x, y;

	if (splash_read(&splash, bytes, len))
		return;
	x = centred(screen.width, splash.picture.width);
	y = centred(screen.height, splash.picture.height);
	draw(&screen, &splash.picture, x, y);
	at = splash.frames;
	for (unsigned i = 0; i < splash.frame_count && !frame_read(&frame, &splash, &at); i++)
		draw(&screen, &frame.picture, x + (int)frame.x, y + (int)frame.y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned char *bytes;

	if (len > MOST_LEN)
		return 0;
	/* Of the exact size. */
	bytes = malloc(len);
	memcpy(bytes, data, len);
	draw_all(bytes, len, SPLASH_RGB565);
	if (len >= SPLASH_HEAD_LEN) {
		memcpy(bytes, SPLASH_MAGIC, SPLASH_MAGIC_LEN);
		put_sums(bytes, len);
		draw_all(bytes, len, SPLASH_XRGB8888);
	}
	free(bytes);
	return 0;
}

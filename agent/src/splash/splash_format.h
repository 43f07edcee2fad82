/* A picture for the screen, in the pixels of the screen, as the agent shows and
 * captures it and bootlap makes it (crates/wire/src/splash reads the same golden
 * bytes in its tests).
 *
 * A header, the picture, and frames of an animation: each a small picture with a
 * place. Numbers are little-endian, and so are pixels:
 *
 *	 0  SPLASH_MAGIC
 *	 8  width u16, height u16, of the picture in pixels
 *	12  format u32: the pixels', by DRM's name
 *	16  encoding u8, 0 u8, number of frames u16
 *	20  length u32 of the encoded picture, which lies behind the header
 *	24  total u32, length of all of it: a multiple of 4
 *	28  sums u32, u32
 *
 * and a frame, each behind the one before and the first behind the picture:
 *
 *	 0  x u16, y u16, in the picture; width u16, height u16
 *	 8  how long it is seen, in ms, u16; encoding u8, 0 u8
 *	12  length u32 of the encoded pixels, which lie behind this
 *
 * The sums are of 32-bit words, the sum of these and the sum of that sum after each
 * of them, both modulo 2^32: first the header's words up to here, and then, unless
 * the picture is raw, all that lies behind the header. A CRC would take several times
 * as long; raw pixels are not even summed up, as whatever they are can be shown.
 *
 * Encodings give rows from the top down, no padding between them:
 *
 * raw: the pixels.
 *
 * RLE: for each row that differs from the one before: how often it is there (u16, at
 * least 1), then as many pixels as the picture is wide: a byte N below 128 and N+1
 * pixels, or a byte N from 128 on and the pixel that is there N-126 times.
 *
 * LZ4: bands of as many whole rows as SPLASH_BAND bytes hold (the last may be
 * shorter): the length of a block u32, and the block (LZ4's block format) that gives
 * the band and knows nothing of other bands. So the target needs memory for only one
 * band, and never reads what it wrote to the screen, which is slow. */
#ifndef SPLASH_FORMAT_H
#define SPLASH_FORMAT_H

#define SPLASH_MAGIC "bltsplh\1"
#define SPLASH_MAGIC_LEN 8
#define SPLASH_HEAD_LEN 36
#define SPLASH_TOTAL_AT 24
#define SPLASH_SUMS_AT 28
#define SPLASH_FRAME_LEN 16
#define SPLASH_BAND 65536  /* no row is longer */
#define SPLASH_MOST 16384  /* pixels in either direction */
#define SPLASH_FRAMES 1024

#define SPLASH_XRGB8888 0x34325258 /* XR24: blue, green, red, nothing */
#define SPLASH_RGB565 0x36314752   /* RG16: 5 bits red, 6 green, 5 blue */

enum splash_encoding {
	SPLASH_RAW = 0,
	SPLASH_RLE = 1,
	SPLASH_LZ4 = 2,
};

#endif

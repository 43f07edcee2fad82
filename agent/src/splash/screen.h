/* A screen's memory, mapped: a framebuffer device's or a buffer of DRM. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stddef.h>
#include <stdint.h>

#include "picture.h"

#define PIXELS_UNKNOWN "has pixels that are neither plain XRGB8888 nor RGB565"

struct screen {
	unsigned char *pixels; /* the first that is seen */
	size_t stride;         /* from a row to the next, in bytes */
	unsigned width, height;
	uint32_t format;
	int fd;
	uint32_t crtc, buffer; /* DRM's; no buffer: a framebuffer device */
	int lit;               /* something is on it, which capture wants */
};

/* Maps the screen of an open device, to draw on or to read what is there. NULL, or
 * what does not work, and errno. */
const char *fbdev_open(struct screen *screen, int for_reading);
const char *drm_open(struct screen *screen, int for_reading);

/* Has the pixels seen, if the driver does not do it all the time. */
void fbdev_flush(const struct screen *screen);
const char *drm_flush(struct screen *screen);

/* Lets others have the screen, with the picture on it as long as they do not. */
void drm_release(const struct screen *screen);

/* Whether others do. The kernel's console does not count if the screen may be taken
 * back from it. */
int drm_is_taken(struct screen *screen, int may_retake);

/* Where the middle of `inner` is the middle of `outer`. */
int centred(unsigned outer, unsigned inner);

/* Draws the rows of a picture at a place, of which parts may be outside; -1 if it is
 * damaged: then the rest is left out. */
int draw(const struct screen *screen, struct picture *picture, int x, int y);

#endif

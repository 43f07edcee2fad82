/* Framebuffer devices: what is drawn stays when the process is gone. */

#include <errno.h>
#include <linux/fb.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "screen.h"

/* Where the colours' bits are; 0 if we do not know such pixels. */
static uint32_t format_of(const struct fb_var_screeninfo *var)
{
	unsigned green = var->green.offset, red = var->red.offset;

	if (var->blue.offset || var->grayscale)
		return 0;
	if (var->bits_per_pixel == 32 && green == 8 && red == 16)
		return SPLASH_XRGB8888;
	if (var->bits_per_pixel == 16 && green == 5 && red == 11)
		return SPLASH_RGB565;
	return 0;
}

const char *fbdev_open(struct screen *screen, int for_reading)
{
	struct fb_var_screeninfo var;
	struct fb_fix_screeninfo fix;
	int allowed = for_reading ? PROT_READ : PROT_READ | PROT_WRITE;
	uint64_t first, row, end;
	void *map;

	if (ioctl(screen->fd, FBIOGET_VSCREENINFO, &var) ||
	    ioctl(screen->fd, FBIOGET_FSCREENINFO, &fix))
		return "is no framebuffer";
	errno = 0;
	screen->format = format_of(&var);
	if (!screen->format || fix.type != FB_TYPE_PACKED_PIXELS)
		return PIXELS_UNKNOWN;
	screen->width = var.xres;
	screen->height = var.yres;
	screen->stride = fix.line_length;
	first = (uint64_t)var.yoffset * fix.line_length +
		(uint64_t)var.xoffset * pixel_bytes(screen->format);
	row = (uint64_t)var.xres * pixel_bytes(screen->format);
	end = first + (uint64_t)(var.yres - 1) * fix.line_length + row;
	if (!var.xres || !var.yres || end > fix.smem_len || row > fix.line_length)
		return "says of itself what cannot be";
	map = mmap(NULL, (size_t)end, allowed, MAP_SHARED, screen->fd, 0);
	if (map == MAP_FAILED)
		return "cannot be mapped";
	screen->pixels = (unsigned char *)map + first;
	return NULL;
}

/* Drivers that have no memory which is always seen (the emulation on DRM, panels on
 * SPI) copy what was written some 50 ms later, or now. */
void fbdev_flush(const struct screen *screen)
{
	fsync(screen->fd);
}

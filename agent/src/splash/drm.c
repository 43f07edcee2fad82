/* DRM: a picture in a plain buffer of its own.
 *
 * What is lit already keeps its mode: then the picture comes without a flicker, and
 * without asking the monitor, which takes 20 ms and more. A buffer is gone with its
 * process. So one stays until another program has put its own on the screen; being
 * nobody's master, it is not in that program's way. */

#include <errno.h>
#include <sys/mman.h>

#include "drm_abi.h"
#include "screen.h"

#define CRTCS 16
#define CONNECTORS 32
#define MODES 128

static uint32_t crtcs[CRTCS], connectors[CONNECTORS], encoders[MODES], connector;
static struct drm_mode modes[MODES];
static struct drm_crtc lit;

static uint64_t address(const void *of)
{
	return (uintptr_t)of;
}

/* Asks for a connector's modes and encoders. Without room for any the kernel asks the
 * monitor. */
static int get_connector(int fd, struct drm_connector *found, uint32_t room)
{
	found->modes = address(modes);
	found->mode_count = room;
	found->encoders = address(encoders);
	found->encoder_count = room;
	found->property_count = 0;
	return ioctl(fd, DRM_GET_CONNECTOR, found);
}

/* The CRTC that drives the connector now, with its mode; or if it is dark, one that
 * can, and the best mode of its monitor. */
static int find_crtc(int fd, int dark, unsigned crtc_count)
{
	struct drm_connector found = { .id = connector };
	struct drm_encoder encoder;

	if (get_connector(fd, &found, !dark))
		return 0;
	encoder.id = found.encoder;
	if (dark) {
		if (found.connection != DRM_CONNECTED || found.mode_count - 1 >= MODES ||
		    found.encoder_count > MODES || get_connector(fd, &found, MODES))
			return 0;
		encoder.id = encoders[0];
	}
	if (ioctl(fd, DRM_GET_ENCODER, &encoder))
		return 0;
	lit.id = encoder.crtc;
	if (!dark)
		return !ioctl(fd, DRM_GET_CRTC, &lit) && lit.mode_valid;
	lit.mode_valid = 1;
	lit.mode = modes[0];
	for (unsigned i = found.mode_count < MODES ? found.mode_count : MODES; i--;)
		if (modes[i].type & DRM_PREFERRED)
			lit.mode = modes[i];
	while (crtc_count--)
		if (encoder.possible_crtcs >> crtc_count & 1)
			lit.id = crtcs[crtc_count];
	return lit.id != 0;
}

/* Sets `lit` and `connector`. */
static const char *find_screen(int fd, int must_be_lit)
{
	struct drm_resources all = { .crtcs = address(crtcs),
				     .crtc_count = CRTCS,
				     .connectors = address(connectors),
				     .connector_count = CONNECTORS };

	if (ioctl(fd, DRM_GET_RESOURCES, &all))
		return "has no screens";
	errno = 0;
	if (all.connector_count > CONNECTORS || all.crtc_count > CRTCS)
		return "has too many screens";
	for (int dark = 0; dark <= !must_be_lit; dark++)
		for (unsigned i = 0; i < all.connector_count; i++) {
			connector = connectors[i];
			if (find_crtc(fd, dark, all.crtc_count))
				return NULL;
		}
	errno = 0;
	return must_be_lit ? "shows nothing" : "has no screen connected";
}

static const char *map_buffer(struct screen *screen, uint32_t handle, size_t len, int allowed)
{
	struct drm_map map = { .handle = handle };
	void *at = MAP_FAILED;

	if (!ioctl(screen->fd, DRM_MAP_DUMB, &map))
		at = mmap(NULL, len, allowed, MAP_SHARED, screen->fd, (off_t)map.offset);
	if (at == MAP_FAILED)
		return "has a buffer that cannot be mapped";
	screen->pixels = at;
	return NULL;
}

static const char *map_lit(struct screen *screen)
{
	struct drm_fb2 fb = { .id = lit.fb };

	if (ioctl(screen->fd, DRM_GET_FB2, &fb))
		return "does not say what it shows";
	errno = 0;
	screen->format = fb.format;
	if (!pixel_bytes(fb.format) || fb.modifiers[0] || fb.offsets[0])
		return PIXELS_UNKNOWN;
	/* All of it: screens may share one buffer. */
	screen->width = fb.width;
	screen->height = fb.height;
	screen->stride = fb.pitches[0];
	return map_buffer(screen, fb.handles[0], (size_t)fb.height * fb.pitches[0], PROT_READ);
}

static const char *new_buffer(struct screen *screen)
{
	unsigned bits = 8 * pixel_bytes(screen->format);
	struct drm_dumb dumb = { .width = screen->width, .height = screen->height, .bpp = bits };
	struct drm_fb fb = { .width = screen->width, .height = screen->height, .bpp = bits,
			     .depth = bits == 32 ? 24 : 16 };

	if (ioctl(screen->fd, DRM_CREATE_DUMB, &dumb))
		return "gives no buffer";
	fb.pitch = dumb.pitch;
	fb.handle = dumb.handle;
	if (ioctl(screen->fd, DRM_ADD_FB, &fb))
		return "cannot show such pixels";
	screen->stride = dumb.pitch;
	screen->buffer = fb.id;
	return map_buffer(screen, dumb.handle, (size_t)dumb.size, PROT_READ | PROT_WRITE);
}

const char *drm_open(struct screen *screen, int for_reading)
{
	const char *wrong = find_screen(screen->fd, for_reading);

	if (wrong)
		return wrong;
	screen->width = lit.mode.width;
	screen->height = lit.mode.height;
	screen->crtc = lit.id;
	if (for_reading)
		return map_lit(screen);
	wrong = new_buffer(screen);
	if (!wrong || screen->format == SPLASH_XRGB8888)
		return wrong;
	/* What every driver can show: the picture is widened. */
	screen->format = SPLASH_XRGB8888;
	return new_buffer(screen);
}

const char *drm_flush(struct screen *screen)
{
	struct drm_dirty dirty = { .fb = screen->buffer };

	if (screen->lit) {
		/* Most drivers need nothing, and say so. */
		ioctl(screen->fd, DRM_DIRTY_FB, &dirty);
		return NULL;
	}
	lit.fb = screen->buffer;
	lit.x = lit.y = 0;
	lit.connectors = address(&connector);
	lit.connector_count = 1;
	if (ioctl(screen->fd, DRM_SET_CRTC, &lit))
		return errno == EACCES ? "belongs to another program" : "does not light up";
	screen->lit = 1;
	return NULL;
}

void drm_release(const struct screen *screen)
{
	ioctl(screen->fd, DRM_DROP_MASTER, 0);
}

int drm_is_taken(struct screen *screen, int may_retake)
{
	struct drm_crtc now = { .id = screen->crtc };
	int taken;

	if (ioctl(screen->fd, DRM_GET_CRTC, &now))
		return 1;
	if (now.fb == screen->buffer)
		return 0;
	/* The kernel's console, which comes up behind its driver, is no master. */
	if (!may_retake || ioctl(screen->fd, DRM_SET_MASTER, 0))
		return 1;
	screen->lit = 0;
	taken = drm_flush(screen) != NULL;
	drm_release(screen);
	return taken;
}

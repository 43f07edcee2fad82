/* As much of the kernel's interface for display drivers (DRM) as a splash needs: its
 * headers are not among those that every toolchain brings. */
#ifndef DRM_ABI_H
#define DRM_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

#define DRM_CONNECTED 1
#define DRM_PREFERRED 8

struct drm_mode {
	uint32_t clock;
	uint16_t width, hsync_start, hsync_end, htotal, hskew;
	uint16_t height, vsync_start, vsync_end, vtotal, vscan;
	uint32_t vrefresh, flags, type;
	char name[32];
};

struct drm_resources {
	uint64_t fbs, crtcs, connectors, encoders;
	uint32_t fb_count, crtc_count, connector_count, encoder_count;
	uint32_t min_width, max_width, min_height, max_height;
};

struct drm_crtc {
	uint64_t connectors;
	uint32_t connector_count, id, fb, x, y, gamma_size, mode_valid;
	struct drm_mode mode;
};

struct drm_encoder {
	uint32_t id, type, crtc, possible_crtcs, possible_clones;
};

struct drm_connector {
	uint64_t encoders, modes, properties, values;
	uint32_t mode_count, property_count, encoder_count;
	uint32_t encoder, id, type, type_id, connection, mm_width, mm_height, subpixel, pad;
};

struct drm_fb {
	uint32_t id, width, height, pitch, bpp, depth, handle;
};

struct drm_fb2 {
	uint32_t id, width, height, format, flags, handles[4], pitches[4], offsets[4];
	uint64_t modifiers[4];
};

struct drm_dirty {
	uint32_t fb, flags, colour, clip_count;
	uint64_t clips;
};

struct drm_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct drm_map {
	uint32_t handle, pad;
	uint64_t offset;
};

#define DRM_SET_MASTER _IO('d', 0x1e)
#define DRM_DROP_MASTER _IO('d', 0x1f)
#define DRM_GET_RESOURCES _IOWR('d', 0xa0, struct drm_resources)
#define DRM_GET_CRTC _IOWR('d', 0xa1, struct drm_crtc)
#define DRM_SET_CRTC _IOWR('d', 0xa2, struct drm_crtc)
#define DRM_GET_ENCODER _IOWR('d', 0xa6, struct drm_encoder)
#define DRM_GET_CONNECTOR _IOWR('d', 0xa7, struct drm_connector)
#define DRM_ADD_FB _IOWR('d', 0xae, struct drm_fb)
#define DRM_DIRTY_FB _IOWR('d', 0xb1, struct drm_dirty)
#define DRM_CREATE_DUMB _IOWR('d', 0xb2, struct drm_dumb)
#define DRM_MAP_DUMB _IOWR('d', 0xb3, struct drm_map)
#define DRM_GET_FB2 _IOWR('d', 0xce, struct drm_fb2)

_Static_assert(sizeof(struct drm_mode) == 68, "as the kernel has it");
_Static_assert(sizeof(struct drm_crtc) == 104, "as the kernel has it");
_Static_assert(sizeof(struct drm_connector) == 80, "as the kernel has it");
_Static_assert(sizeof(struct drm_fb2) == 104, "as the kernel has it");

#endif

#include "fiemap.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#define AT_ONCE 64

uint64_t places_each(int fd, uint64_t start, uint64_t end, uint32_t flags,
		     void (*found)(const struct place *place, void *context), void *context)
{
	static union {
		struct fiemap map;
		unsigned char room[sizeof(struct fiemap) + AT_ONCE * sizeof(struct fiemap_extent)];
	} told;

	while (start < end) {
		uint64_t from = start;

		memset(&told.map, 0, sizeof told.map);
		told.map.fm_start = start;
		told.map.fm_length = end - start;
		told.map.fm_flags = flags;
		told.map.fm_extent_count = AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, &told.map) || !told.map.fm_mapped_extents)
			return start;
		for (uint32_t i = 0; i < told.map.fm_mapped_extents && start < end; i++) {
			const struct fiemap_extent *extent = &told.map.fm_extents[i];
			uint64_t its_end = extent->fe_logical + extent->fe_length;

			if (extent->fe_logical > start)
				start = extent->fe_logical;
			if (its_end > end)
				its_end = end;
			if (its_end <= start)
				continue;
			found(&(struct place){ .start = start, .length = its_end - start,
					       .at = extent->fe_physical +
						     (start - extent->fe_logical),
					       .flags = extent->fe_flags },
			      context);
			start = its_end;
			if (extent->fe_flags & FIEMAP_EXTENT_LAST)
				start = end;
		}
		if (start == from)
			return end;
	}
	return end;
}

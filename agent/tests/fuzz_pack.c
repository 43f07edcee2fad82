/* Packs and the kernel's trace, of any bytes: read, taken, made again, replayed. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32.h"
#include "preload/pack.h"
#include "preload/replay.h"
#include "preload/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct pack *pack)
{
	static struct touched touched;
	static unsigned char again[1 << 16];
	static const struct replay nowhere = { .root = "/dev/null", .threads = 1 };
	struct text report;
	char line[512];

	if (!touched.files && touched_open(&touched))
		return;
	for (uint32_t i = 0; i < touched.file_count; i++)
		memset(&touched.files[i], 0, sizeof *touched.files);
	touched.file_count = touched.extent_count = touched.fs_count = 0;
	touched.names_used = 1;
	memset(touched.slots, 0, 2 * TOUCHED_FILES * sizeof *touched.slots);
	pack_take(pack, &touched);
	touched_subtract(&touched, &touched);
	pack_make(again, sizeof again, &touched, 0);
	report = text_in(line, sizeof line);
	replay_pack(&nowhere, pack, &report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct touched traced;
	struct trace_format format = { .commit = { 8, 8 }, .data = { 16, 0 }, .id = 600,
				       .type = { 0, 2 }, .ino = { 16, 8 }, .index = { 24, 8 },
				       .dev = { 32, 4 }, .order = { 36, 1 } };
	unsigned char *copy = malloc(size + 1);
	struct pack pack;

	/* Most would be refused for their length or checksum: both are put right. */
	memcpy(copy, data, size);
	copy[size] = 0;
	if (size >= PACK_HEAD) {
		uint32_t length = (uint32_t)size, crc;

		memcpy(copy + 8, &length, 4);
		crc = crc32(0, copy + PACK_CRC_FROM, size - PACK_CRC_FROM);
		memcpy(copy + 12, &crc, 4);
	}
	if (!pack_check(&pack, copy, size))
		use(&pack);
	if (!traced.files && touched_open(&traced))
		abort();
	trace_page(&format, copy, size, &traced);
	/* What the kernel says of its events. */
	trace_format(&format, (const char *)copy, (const char *)copy);
	free(copy);
	return 0;
}

#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "crc32.h"
#include "text.h"

uint64_t image_sum(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t sum = length, word;

	for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
		memcpy(&word, at, sizeof word);
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	word = 0;
	memcpy(&word, at, length);
	return (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t crc_of(const struct image_header *header)
{
	struct image_header copy = *header;

	copy.crc = 0;
	return crc32(0, &copy, sizeof copy);
}

void image_seal(struct image_header *header)
{
	memcpy(header->magic, IMAGE_MAGIC, sizeof header->magic);
	header->crc = crc_of(header);
}

const char *image_wrong(const struct image_header *header)
{
	if (memcmp(header->magic, IMAGE_MAGIC, sizeof header->magic))
		return "there is no image, or one that was not finished";
	if (header->crc != crc_of(header) || header->root_count > IMAGE_ROOTS)
		return "the image's header is damaged";
	return NULL;
}

void image_machine(char *name, size_t room)
{
	static const char *const PLACES[] = {
		"/sys/firmware/devicetree/base/model",
		"/sys/class/dmi/id/product_name",
	};

	memset(name, 0, room);
	for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES && !*name; i++) {
		int fd = open(PLACES[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		if (read(fd, name, room - 1) < 0)
			*name = 0;
		close(fd);
	}
}

int image_root_sum(const char *device, uint64_t *sum)
{
	unsigned char bytes[4096];
	ssize_t n;
	int fd, failed;

	TEXT(path, 64);
	put(&path, "/dev/");
	put(&path, device);
	fd = open(path.bytes, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = pread(fd, bytes, sizeof bytes, 0);
	failed = n < 0 ? errno : EIO;
	close(fd);
	errno = failed;
	if (n != sizeof bytes)
		return -1;
	*sum = image_sum(bytes, sizeof bytes);
	return 0;
}

/* resume/: what is packed comes back, and images that cannot be trusted are told. */

#include "check.h"
#include "lz4.h"
#include "resume/image.h"
#include "resume/lz4_pack.h"

static unsigned char from[IMAGE_PACKED], packed[IMAGE_PACKED], back[IMAGE_PACKED];

static size_t there_and_back(size_t length)
{
	size_t stored = lz4_pack(from, length, packed, length);

	if (!stored)
		return 0;
	CHECK(stored < length);
	memset(back, 0xaa, sizeof back);
	CHECK(!lz4_unpack(packed, stored, back, length));
	CHECK(!memcmp(from, back, length));
	/* Nothing is written behind the end. */
	CHECK(length == sizeof back || back[length] == 0xaa);
	return stored;
}

static uint32_t number = 1;

static uint32_t some(uint32_t most)
{
	number = number * 1664525 + 1013904223;
	return (number >> 15) % most;
}

/* Literals, and repeats from near and far, of all lengths. */
static void fill(size_t length, uint32_t repeats)
{
	size_t at = 0;

	while (at < length) {
		size_t n = 1 + some(some(4) ? 24 : 600), distance = 1 + some(some(2) ? 16 : 60000);

		for (; n && at < length; n--, at++)
			from[at] = some(100) < repeats && distance <= at ? from[at - distance] :
									  (unsigned char)some(256);
	}
}

static void what_is_packed_comes_back(void)
{
	for (uint32_t round = 0; round < 2000; round++) {
		size_t length = 1 + some(round % 10 ? 600 : IMAGE_PACKED);

		fill(length, round % 101);
		there_and_back(length);
	}
	memset(from, 0, sizeof from);
	CHECK(there_and_back(sizeof from) < 300);
	fill(sizeof from, 0);
	CHECK(!there_and_back(sizeof from));
	CHECK(!lz4_pack(from, 0, packed, 0));
}

/* Whatever is done to packed bytes, nothing is read or written outside (the sanitizers look). */
static void damage_is_no_harm(void)
{
	for (uint32_t round = 0; round < 2000; round++) {
		size_t length = 64 + some(2000), stored;

		fill(length, 90);
		stored = lz4_pack(from, length, packed, length);
		if (!stored)
			continue;
		packed[some((uint32_t)stored)] = (unsigned char)some(256);
		lz4_unpack(packed, stored, back, length);
		lz4_unpack(packed, some((uint32_t)stored), back, length);
	}
}

static void one_changed_byte_changes_the_sum(void)
{
	fill(4099, 50);
	uint64_t sum = image_sum(from, 4099);

	for (size_t i = 0; i < 4099; i++) {
		from[i] ^= 1;
		CHECK(image_sum(from, 4099) != sum);
		from[i] ^= 1;
	}
	CHECK(image_sum(from, 4099) == sum && image_sum(from, 4098) != sum);
}

static void a_header_is_whole_or_none(void)
{
	struct image_header header = { .page_size = 4096, .pages = 3 };

	CHECK(image_wrong(&header));
	image_seal(&header);
	CHECK(!image_wrong(&header));
	header.pages++;
	CHECK_TEXT(image_wrong(&header), "the image's header is damaged");
	header.root_count = IMAGE_ROOTS + 1;
	image_seal(&header);
	CHECK(image_wrong(&header));
}

int main(void)
{
	what_is_packed_comes_back();
	damage_is_no_harm();
	one_changed_byte_changes_the_sum();
	a_header_is_whole_or_none();
	return 0;
}

#include "archive.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* So much is always left for the end: the cost, the clocks, what was lost. */
#define RESERVE 512

static const char *const LOST_NAMES[LOST_KINDS] = { "records", "events", "accounts" };

static unsigned char *buffer;
static size_t size, room, used, begun;
static int overflow;
static uint32_t lost[LOST_KINDS];

int archive_open(size_t bytes)
{
	if (bytes < 2 * RESERVE) {
		errno = EINVAL;
		return -1;
	}
	buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		return -1;
	size = bytes;
	room = size - RESERVE;
	memcpy(buffer, WIRE_MAGIC, WIRE_MAGIC_LEN);
	used = WIRE_MAGIC_LEN;
	memset(lost, 0, sizeof lost);
	return 0;
}

static size_t payload(void)
{
	return used - begun - WIRE_HEAD_LEN;
}

void record_begin(enum wire_kind kind)
{
	begun = used;
	overflow = room - used < WIRE_HEAD_LEN;
	if (overflow)
		return;
	buffer[used] = (unsigned char)kind;
	buffer[used + 1] = 0;
	used += WIRE_HEAD_LEN;
}

void record_bytes(const void *bytes, size_t len)
{
	if (overflow)
		return;
	if (len > WIRE_LONGEST - payload())
		len = WIRE_LONGEST - payload();
	if (len > room - used) {
		overflow = 1;
		return;
	}
	memcpy(buffer + used, bytes, len);
	used += len;
}

void record_u32(uint32_t number)
{
	unsigned char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	record_bytes(bytes, sizeof bytes);
}

void record_u64(uint64_t number)
{
	record_u32((uint32_t)number);
	record_u32((uint32_t)(number >> 32));
}

void record_string(const char *string)
{
	record_bytes(string, strlen(string));
}

void record_end(void)
{
	size_t len;

	if (overflow) {
		used = begun;
		archive_lost(LOST_RECORDS, 1);
		return;
	}
	len = payload();
	buffer[begun + 2] = (unsigned char)len;
	buffer[begun + 3] = (unsigned char)(len >> 8);
}

void archive_lost(enum lost what, uint64_t count)
{
	uint32_t room_left = UINT32_MAX - lost[what];

	lost[what] += count < room_left ? (uint32_t)count : room_left;
}

size_t archive_room(void)
{
	return size;
}

size_t archive_used(void)
{
	return used;
}

void archive_use_reserve(void)
{
	room = size;
}

void archive_close(uint64_t now, const char *why)
{
	archive_use_reserve();
	for (int what = 0; what < LOST_KINDS; what++) {
		if (!lost[what])
			continue;
		record_begin(WIRE_LOST);
		record_u32(lost[what]);
		record_string(LOST_NAMES[what]);
		record_end();
	}
	record_begin(WIRE_END);
	record_u64(now);
	record_string(why);
	record_end();
	room = used;
}

const unsigned char *archive_bytes(void)
{
	return buffer;
}

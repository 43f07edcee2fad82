#include "cached.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
/* The same everywhere but on MIPS, whose ABIs count from numbers of their own. */
#ifndef __mips__
#define SYS_cachestat 451
#elif _MIPS_SIM == _ABIO32
#define SYS_cachestat (4000 + 451)
#elif _MIPS_SIM == _ABI64
#define SYS_cachestat (5000 + 451)
#else
#define SYS_cachestat (6000 + 451)
#endif
#endif

/* So much is asked about with mincore at once: a page is a byte then. */
#define PIECE (4u << 20)
/* So much is asked about with cachestat at once where little is expected. */
#define STRIDE (1ull << 30)

static int64_t with_cachestat(int fd, uint64_t start, uint64_t length)
{
	static int missing;
	struct {
		uint64_t start, length;
	} range = { start, length };
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} stat;

	if (missing || !length)
		return missing ? -1 : 0;
	if (syscall(SYS_cachestat, fd, &range, &stat, 0)) {
		missing = 1;
		return -1;
	}
	return (int64_t)(stat.cached * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* A byte for each page of at most PIECE bytes; 0 if that cannot be had. */
static int in_core(int fd, uint64_t start, size_t length, unsigned char *pages)
{
	void *at = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)start);
	int known;

	if (at == MAP_FAILED)
		return 0;
	known = !mincore(at, length, pages);
	munmap(at, length);
	return known;
}

static unsigned char in_memory[PIECE / 4096];

int64_t cached_bytes(int fd, uint64_t start, uint64_t length)
{
	int64_t bytes = with_cachestat(fd, start, length);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = start + length;

	if (bytes >= 0)
		return bytes;
	bytes = 0;
	for (start -= start % page; start < end; start += PIECE) {
		uint64_t piece = end - start < PIECE ? end - start : PIECE;

		if (!in_core(fd, start, (size_t)piece, in_memory))
			return -1;
		for (uint64_t i = 0; i * page < piece; i++)
			bytes += in_memory[i] & 1 ? (int64_t)page : 0;
	}
	return bytes;
}

static void ranges_of_piece(int fd, uint64_t start, uint64_t length,
			    void (*found)(void *context, uint64_t start, uint64_t end),
			    void *context)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = 0, i;
	uint64_t count = (length + page - 1) / page;
	int within = 0;

	if (with_cachestat(fd, start, length) == 0 ||
	    !in_core(fd, start, (size_t)length, in_memory))
		return;
	for (i = 0; i <= count; i++) {
		int is = i < count && (in_memory[i] & 1);

		if (is && !within)
			first = i;
		if (!is && within)
			found(context, start + first * page,
			      start + (i * page < length ? i * page : length));
		within = is;
	}
}

void cached_ranges(int fd, uint64_t size,
		   void (*found)(void *context, uint64_t start, uint64_t end), void *context)
{
	for (uint64_t at = 0; at < size; at += PIECE) {
		uint64_t left = size - at;

		/* A disk is mostly not in memory: it is left in large steps. */
		while (left > STRIDE && at % STRIDE == 0 &&
		       with_cachestat(fd, at, STRIDE) == 0) {
			at += STRIDE;
			left -= STRIDE;
		}
		ranges_of_piece(fd, at, left < PIECE ? left : PIECE, found, context);
	}
}

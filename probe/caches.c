/*
 * Each access to data and each block of code that runs is looked up by the
 * place of its line in the machine's memory. A set forgets its lines in turn, as
 * many of Arm's cores do. A line that is written to is fetched first, and
 * written back to memory when the last cache forgets it. An access to a device's
 * register takes as long as one to memory. What reads flash is left to nor.c.
 *
 * Where in memory an address lies costs more to find out than all the rest. So
 * addresses are kept (seen) whose line L1 has, until it forgets the line or the
 * guest changes what its addresses mean.
 *
 * A block is fetched as one piece from where it begins: one that crosses a page
 * counts as if the next page followed in memory.
 */
#include "caches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "mmu.h"
#include "nor.h"

#define ACCESSES 3     /* reads and writes */
#define MOST_CPUS 8    /* that have caches of their own */
#define MOST_LINES 255 /* of a block; more than QEMU's blocks have */
#define SEEN 512       /* a power of two */

/* Numbers of lines are counted from 1; 0 is none. */
struct way {
	uint64_t line;    /* by its place in memory */
	uint64_t address; /* of L1's data: under which number it was seen */
	bool dirty;       /* memory does not have it yet */
};

struct cache {
	struct way *ways; /* of all sets */
	unsigned *next;   /* which way of a set is forgotten next */
	uint64_t sets;
	unsigned n; /* ways of a set */
};

static struct cache_board board;
static unsigned line_bits;
static struct cache l1i[MOST_CPUS], l1d[MOST_CPUS], l2;
static struct {
	uint64_t address;
	bool dirty; /* the line is known to be */
} seen[MOST_CPUS][SEEN];
/* The same for code: by its place, as that does not change. */
static uint64_t fetched[MOST_CPUS][SEEN];
static bool any, map_is_known;

/* Whether the cache has the line. It has it from now on, in *way; what that was
 * before, if anything, is *forgotten. */
static bool find(struct cache *cache, uint64_t line, struct way **way, struct way *forgotten)
{
	uint64_t set = line & (cache->sets - 1);
	struct way *ways = cache->ways + set * cache->n;
	unsigned *next = &cache->next[set];

	*forgotten = (struct way){0};
	for (unsigned i = 0; i < cache->n; i++) {
		*way = &ways[i];
		if (ways[i].line == line)
			return true;
	}
	*way = &ways[*next];
	*next = *next + 1 < cache->n ? *next + 1 : 0;
	*forgotten = **way;
	**way = (struct way){.line = line};
	return false;
}

/* The last cache needed the place. */
static void written_back(const struct way *forgotten)
{
	if (forgotten->dirty)
		clock_stall(board.memory_ps);
}

/* What L1 does not have comes from farther away. */
static void missed(uint64_t line)
{
	struct way *way, forgotten;

	if (!l2.ways) {
		clock_stall(board.memory_ps);
		return;
	}
	clock_stall(board.l2_ps);
	if (!find(&l2, line, &way, &forgotten))
		clock_stall(board.memory_ps);
	written_back(&forgotten);
}

static void unsee(unsigned core, uint64_t address)
{
	if (seen[core][address % SEEN].address == address)
		seen[core][address % SEEN].address = 0;
}

/* L1 of data needed the place. */
static void left_l1(unsigned core, const struct way *forgotten)
{
	struct way *way, from_l2;

	unsee(core, forgotten->address);
	if (!forgotten->dirty)
		return;
	if (!l2.ways) {
		written_back(forgotten);
		return;
	}
	find(&l2, forgotten->line, &way, &from_l2);
	way->dirty = true;
	written_back(&from_l2);
}

static void forget_seen(unsigned cpu)
{
	memset(seen[cpu % MOST_CPUS], 0, sizeof *seen);
}

static void on_access(unsigned cpu, uint32_t access, uint64_t at, void *opaque)
{
	unsigned core = cpu % MOST_CPUS;
	uint64_t address = (at >> line_bits) + 1;
	bool writes = qemu.qemu_plugin_mem_is_store(access);
	struct plugin_hwaddr *place;
	struct way *way, forgotten;
	uint64_t line;

	(void)opaque;
	if (seen[core][address % SEEN].address == address &&
	    (!writes || seen[core][address % SEEN].dirty))
		return;
	if (nor_covers(at))
		return;
	if (board.off[clock_reached()] || !mmu_cached(cpu)) {
		clock_stall(board.memory_ps);
		return;
	}
	if (!l1d[core].ways)
		return;
	place = qemu.qemu_plugin_get_hwaddr(access, at);
	if (!place || qemu.qemu_plugin_hwaddr_is_io(place)) {
		clock_stall(board.memory_ps);
		return;
	}
	line = (qemu.qemu_plugin_hwaddr_phys_addr(place) >> line_bits) + 1;
	if (!find(&l1d[core], line, &way, &forgotten)) {
		left_l1(core, &forgotten);
		missed(line);
	}
	/* One address of a line is kept. */
	unsee(core, way->address);
	way->address = address;
	way->dirty |= writes;
	if (map_is_known) {
		seen[core][address % SEEN].address = address;
		seen[core][address % SEEN].dirty = way->dirty;
	}
}

/* A block's first line and how many it has, in one word. */
static void *packed(uint64_t line, uint64_t n)
{
	return (void *)(uintptr_t)(line << 8 | n);
}

static void on_block(unsigned cpu, void *lines)
{
	unsigned core = cpu % MOST_CPUS;
	uint64_t line = ((uintptr_t)lines >> 8) + 1;
	uint64_t end = line + ((uintptr_t)lines & 0xff);
	struct way *way, forgotten;

	for (; line < end; line++) {
		if (fetched[core][line % SEEN] == line)
			continue;
		if (!find(&l1i[core], line, &way, &forgotten))
			missed(line);
		if (fetched[core][forgotten.line % SEEN] == forgotten.line)
			fetched[core][forgotten.line % SEEN] = 0;
		fetched[core][line % SEEN] = line;
	}
}

/* Where code lies in the machine's memory, counted as hwaddr_phys_addr does. */
static bool place_of_code(const struct plugin_insn *insn, uint64_t *place)
{
	void *host = qemu.qemu_plugin_insn_haddr(insn);
	uint64_t offset = 0;
	void *region = host ? qemu.memory_region_from_host(host, &offset) : NULL;

	if (!region)
		return false;
	*place = qemu.object_property_get_uint(region, "addr", NULL) + offset;
	return true;
}

bool caches_translated(struct plugin_tb *tb)
{
	size_t n = any ? qemu.qemu_plugin_tb_n_insns(tb) : 0;
	uint64_t place, bytes, lines;

	if (n == 0)
		return any;
	mmu_translated(tb);
	for (size_t i = 0; i < n; i++)
		qemu.qemu_plugin_register_vcpu_mem_cb(qemu.qemu_plugin_tb_get_insn(tb, i), on_access,
						      NO_REGISTERS, ACCESSES, NULL);
	if (!l1i[0].ways || nor_covers(qemu.qemu_plugin_tb_vaddr(tb)) ||
	    !place_of_code(qemu.qemu_plugin_tb_get_insn(tb, 0), &place))
		return true;
	bytes = qemu.qemu_plugin_insn_vaddr(qemu.qemu_plugin_tb_get_insn(tb, n - 1)) -
		qemu.qemu_plugin_tb_vaddr(tb) +
		qemu.qemu_plugin_insn_size(qemu.qemu_plugin_tb_get_insn(tb, n - 1));
	lines = ((place + bytes - 1) >> line_bits) - (place >> line_bits) + 1;
	qemu.qemu_plugin_register_vcpu_tb_exec_cb(
		tb, on_block, NO_REGISTERS,
		packed(place >> line_bits, lines < MOST_LINES ? lines : MOST_LINES));
	return true;
}

static bool make(struct cache *cache, struct cache_size size)
{
	if (size.bytes == 0)
		return true;
	cache->n = size.ways;
	cache->sets = size.bytes / board.line / size.ways;
	cache->ways = calloc(cache->sets * cache->n, sizeof *cache->ways);
	cache->next = calloc(cache->sets, sizeof *cache->next);
	return cache->ways && cache->next;
}

bool caches_model(const struct cache_board *of, const struct plugin_info *info)
{
	bool made = true;

	if (!qemu.qemu_plugin_register_vcpu_mem_cb || !qemu.qemu_plugin_register_vcpu_tb_exec_cb ||
	    !qemu.qemu_plugin_tb_n_insns || !qemu.qemu_plugin_tb_get_insn ||
	    !qemu.qemu_plugin_tb_vaddr || !qemu.qemu_plugin_insn_vaddr ||
	    !qemu.qemu_plugin_insn_size || !qemu.qemu_plugin_insn_haddr ||
	    !qemu.qemu_plugin_mem_is_store || !qemu.qemu_plugin_get_hwaddr ||
	    !qemu.qemu_plugin_hwaddr_is_io || !qemu.qemu_plugin_hwaddr_phys_addr ||
	    !qemu.memory_region_from_host || !qemu.object_property_get_uint)
		return false;
	board = *of;
	line_bits = (unsigned)__builtin_ctz(board.line);
	for (unsigned i = 0; i < MOST_CPUS; i++)
		made = made && make(&l1i[i], board.l1i) && make(&l1d[i], board.l1d);
	any = made && make(&l2, board.l2);
	map_is_known = any && mmu_watch(info, forget_seen);
	if (any)
		fact("caches", "l1i=%u:%u l1d=%u:%u l2=%u:%u line=%u l2_ps=%" PRId64
		     " memory_ps=%" PRId64 " off=%d:%d:%d guest=%s",
		     board.l1i.bytes, board.l1i.ways, board.l1d.bytes, board.l1d.ways,
		     board.l2.bytes, board.l2.ways, board.line, board.l2_ps, board.memory_ps,
		     board.off[0], board.off[1], board.off[2],
		     mmu_tells_caches() ? "followed" : "not-followed");
	return any;
}

bool caches_any(void)
{
	return any;
}

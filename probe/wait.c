#define _GNU_SOURCE
#include "wait.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define PS 1000 /* in a ns */

/* So many turns of equal length are a loop. */
#define TURNS 16
/* After so many rounds it is known what a loop waits for. */
#define ROUNDS 3
/* The last turns are run, so that a loop that ends too early is noticed. */
#define LAST 4
/* A loop may end a tick before or after the word: `<`, `<=`, and rounding. */
#define SLACK 2
/* Longer turns than this, ps, do something else as well. */
#define LONGEST_TURN (INT64_C(100000) * PS)

#define MOST_REGISTERS 32
#define STACK 32 /* words of it */
#define WORDS (MOST_REGISTERS + STACK)
#define PLACES 16 /* that are looked at, by address */
#define MOST_CPUS 512

/* Timers that need not be on time. */
#define ATTR_EXTERNAL 1
#define ALL_TIMERS_BUT(attribute) (~(attribute))

typedef int (*read_register)(void *cpu, struct byte_array *into, int n);

static bool a64_reads_timer(const unsigned char *code, size_t len)
{
	uint32_t insn = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;

	/* mrs xN, cntpct_el0 or cntvct_el0 */
	insn &= ~UINT32_C(0x1f);
	return len == 4 && (insn == 0xd53be020 || insn == 0xd53be040);
}

static bool a32_reads_timer(const unsigned char *code, size_t len)
{
	uint32_t first = code[0] | code[1] << 8;
	uint32_t second = code[2] | code[3] << 8;

	/* mrrc p15, 0 or 1, rN, rM, c14: the halves change places in Thumb. */
	return len == 4 && (((first & 0xfef) == 0xf0e && (second & 0xff0) == 0xc50) ||
			    ((second & 0xfef) == 0xf0e && (first & 0xfff0) == 0xec50));
}

static bool riscv_reads_timer(const unsigned char *code, size_t len)
{
	uint32_t insn = code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;

	return len == 4 && (insn & 0xfffff07f) == 0xc0102073; /* rdtime */
}

static bool x86_reads_timer(const unsigned char *code, size_t len)
{
	static const unsigned char rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9};

	return (len == sizeof rdtsc && memcmp(code, rdtsc, len) == 0) ||
	       (len == sizeof rdtscp && memcmp(code, rdtscp, len) == 0);
}

static const struct arch {
	const char *name; /* as QEMU calls it */
	bool (*reads_timer)(const unsigned char *code, size_t len);
	const char *read_register; /* QEMU's function */
	int registers, stack_pointer;
	unsigned width;  /* of a word, bytes */
	int64_t tick_ps; /* of the timer that is read; 0: QEMU is asked */
} archs[] = {
	{"aarch64", a64_reads_timer, "aarch64_cpu_gdb_read_register", 32, 31, 8, 0},
	{"arm", a32_reads_timer, "arm_cpu_gdb_read_register", 15, 13, 4, 0},
	{"riscv64", riscv_reads_timer, "riscv_cpu_gdb_read_register", 32, 2, 8, 100 * PS},
	{"x86_64", x86_reads_timer, "x86_cpu_gdb_read_register", 16, 7, 8, 1 * PS},
};

/* A loop, and what is known of it. */
static struct place {
	uint64_t address;          /* of the instruction that reads the timer; 0: free */
	int64_t last_ps, turn_ps;  /* the last reading, and how long after the one before */
	int turns;                 /* of this length, one after another */
	int64_t words_ps;          /* when the words were read; -1: not in this round */
	uint64_t words[WORDS];
	int64_t landed_ps;         /* where the clock was put to; -1: it was not */
	bool foretold;             /* the loop's own end stopped it, not a timer */
	int rounds;                /* that the live words foretold */
	bool live[WORDS][WORDS + 1]; /* word + word, or a word alone, may be its end */
} places[PLACES];

static const struct arch *arch;
static read_register read_one;
static struct byte_array *buffer;
/* The guest's next look at the clock is by this instruction. Each thread has its
 * own: QEMU's main loop looks at the clock as well. */
static __thread uint64_t reading;
static int64_t waited_ps[STAGES];

static int64_t tick_ps(void *cpu)
{
	return arch->tick_ps ? arch->tick_ps : (int64_t)qemu.gt_cntfrq_period_ns(cpu) * PS;
}

static uint64_t word_at(const unsigned char *bytes)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < arch->width; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

/* What the CPU holds; a word that cannot be read is 0. */
static void read_words(void *cpu, uint64_t words[WORDS])
{
	unsigned char stack[STACK * 8];

	memset(words, 0, WORDS * sizeof *words);
	for (int n = 0; n < arch->registers; n++) {
		qemu.g_byte_array_set_size(buffer, 0);
		read_one(cpu, buffer, n);
		if (buffer->len >= arch->width)
			words[n] = word_at(buffer->bytes);
	}
	if (qemu.cpu_memory_rw_debug(cpu, words[arch->stack_pointer], stack, STACK * arch->width, false) != 0)
		return;
	for (unsigned i = 0; i < STACK; i++)
		words[MOST_REGISTERS + i] = word_at(stack + i * arch->width);
}

/* Ticks from the moment of the words until the one that two of them (or one) name;
 * negative if that is not within half of what a word can hold. */
static int64_t ticks_until(const struct place *p, int i, int j, int64_t tick)
{
	uint64_t end = p->words[i] + (j < WORDS ? p->words[j] : 0);
	uint64_t ticks = end - (uint64_t)(p->words_ps / tick);

	return arch->width == 4 ? (int32_t)ticks : (int64_t)ticks;
}

/* A round is over: its last reading ended the loop. */
static void learn(struct place *p, int64_t tick)
{
	int64_t first = (p->last_ps - p->turn_ps) / tick - p->words_ps / tick - SLACK;
	int64_t last = p->last_ps / tick - p->words_ps / tick + SLACK;
	bool any = false;

	for (int i = 0; i < WORDS; i++) {
		for (int j = i; j <= WORDS; j++) {
			int64_t ticks;

			if (p->rounds > 0 && !p->live[i][j])
				continue;
			ticks = ticks_until(p, i, j, tick);
			p->live[i][j] = ticks >= first && ticks <= last;
			any |= p->live[i][j];
		}
	}
	/* Where nothing fits, the next round is the first. */
	p->rounds = any ? p->rounds + 1 : 0;
}

/* Where the loop will end at the earliest, ps after the words were read; negative if
 * that is not known. */
static int64_t foretell(const struct place *p, int64_t tick)
{
	int64_t least = -1;

	if (p->rounds < ROUNDS)
		return -1;
	for (int i = 0; i < WORDS; i++) {
		for (int j = i; j <= WORDS; j++) {
			int64_t ticks = p->live[i][j] ? ticks_until(p, i, j, tick) : -1;

			if (p->live[i][j] && (least < 0 || ticks < least))
				least = ticks;
		}
	}
	return least > SLACK ? (least - SLACK) * tick : -1;
}

static bool others_are_idle(void *cpu)
{
	for (int i = 0; i < MOST_CPUS; i++) {
		void *other = qemu.qemu_get_cpu(i);

		if (!other)
			return true;
		if (other != cpu && !qemu.cpu_thread_is_idle(other))
			return false;
	}
	return false;
}

static void round_is_over(struct place *p, int64_t tick)
{
	if (p->words_ps < 0)
		return;
	if (p->foretold && p->last_ps < p->landed_ps + p->turn_ps) {
		fprintf(stderr, "bootlap probe: the loop at %#" PRIx64 " ended earlier than it "
				"was foretold, so this boot's times are void; set "
				"skip-waits = false in [machine]\n", p->address);
		exit(1);
	}
	if (p->landed_ps < 0)
		learn(p, tick);
}

static struct place *place_of(uint64_t address)
{
	struct place *oldest = &places[0];

	for (int i = 0; i < PLACES; i++) {
		if (places[i].address == address)
			return &places[i];
		if (places[i].last_ps < oldest->last_ps)
			oldest = &places[i];
	}
	memset(oldest, 0, sizeof *oldest);
	oldest->address = address;
	oldest->words_ps = oldest->landed_ps = -1;
	return oldest;
}

int64_t wait_asked(int64_t ps)
{
	uint64_t address = reading;
	void *cpu;
	struct place *p;
	int64_t tick, turn, end, deadline, turns;

	if (!address)
		return 0;
	reading = 0; /* also for the questions below */
	cpu = clock_cpu();
	if (!cpu)
		return 0;
	tick = tick_ps(cpu);
	p = place_of(address);
	turn = ps - p->last_ps;
	p->last_ps = ps;
	if (turn != p->turn_ps) {
		p->last_ps = ps - turn;
		round_is_over(p, tick);
		p->last_ps = ps;
		p->turn_ps = turn;
		p->turns = 0;
		p->words_ps = p->landed_ps = -1;
		p->foretold = false;
		return 0;
	}
	if (++p->turns != TURNS || turn > LONGEST_TURN || turn <= 0)
		return 0;
	p->words_ps = ps;
	read_words(cpu, p->words);
	end = foretell(p, tick);
	if (end < 0 || !others_are_idle(cpu))
		return 0;
	deadline = qemu.qemu_clock_deadline_ns_all(CLOCK_VIRTUAL, ALL_TIMERS_BUT(ATTR_EXTERNAL));
	p->foretold = deadline < 0 || deadline > end / PS;
	if (!p->foretold)
		end = deadline * PS;
	turns = end / turn - LAST;
	if (turns <= 0) {
		p->foretold = false;
		return 0;
	}
	for (int i = 0; i < PLACES; i++)
		places[i].last_ps += turns * turn;
	p->landed_ps = p->last_ps;
	waited_ps[clock_reached()] += turns * turn;
	return turns * turn;
}

static void on_read(unsigned cpu, void *address)
{
	(void)cpu;
	reading = (uint64_t)(uintptr_t)address;
}

bool wait_translated(struct plugin_tb *tb)
{
	if (!arch)
		return false;
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++) {
		struct plugin_insn *insn = qemu.qemu_plugin_tb_get_insn(tb, i);
		unsigned char code[4];
		size_t len = qemu_insn_code(insn, code, sizeof code);

		if (len <= sizeof code && arch->reads_timer(code, len))
			qemu.qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_read, NO_REGISTERS,
				(void *)(uintptr_t)qemu.qemu_plugin_insn_vaddr(insn));
	}
	return true;
}

bool wait_watch(const struct plugin_info *info)
{
	const struct arch *found = NULL;

	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		if (strcmp(info->target_name, archs[i].name) == 0)
			found = &archs[i];
	if (!found)
		return false;
	*(void **)&read_one = dlsym(RTLD_DEFAULT, found->read_register);
	if (!read_one || !qemu.g_byte_array_new || !qemu.g_byte_array_set_size ||
	    !qemu.cpu_thread_is_idle || !qemu.qemu_get_cpu || !qemu.cpu_memory_rw_debug ||
	    !qemu.qemu_clock_deadline_ns_all || !qemu.qemu_plugin_insn_vaddr ||
	    !qemu.qemu_plugin_insn_data || !qemu.qemu_plugin_tb_n_insns ||
	    !qemu.qemu_plugin_register_vcpu_insn_exec_cb ||
	    (found->tick_ps == 0 && !qemu.gt_cntfrq_period_ns))
		return false;
	buffer = qemu.g_byte_array_new();
	arch = found;
	return true;
}

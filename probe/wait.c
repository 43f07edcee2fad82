#include "wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "registers.h"

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

/* Instructions of one form: their code, little-endian, as far as it tells. */
struct form {
	size_t len;
	uint32_t mask, code;
};

static const struct arch {
	const char *name;           /* as QEMU calls it */
	struct form reads_timer[2];
	int registers, stack_pointer;
	int64_t tick_ps; /* of the timer that is read; 0: QEMU is asked */
} archs[] = {
	/* mrs xN, cntpct_el0; cntvct_el0 */
	{"aarch64", {{4, 0xffffffe0, 0xd53be020}, {4, 0xffffffe0, 0xd53be040}},
	 32, 31, 0},
	/* mrrc p15, 0 or 1, rN, rM, c14; the same in Thumb, whose halves change places */
	{"arm", {{4, 0x0ff00fef, 0x0c500f0e}, {4, 0x0feffff0, 0x0f0eec50}},
	 15, 13, 0},
	/* rdtime */
	{"riscv64", {{4, 0xfffff07f, 0xc0102073}}, 32, 2, 100 * PS},
	/* rdtsc; rdtscp */
	{"x86_64", {{2, 0xffff, 0x310f}, {3, 0xffffff, 0xf9010f}}, 16, 7, 1 * PS},
};

/* A loop, and what is known of it. */
static struct place {
	uint64_t address;          /* of the instruction that reads the timer; 0: free */
	int64_t last_ps, turn_ps;  /* the last reading, and how long after the one before */
	int turns;                 /* of this length, one after another */
	int64_t words_ps;          /* when the words were read; -1: not in this round */
	uint64_t words[WORDS];
	bool landed;               /* turns were left out */
	int rounds;                /* that the live words foretold */
	bool live[WORDS][WORDS + 1]; /* word + word, or a word alone, may be its end */
} places[PLACES];

static const struct arch *arch;
/* The guest's next look at the clock is by this instruction. Each thread has its
 * own: QEMU's main loop looks at the clock as well. */
static __thread uint64_t reading;

/* The loop whose end was foretold, and when it is to turn once more at the latest. */
static struct {
	uint64_t address; /* 0: none */
	int64_t turns_ps;
} foretold;

static int64_t tick_ps(void *cpu)
{
	return arch->tick_ps ? arch->tick_ps : (int64_t)qemu.gt_cntfrq_period_ns(cpu) * PS;
}

/* What the CPU holds; a word that cannot be read is 0. */
static void read_words(void *cpu, uint64_t words[WORDS])
{
	unsigned char stack[STACK * 8];
	unsigned width = registers_width();

	memset(words, 0, WORDS * sizeof *words);
	for (int n = 0; n < arch->registers; n++)
		words[n] = registers_read(cpu, n);
	if (qemu.cpu_memory_rw_debug(cpu, words[arch->stack_pointer], stack, STACK * width,
				     false) != 0)
		return;
	for (unsigned i = 0; i < STACK; i++)
		words[MOST_REGISTERS + i] = registers_word(stack + i * width);
}

/* Ticks from the moment of the words until the one that two of them (or one) name;
 * negative if that is not within half of what a word can hold. */
static int64_t ticks_until(const struct place *p, int i, int j, int64_t tick)
{
	uint64_t end = p->words[i] + (j < WORDS ? p->words[j] : 0);
	uint64_t ticks = end - (uint64_t)(p->words_ps / tick);

	return registers_width() == 4 ? (int32_t)ticks : (int64_t)ticks;
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
			int64_t ticks;

			if (!p->live[i][j])
				continue;
			ticks = ticks_until(p, i, j, tick);
			if (least < 0 || ticks < least)
				least = ticks;
		}
	}
	return least > SLACK ? (least - SLACK) * tick : -1;
}

/* The last turns of a loop are not left out: had it ended before them, something else
 * would read the timer now, later than its next turn. */
static void check_foretold(int64_t ps)
{
	if (!foretold.address || ps < foretold.turns_ps)
		return;
	if (ps > foretold.turns_ps) {
		fprintf(stderr, "bootlap probe: the loop at %#" PRIx64 " ended earlier than it "
				"was foretold, so this boot's times are void; set "
				"skip-waits = false in [machine]\n", foretold.address);
		exit(1);
	}
	foretold.address = 0;
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
	oldest->words_ps = -1;
	return oldest;
}

/* How much of the loop can be left out now, ps: whole turns. */
static int64_t left_out(struct place *p, void *cpu, int64_t tick)
{
	int64_t end = foretell(p, tick);
	int64_t deadline, turns;
	bool own_end;

	if (end < 0 || !clock_others_idle(cpu))
		return 0;
	deadline = qemu.qemu_clock_deadline_ns_all(CLOCK_VIRTUAL, ~ATTR_EXTERNAL);
	own_end = deadline < 0 || deadline > end / PS;
	turns = (own_end ? end : deadline * PS) / p->turn_ps - LAST;
	if (turns <= 0)
		return 0;
	if (own_end) {
		foretold.address = p->address;
		foretold.turns_ps = p->last_ps + (turns + 1) * p->turn_ps;
	}
	p->landed = true;
	return turns * p->turn_ps;
}

int64_t wait_asked(int64_t ps)
{
	uint64_t address = reading;
	void *cpu = address ? clock_cpu() : NULL;
	struct place *p;
	int64_t tick, turn, forward;

	reading = 0; /* also for the questions below */
	if (!cpu)
		return 0;
	check_foretold(ps);
	tick = tick_ps(cpu);
	p = place_of(address);
	turn = ps - p->last_ps;
	if (turn != p->turn_ps) {
		if (p->words_ps >= 0 && !p->landed)
			learn(p, tick);
		p->last_ps = ps;
		p->turn_ps = turn;
		p->turns = 0;
		p->words_ps = -1;
		p->landed = false;
		return 0;
	}
	p->last_ps = ps;
	if (++p->turns != TURNS || turn > LONGEST_TURN || turn <= 0)
		return 0;
	p->words_ps = ps;
	read_words(cpu, p->words);
	forward = left_out(p, cpu, tick);
	/* Where a turn reads the timer at two places, both go on. */
	for (int i = 0; i < PLACES; i++)
		places[i].last_ps += forward;
	return forward;
}

static void on_read(unsigned cpu, void *address)
{
	(void)cpu;
	reading = (uint64_t)(uintptr_t)address;
}

static bool reads_timer(const struct plugin_insn *insn)
{
	uint32_t code;
	size_t len = qemu_insn_word(insn, &code);

	for (int i = 0; i < 2; i++) {
		const struct form *form = &arch->reads_timer[i];

		if (len > 0 && len == form->len && (code & form->mask) == form->code)
			return true;
	}
	return false;
}

bool wait_translated(struct plugin_tb *tb)
{
	if (!arch)
		return false;
	for (size_t i = 0, n = qemu.qemu_plugin_tb_n_insns(tb); i < n; i++) {
		struct plugin_insn *insn = qemu.qemu_plugin_tb_get_insn(tb, i);

		if (reads_timer(insn))
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
	if (!found || !registers_find(found->name))
		return false;
	if (!qemu.cpu_thread_is_idle || !qemu.qemu_get_cpu || !qemu.cpu_memory_rw_debug ||
	    !qemu.qemu_clock_deadline_ns_all || !qemu.qemu_plugin_insn_vaddr ||
	    !qemu.qemu_plugin_insn_data || !qemu.qemu_plugin_tb_n_insns ||
	    !qemu.qemu_plugin_register_vcpu_insn_exec_cb ||
	    (found->tick_ps == 0 && !qemu.gt_cntfrq_period_ns))
		return false;
	arch = found;
	return true;
}

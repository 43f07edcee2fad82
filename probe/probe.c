/*
 * bootlap's QEMU probe: stamps every console byte with the guest's own time,
 * and can make that time a board's.
 *
 * The one shared object is loaded twice over into the same QEMU process, as
 * two thin hooks on the same state:
 *
 *   LD_PRELOAD   wraps writev(2), through which QEMU's file chardev sends each
 *                byte the moment it leaves the emulated UART (stamps.c). So
 *                every UART model is covered, port I/O included, and guest code
 *                is not instrumented at all: stamping costs nothing measurable.
 *   -plugin      watches code being translated, to see where the kernel and user
 *                space begin (marks.c), and when asked to takes over the virtual
 *                clock (clock.c), to leave out the turns of polled waits (wait.c)
 *                and to live a board's time with its UART (pl011.c, ns16550.c), its
 *                flash (nor.c) and its caches (caches.c, mmu.c).
 *
 * LD_PRELOAD also takes over what QEMU asks of its images (uring.c), so that disks
 * are read in the guest's time (disk.c, turn.c).
 *
 * Only symbols that QEMU exports are used, found with dlsym (qemu.h), because
 * the distributions ship no plugin header and API 1 (QEMU 7.2) and API 3+ (9.1)
 * differ.
 *
 * Nothing here may disturb the guest or the QEMU process: on any error the
 * probe stops recording, and the lab sees that stamps are missing. Nor may it
 * pretend: a model that cannot be had is an error before the guest runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "card.h"
#include "clock.h"
#include "disk.h"
#include "facts.h"
#include "limit.h"
#include "marks.h"
#include "nor.h"
#include "qemu.h"
#include "stamps.h"
#include "turn.h"
#include "uart.h"
#include "wait.h"

static const char *option(int argc, char **argv, const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; i < argc; i++)
		if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return NULL;
}

static struct {
	int shift;                   /* as -icount has it */
	bool modelled;               /* a board's time, and not just the guest's own */
	int64_t ps_per_insn[STAGES];
	struct uart_board uart;
	bool nor;
	bool skip_waits;
	bool disks_take_time;
	struct disk_board disk;
	int64_t load_ps;             /* before the first instruction */
	uint64_t load_bytes;
	int64_t limit_ns;            /* of the guest's time; 0: none */
	int64_t most_ns;             /* the same, of any boot */
} model;

/*
 * A block is translated just before it first runs, so the time of translation
 * is the time of the first execution: no callback in running code is needed.
 */
static void translated(plugin_id id, struct plugin_tb *tb)
{
	bool reads = nor_translated(tb);
	bool waits = wait_translated(tb);
	bool cached = caches_translated(tb);

	if (!marks_translated(tb) && !reads && !waits && !cached)
		qemu.qemu_plugin_register_vcpu_tb_trans_cb(id, NULL);
}

static void no_disks(void)
{
	fprintf(stderr, "bootlap probe: the disks of this QEMU cannot be read in the guest's "
			"time; boot with --plain, or use Debian's QEMU 7.2 or 10\n");
}

/* The machine is complete, and nothing has run. */
static void machine_is_there(struct notifier *notifier, void *data)
{
	bool taken;

	(void)notifier, (void)data;
	/* Without it the host's time is the only limit. */
	if (model.limit_ns > 0)
		limit_set(model.limit_ns);
	if (model.most_ns > 0)
		limit_most(model.most_ns);
	turn_watch();
	taken = clock_take_over(model.shift, model.ps_per_insn);
	if (!taken && model.modelled) {
		fprintf(stderr, "bootlap probe: the clock of this QEMU cannot be modelled; "
				"leave out --modelled, or use Debian's QEMU 7.2 or 10\n");
		exit(1);
	}
	fact("waits", taken && model.skip_waits ? "skipped" : "run");
	if (disk_any()) {
		if (!turn_take() || (model.disks_take_time && !disk_model(&model.disk))) {
			no_disks();
			exit(1);
		}
		disk_tell();
		if (model.disks_take_time && disk_any_card())
			fact("cards", card_take_over() ? "interrupt" : "stall");
	}
	if (!model.modelled)
		return;
	fact("clock", "bootloader=%" PRId64 " kernel=%" PRId64 " userspace=%" PRId64,
	     model.ps_per_insn[0], model.ps_per_insn[1], model.ps_per_insn[2]);
	if (model.load_ps > 0) {
		clock_stall(model.load_ps);
		stamps_request(&(struct stamps_request){.what = REQUEST_LOAD,
							.bytes = (uint32_t)model.load_bytes,
							.took_ps = model.load_ps,
							.waited_ps = 0});
		fact("load", "bytes=%" PRIu64 " ps=%" PRId64, model.load_bytes, model.load_ps);
	}
	if (!pl011_take_over(model.uart) && !ns16550_take_over(model.uart))
		fact("uart", "none");
}

static bool read_disk(const char *text)
{
	int64_t *const to[] = {
		&model.disk.latency[0], &model.disk.latency[1], &model.disk.latency[2],
		&model.disk.read[0],    &model.disk.read[1],    &model.disk.read[2],
		&model.disk.write[0],   &model.disk.write[1],   &model.disk.write[2],
		&model.disk.flush,
	};
	size_t n = sizeof to / sizeof to[0];
	char *end = (char *)text;

	for (size_t i = 0; i < n; i++) {
		*to[i] = strtoll(end, &end, 10);
		if (*to[i] < 0 || *end++ != (i + 1 < n ? ':' : 0))
			return false;
	}
	return true;
}

static bool read_caches(const char *text, const struct plugin_info *info)
{
	struct cache_board b;
	unsigned off[STAGES];
	int n = sscanf(text,
		       "%u:%u:%u:%u:%u:%u:%u:%" SCNd64 ":%" SCNd64 ":%u:%u:%u",
		       &b.l1i.bytes, &b.l1i.ways, &b.l1d.bytes, &b.l1d.ways, &b.l2.bytes,
		       &b.l2.ways, &b.line, &b.l2_ps, &b.memory_ps, &off[0], &off[1], &off[2]);

	if (n != 12) {
		fprintf(stderr, "bootlap probe: caches= has twelve numbers\n");
		return false;
	}
	for (int i = 0; i < STAGES; i++)
		b.off[i] = off[i];
	if (!caches_model(&b, info)) {
		fprintf(stderr, "bootlap probe: this QEMU does not tell what is read and run; "
				"leave out memory-latency in [board]\n");
		return false;
	}
	return true;
}

/* Reads a board's parameters; false and a reason on stderr if they are none. */
static bool read_board(int argc, char **argv, const char *speed,
		       const struct plugin_info *info)
{
	const char *baud = option(argc, argv, "baud");
	const char *clock = option(argc, argv, "uartclk");
	const char *nor = option(argc, argv, "nor");
	const char *disk = option(argc, argv, "disk");
	const char *caches = option(argc, argv, "caches");
	const char *load = option(argc, argv, "load");

	if (!baud || sscanf(speed, "%" SCNd64 ":%" SCNd64 ":%" SCNd64, &model.ps_per_insn[0],
			    &model.ps_per_insn[1], &model.ps_per_insn[2]) != STAGES) {
		fprintf(stderr, "bootlap probe: a board needs speed=PS:PS:PS,baud=N\n");
		return false;
	}
	if (!qemu.qemu_add_machine_init_done_notifier) {
		fprintf(stderr, "bootlap probe: this QEMU does not say when it is ready\n");
		return false;
	}
	if (nor) {
		uint64_t first, last;
		int64_t ps;

		model.nor = sscanf(nor, "%" SCNx64 ":%" SCNx64 ":%" SCNd64, &first, &last, &ps) == 3 &&
			    nor_model(first, last, ps);
		if (!model.nor) {
			fprintf(stderr, "bootlap probe: this QEMU does not tell what is read; "
				"leave out storage-bandwidth in [board]\n");
			return false;
		}
	}
	if (disk && !read_disk(disk)) {
		fprintf(stderr, "bootlap probe: disk= has ten numbers\n");
		return false;
	}
	if (load && sscanf(load, "%" SCNd64 ":%" SCNu64, &model.load_ps, &model.load_bytes) != 2) {
		fprintf(stderr, "bootlap probe: load= has two numbers\n");
		return false;
	}
	if (caches && !read_caches(caches, info))
		return false;
	model.disks_take_time = disk != NULL;
	model.modelled = true;
	model.uart.baud = (unsigned)strtoul(baud, NULL, 10);
	model.uart.clock_hz = clock ? strtoull(clock, NULL, 10) : 0;
	return true;
}

/* Reads how the guest's time is to go; false and a reason on stderr if that cannot be. */
static bool read_model(int argc, char **argv, const struct plugin_info *info)
{
	static struct notifier done = {.notify = machine_is_there};
	const char *shift = option(argc, argv, "shift");
	const char *speed = option(argc, argv, "speed");
	const char *waits = option(argc, argv, "waits");
	const char *limit = option(argc, argv, "limit");
	const char *most = option(argc, argv, "most");

	model.limit_ns = limit ? strtoll(limit, NULL, 10) : 0;
	model.most_ns = most ? strtoll(most, NULL, 10) : 0;
	model.shift = shift ? atoi(shift) : 0;
	for (int i = 0; i < STAGES; i++)
		model.ps_per_insn[i] = INT64_C(1000) << model.shift;
	if (speed && !read_board(argc, argv, speed, info))
		return false;
	model.skip_waits = waits && strcmp(waits, "skip") == 0 &&
			   qemu.qemu_add_machine_init_done_notifier && wait_watch(info);
	if (disk_any() && !qemu.qemu_add_machine_init_done_notifier) {
		no_disks();
		return false;
	}
	if (qemu.qemu_add_machine_init_done_notifier)
		qemu.qemu_add_machine_init_done_notifier(&done);
	else
		fact("waits", "run");
	return true;
}

/*
 * Arguments: console=PATH of the chardev's file, stamps=PATH to write,
 * counted=on when QEMU runs with -icount, image=ADDRESS where the kernel image
 * is entered (0: it is what runs first), code=HEX:HEX… how it begins at each of its
 * entries, where the address is not known, loader=HEX:HEX… how the boot loader begins
 * that firmware starts.
 *
 * With -icount: shift=N as it has it, waits=skip to leave out the turns of polled
 * waits, facts=PATH to write what was done with the guest's time, limit=NS of it after
 * which the boot is given up, or most=NS, after which every boot is.
 *
 * For modelled time: speed=PS:PS:PS of an instruction of the boot loader, of the
 * kernel and of user space, baud=N, uartclk=HZ that the UART divides, if it is known,
 * nor=FIRST:LAST:PS, hexadecimal addresses of memory-mapped flash, and what reading a
 * line of it takes; disk=…, ten numbers in the order of struct disk_board, what disks
 * take; caches=…, twelve numbers in the order of struct cache_board; load=PS:BYTES, what
 * reading the images took that are in memory from the start. Which disks there are
 * stands in the environment (disk.h).
 */
EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	const char *console = option(argc, argv, "console");
	const char *stamps = option(argc, argv, "stamps");
	const char *counted_arg = option(argc, argv, "counted");
	const char *speed = option(argc, argv, "speed");
	const char *facts = option(argc, argv, "facts");

	qemu_find(info->version.cur);
	if (!console || !stamps) {
		fprintf(stderr, "bootlap probe: needs console=PATH,stamps=PATH\n");
		return 1;
	}
	if (!qemu.qemu_clock_get_ns) {
		fprintf(stderr, "bootlap probe: this QEMU does not export its clock\n");
		return 1;
	}
	bool counted = counted_arg && strcmp(counted_arg, "on") == 0;
	if (counted && !qemu.icount_get_raw) {
		fprintf(stderr, "bootlap probe: this QEMU does not export its icount\n");
		return 1;
	}
	enum stamp_clock clock = !counted ? CLOCK_QEMU : speed ? CLOCK_MODELLED : CLOCK_SIMULATED;
	if (!stamps_open(console, stamps, clock))
		return 1;
	if (facts && !facts_open(facts)) {
		perror("bootlap probe: facts");
		return 1;
	}
	if (counted && !read_model(argc, argv, info))
		return 1;
	/* Stamps without marks are still worth having. */
	bool watch = marks_watch(info, option(argc, argv, "image"), option(argc, argv, "code"),
				 option(argc, argv, "loader"));
	if ((watch || model.nor || model.skip_waits || caches_any()) &&
	    qemu.qemu_plugin_register_vcpu_tb_trans_cb)
		qemu.qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}

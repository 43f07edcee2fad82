/*
 * bootlap's QEMU probe: stamps every console byte with the guest's own time.
 *
 * The one shared object is loaded twice over into the same QEMU process, as
 * two thin hooks on the same state:
 *
 *   LD_PRELOAD   wraps writev(2), through which QEMU's file chardev sends each
 *                byte the moment the guest's store reaches the UART. So every
 *                UART model is covered, port I/O included, and guest code is
 *                not instrumented at all: stamping costs nothing measurable.
 *   -plugin      watches code being translated, to see the first instruction
 *                of the kernel image (which may unpack itself first), of the
 *                kernel's half of the address space, and the first system call
 *                of user space. It unregisters itself after that.
 *
 * Times are the virtual clock in ns. Instructions come from QEMU's own icount
 * counter, which is exact (a counter per translation block would count the
 * block again that QEMU restarts for an I/O access). Without -icount it reads
 * zero: there are no instruction counts then.
 *
 * Only symbols that QEMU exports are used, found with dlsym, because the
 * distributions ship no plugin header and API 1 (QEMU 7.2) and API 3+ (9.1)
 * differ. Record format: see crates/sources/src/stamps.rs.
 *
 * Nothing here may disturb the guest or the QEMU process: on any error the
 * probe stops recording, and the lab sees that stamps are missing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- the few declarations of QEMU's that are used ---- */

#define CLOCK_VIRTUAL 1

typedef uint64_t plugin_id;
struct plugin_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
};
struct plugin_tb;
struct plugin_insn;
typedef void (*tb_trans_cb)(plugin_id, struct plugin_tb *);

static int64_t (*clock_get_ns)(int);
static int64_t (*icount_get_raw)(void);
static void (*on_tb_trans)(plugin_id, tb_trans_cb);
static uint64_t (*tb_vaddr)(const struct plugin_tb *);
static size_t (*tb_n_insns)(const struct plugin_tb *);
static struct plugin_insn *(*tb_get_insn)(const struct plugin_tb *, size_t);
static size_t (*insn_size)(const struct plugin_insn *);
static const void *(*insn_data_v1)(const struct plugin_insn *);
static size_t (*insn_data_v3)(const struct plugin_insn *, void *, size_t);

/* ---- records ---- */

enum mark { MARK_KERNEL = 1, MARK_USER = 2, MARK_IMAGE = 3 };
#define IS_MARK (UINT64_C(1) << 63)

static int stamps_fd = -1;
static dev_t console_dev;
static ino_t console_ino;
static int console_fd = -1;

static void store_le64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

/* Writes n records with one time: `{ns | flag, instructions << 8 | byte}`. */
static void record(uint64_t flag, const unsigned char *bytes, size_t n)
{
	unsigned char buf[16 * 64];
	uint64_t ns = (uint64_t)clock_get_ns(CLOCK_VIRTUAL) | flag;
	uint64_t insns = icount_get_raw ? (uint64_t)icount_get_raw() : 0;

	while (n > 0 && stamps_fd >= 0) {
		size_t batch = n < 64 ? n : 64;
		for (size_t i = 0; i < batch; i++) {
			store_le64(buf + 16 * i, ns);
			store_le64(buf + 16 * i + 8, insns << 8 | bytes[i]);
		}
		if (write(stamps_fd, buf, 16 * batch) != (ssize_t)(16 * batch))
			stamps_fd = -1; /* full disk: the lab counts and tells */
		bytes += batch;
		n -= batch;
	}
}

static void record_mark(enum mark m)
{
	unsigned char code = (unsigned char)m;
	record(IS_MARK, &code, 1);
}

/* ---- console bytes ---- */

static bool is_console(int fd)
{
	struct stat st;

	if (fd == console_fd)
		return true;
	if (console_fd >= 0 || fstat(fd, &st) != 0)
		return false;
	if (st.st_dev != console_dev || st.st_ino != console_ino)
		return false;
	console_fd = fd;
	return true;
}

EXPORT ssize_t writev(int fd, const struct iovec *iov, int iovcnt)
{
	static ssize_t (*next)(int, const struct iovec *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "writev");
	ssize_t written = next(fd, iov, iovcnt);
	if (stamps_fd < 0 || written <= 0 || !is_console(fd))
		return written;

	size_t left = (size_t)written;
	for (int i = 0; i < iovcnt && left > 0; i++) {
		size_t n = iov[i].iov_len < left ? iov[i].iov_len : left;
		record(0, iov[i].iov_base, n);
		left -= n;
	}
	return written;
}

/* ---- where the boot loader, the kernel and user space begin ---- */

struct code {
	size_t len;
	unsigned char bytes[4];
};

static const struct arch {
	const char *name;        /* as QEMU calls it */
	uint64_t kernel_base;    /* kernel code lives at or above this address */
	struct code syscalls[2]; /* instructions that only user space executes */
} archs[] = {
	{"aarch64", UINT64_C(0xffff) << 48, {{4, {0x01, 0x00, 0x00, 0xd4}}}},
	{"arm", 0xc0000000, {{4, {0x00, 0x00, 0x00, 0xef}}, {2, {0x00, 0xdf}}}},
	{"riscv64", UINT64_C(0xffff) << 48, {{4, {0x73, 0x00, 0x00, 0x00}}}},
	{"x86_64", UINT64_C(0xffff) << 48, {{2, {0x0f, 0x05}}, {2, {0xcd, 0x80}}}},
	{"i386", 0xc0000000, {{2, {0xcd, 0x80}}, {2, {0x0f, 0x34}}}},
};

static const struct arch *arch;
static uint64_t image_entry;
static bool wait_for_image;
static bool seen_kernel;

static bool set_arch(const char *name)
{
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		if (strcmp(name, archs[i].name) == 0)
			arch = &archs[i];
	return arch != NULL;
}

static bool is_syscall(const struct plugin_insn *insn)
{
	unsigned char code[4];
	size_t len = insn_size(insn);

	for (size_t i = 0; i < 2; i++) {
		const struct code *syscall = &arch->syscalls[i];

		if (len == 0 || len != syscall->len)
			continue;
		if (insn_data_v3)
			insn_data_v3(insn, code, len);
		else
			memcpy(code, insn_data_v1(insn), len);
		if (memcmp(code, syscall->bytes, len) == 0)
			return true;
	}
	return false;
}

/*
 * A block is translated just before it first runs, so the time of translation
 * is the time of the first execution: no callback in running code is needed.
 */
static void tb_translated(plugin_id id, struct plugin_tb *tb)
{
	uint64_t address = tb_vaddr(tb);
	bool in_kernel = address >= arch->kernel_base;

	if (wait_for_image && (image_entry == 0 || address == image_entry)) {
		wait_for_image = false;
		record_mark(MARK_IMAGE);
	}
	if (!seen_kernel) {
		if (in_kernel) {
			seen_kernel = true;
			record_mark(MARK_KERNEL);
		}
		return;
	}
	if (in_kernel)
		return;
	for (size_t i = 0, n = tb_n_insns(tb); i < n; i++) {
		if (is_syscall(tb_get_insn(tb, i))) {
			record_mark(MARK_USER);
			on_tb_trans(id, NULL);
			return;
		}
	}
}

/* ---- start ---- */

/* Read by QEMU after loading: 7.2 wants at most 1, QEMU 10 at least 2. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_plugin_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

static bool find(void *fn, const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);
	memcpy(fn, &p, sizeof p);
	return p != NULL;
}

static const char *option(int argc, char **argv, const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; i < argc; i++)
		if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=')
			return argv[i] + n + 1;
	return NULL;
}

static bool open_stamps(const char *path, bool counted)
{
	unsigned char header[16] = {'B', 'O', 'O', 'T', 'L', 'A', 'P', 0, 1};

	header[9] = counted ? 1 : 2;
	stamps_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return stamps_fd >= 0 &&
	       write(stamps_fd, header, sizeof header) == (ssize_t)sizeof header;
}

/*
 * Arguments: console=PATH of the chardev's file, stamps=PATH to write,
 * counted=on when QEMU runs with -icount, image=ADDRESS where the kernel image
 * is entered (0: it is what runs first).
 */
EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	const char *console = option(argc, argv, "console");
	const char *stamps = option(argc, argv, "stamps");
	const char *counted_arg = option(argc, argv, "counted");
	const char *image = option(argc, argv, "image");
	struct stat st;

	if (!console || !stamps) {
		fprintf(stderr, "bootlap probe: needs console=PATH,stamps=PATH\n");
		return 1;
	}
	if (!find(&clock_get_ns, "qemu_clock_get_ns")) {
		fprintf(stderr, "bootlap probe: this QEMU does not export its clock\n");
		return 1;
	}
	bool counted = counted_arg && strcmp(counted_arg, "on") == 0;
	if (counted && !find(&icount_get_raw, "icount_get_raw")) {
		fprintf(stderr, "bootlap probe: this QEMU does not export its icount\n");
		return 1;
	}

	if (stat(console, &st) != 0) {
		perror("bootlap probe: console");
		return 1;
	}
	console_dev = st.st_dev;
	console_ino = st.st_ino;
	if (!open_stamps(stamps, counted)) {
		perror("bootlap probe: stamps");
		return 1;
	}

	void *data;
	bool can_mark = find(&on_tb_trans, "qemu_plugin_register_vcpu_tb_trans_cb") &&
			find(&tb_vaddr, "qemu_plugin_tb_vaddr") &&
			find(&tb_n_insns, "qemu_plugin_tb_n_insns") &&
			find(&tb_get_insn, "qemu_plugin_tb_get_insn") &&
			find(&insn_size, "qemu_plugin_insn_size") &&
			find(&data, "qemu_plugin_insn_data") &&
			info->system_emulation && set_arch(info->target_name);
	if (!can_mark)
		return 0; /* stamps without marks are still worth having */
	if (info->version.cur >= 3)
		memcpy(&insn_data_v3, &data, sizeof data);
	else
		memcpy(&insn_data_v1, &data, sizeof data);
	if (image) {
		image_entry = strtoull(image, NULL, 0);
		wait_for_image = true;
	}
	on_tb_trans(id, tb_translated);
	return 0;
}

/* archive.c, and one record of each kind of wire.h: bytes that the host's reader is
 * tested with, too (crates/sources/src/agent). `test_archive FILE` writes them. */

#include "check.h"
#include "collect/archive.h"

#define GOLDEN "tests/golden/every-kind.archive"

static void numbers(enum wire_kind kind, int u64s, int u32s, const char *string)
{
	record_begin(kind);
	for (int i = 1; i <= u64s; i++)
		record_u64((uint64_t)kind * 1000000000 + (uint64_t)i);
	for (int i = 1; i <= u32s; i++)
		record_u32((uint32_t)kind * 100 + (uint32_t)i);
	record_string(string);
	record_end();
}

static void fact(void)
{
	record_begin(WIRE_FACT);
	record_bytes("machine", sizeof "machine");
	record_string("arm64");
	record_end();
}

static void exec(void)
{
	static const char ARGUMENTS[] = "/bin/sh\0/etc/init.d/rcS";

	record_begin(WIRE_EXEC);
	record_u64(4000000001);
	record_u32(401);
	record_bytes(ARGUMENTS, sizeof ARGUMENTS);
	record_end();
}

/* Account: time, pid, ppid, seven numbers, status, name. */
static void account(void)
{
	record_begin(WIRE_ACCOUNT);
	record_u64(6000000001);
	record_u32(601);
	record_u32(602);
	for (int i = 2; i <= 8; i++)
		record_u64(6000000000 + (uint64_t)i);
	record_u32(603);
	record_string("sh");
	record_end();
}

static void process(void)
{
	record_begin(WIRE_PROCESS);
	record_u64(7000000001);
	record_u32(701);
	record_u32(702);
	for (int i = 2; i <= 4; i++)
		record_u64(7000000000 + (uint64_t)i);
	record_u32('S');
	record_string("init");
	record_end();
}

/* Ran: time, pid, a number. */
static void ran(void)
{
	record_begin(WIRE_RAN);
	record_u64(18000000001);
	record_u32(1801);
	record_u64(18000000002);
	record_end();
}

static void every_kind(void)
{
	CHECK(!archive_open(4096));
	numbers(WIRE_START, 2, 3, "0.1.0");
	fact();
	numbers(WIRE_FORK, 1, 3, "");
	exec();
	numbers(WIRE_EXIT, 1, 3, "");
	account();
	process();
	numbers(WIRE_CPU, 9, 2, "");
	numbers(WIRE_DISK, 6, 0, "mmcblk0");
	numbers(WIRE_MEMORY, 6, 0, "");
	numbers(WIRE_PRESSURE, 3, 0, "io");
	numbers(WIRE_MARK, 1, 0, "ready");
	numbers(WIRE_LOST, 0, 1, "records");
	numbers(WIRE_COST, 3, 3, "");
	numbers(WIRE_NAME, 1, 1, "rcS");
	numbers(WIRE_LOG_CLOCK, 3, 0, "");
	ran();
	numbers(99, 1, 0, "of a later version");
	archive_close(15000000001, "mark");
}

static void is_golden(void)
{
	static unsigned char golden[4096];
	FILE *file = fopen(GOLDEN, "rb");
	size_t len;

	CHECK(file);
	len = fread(golden, 1, sizeof golden, file);
	fclose(file);
	CHECK(len == archive_used());
	CHECK(!memcmp(golden, archive_bytes(), len));
}

static void what_does_not_fit_is_counted(void)
{
	const unsigned char *lost;
	size_t used;

	CHECK(!archive_open(2048));
	for (int i = 0; i < 1000; i++)
		numbers(WIRE_FORK, 1, 3, "");
	used = archive_used();
	CHECK(used <= 2048 - 512);
	archive_close(1, "full");
	CHECK(archive_used() <= 2048);
	CHECK(archive_bytes()[used] == WIRE_LOST);
	lost = archive_bytes() + used + WIRE_HEAD_LEN;
	CHECK((lost[0] | (size_t)lost[1] << 8) ==
	      1000 - (used - WIRE_MAGIC_LEN) / (WIRE_HEAD_LEN + 20));
}

static void long_strings_are_cut(void)
{
	static char name[5000];

	memset(name, 'x', sizeof name - 1);
	CHECK(!archive_open(16384));
	numbers(WIRE_MARK, 1, 0, name);
	CHECK(archive_used() == WIRE_MAGIC_LEN + WIRE_HEAD_LEN + WIRE_LONGEST);
}

int main(int argc, char **argv)
{
	every_kind();
	if (argc > 1) {
		FILE *file = fopen(argv[1], "wb");

		CHECK(file && fwrite(archive_bytes(), archive_used(), 1, file) == 1);
		return fclose(file);
	}
	is_golden();
	what_does_not_fit_is_counted();
	long_strings_are_cut();
	return 0;
}

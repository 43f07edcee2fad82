#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "now.h"
#include "procfs.h"
#include "text.h"

/* Records of the kernel's log that are looked at each time, so that a flood of them
 * holds nothing up. */
#define RECORDS 4096
/* The kernel counts the start of a process in ticks. */
#define TICK_NS 10000000

static const struct options *options;
static const char *why;
static int kernel_log = -1;
static uint64_t since;

/* There may be no /dev yet. */
static void open_log(void)
{
	if (options->until_line || options->until_mark)
		kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

void ready_open(const struct options *asked, int from_start)
{
	options = asked;
	why = NULL;
	since = from_start ? 0 : now_ns();
	open_log();
	/* A mark that was made earlier was not meant; any line is. */
	if (kernel_log >= 0 && !options->until_line)
		lseek(kernel_log, 0, SEEK_END);
}

/* The value of a hexadecimal digit; 16 if it is none. */
static unsigned digit(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c);

	return at && c ? (unsigned)(at - digits) : 16;
}

/* What stands in a record "priority,number,us,flags;text" behind the semicolon, its
 * `\xNN` as the bytes that were written, without the facts in further lines. */
static char *text_of(char *record)
{
	char *text = strchr(record, ';'), *to, *at;

	if (!text)
		return record + strlen(record);
	for (to = at = ++text; *at && *at != '\n'; at++) {
		char byte = *at;

		if (at[0] == '\\' && at[1] == 'x' && digit(at[2]) < 16 && digit(at[3]) < 16) {
			byte = (char)(digit(at[2]) << 4 | digit(at[3]));
			at += 3;
		}
		*to++ = byte;
	}
	*to = 0;
	return text;
}

static void look_at_text(const char *text)
{
	static const char MARK[] = "bootlap: ";

	/* The kernel prints its command line, which asks for the line. */
	if (options->until_line && strstr(text, options->until_line) &&
	    !strstr(text, "bootlap.until-line="))
		why = "line";
	if (options->until_mark && !strncmp(text, MARK, sizeof MARK - 1))
		ready_mark(text + sizeof MARK - 1);
}

static void look_at_log(void)
{
	char record[4096];

	for (int i = 0; i < RECORDS && !why; i++) {
		/* One each time; an error where some were overwritten. */
		ssize_t n = read(kernel_log, record, sizeof record - 1);

		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return;
		record[n] = 0;
		look_at_text(text_of(record));
	}
}

/* Whether there is something at `path` if `root` is the root, also for links in it. */
static int is_in_root(int root, const char *path)
{
	struct stat stat;
	int found = -1;

	errno = ENOSYS;
#ifdef SYS_openat2
	/* struct open_how, which older headers do not have; 16 is RESOLVE_IN_ROOT. */
	uint64_t how[3] = { O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 16 };

	found = (int)syscall(SYS_openat2, root, path, how, sizeof how);
	if (found >= 0)
		close(found);
#endif
	/* Since Linux 5.6; some sandboxes refuse it as well. */
	if (found < 0 && (errno == ENOSYS || errno == EPERM))
		found = fstatat(root, path + strspn(path, "/"), &stat, AT_SYMLINK_NOFOLLOW);
	return found >= 0;
}

/* Whether init sees that path: it may have another root by now. A container may hide
 * that, and a path without a slash in front is this program's. */
static int is_there(const char *path)
{
	struct stat stat;
	int root = *path == '/' && procfs() >= 0 ?
			   openat(procfs(), "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC) :
			   -1;
	int found;

	if (root < 0)
		return !fstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW);
	found = is_in_root(root, path);
	close(root);
	return found;
}

/* systemd keeps a link for each unit that is not inactive, which leads nowhere. */
static int is_active(const char *unit)
{
	TEXT(link, 512);

	put(&link, "/run/systemd/units/invocation:");
	put(&link, unit);
	put(&link, strchr(unit, '.') ? "" : ".service");
	return is_there(link.bytes);
}

void ready_look(void)
{
	if (options->until_file && is_there(options->until_file))
		why = "file";
	if (options->until_unit && is_active(options->until_unit))
		why = "unit";
	if (kernel_log < 0)
		open_log();
	if (kernel_log >= 0)
		look_at_log();
}

void ready_mark(const char *name)
{
	if (options->until_mark && !strcmp(name, options->until_mark))
		why = "mark";
}

void ready_name(const char *name, size_t len)
{
	const char *wanted = options->until_process;

	/* The kernel keeps 15 bytes of a name. */
	if (wanted && len && !strncmp(wanted, name, len) && (len == 15 || !wanted[len]))
		why = "process";
}

void ready_process(const char *name, size_t len, uint64_t began)
{
	if (began + TICK_NS >= since)
		ready_name(name, len);
}

/* Whether that is `wanted`, as a path or as the last part of one. */
static int is_program(const char *path, const char *wanted)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(path, wanted) || (slash && !strcmp(slash + 1, wanted));
}

void ready_arguments(const char *arguments, size_t len)
{
	/* A script is its interpreter's argument. */
	for (int i = 0; i < 2 && len && options->until_process; i++) {
		size_t one = strnlen(arguments, len);

		if (one == len)
			return;
		if (is_program(arguments, options->until_process))
			why = "process";
		arguments += one + 1;
		len -= one + 1;
	}
}

const char *ready_why(void)
{
	return why;
}

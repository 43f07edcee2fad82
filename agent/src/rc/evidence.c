#include "evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "collect/now.h"
#include "rc/plan.h"
#include "text.h"

static int file = -1;

void evidence_open(const char *path)
{
	static const char HEAD[] = "bootlap-rc-log 1\n";

	if (!path)
		return;
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (file < 0 || write_all(file, HEAD, sizeof HEAD - 1))
		complain(errno, "cannot write ", path, NULL);
}

/* Opened anew for each line: the kernel takes 10 of them in 5 s from one opening
 * and drops the rest (printk.devkmsg=ratelimit). At level 6, so that `quiet` on
 * the kernel's command line keeps them from a slow console. */
static void tell_kernel(const char *name, const char *what, const char *status)
{
	TEXT(line, PLAN_NAME + 64);
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	put(&line, "<6>bootlap: rc ");
	put(&line, name);
	put(&line, what);
	put(&line, status);
	put(&line, "\n");
	write_all(fd, line.bytes, line.len);
	close(fd);
}

static void tell_file(uint64_t ns, const char *what, const char *status, const char *name)
{
	TEXT(line, PLAN_NAME + 64);

	if (file < 0)
		return;
	put_number(&line, ns);
	put(&line, what);
	put(&line, status);
	put(&line, " ");
	put(&line, name);
	put(&line, "\n");
	write_all(file, line.bytes, line.len);
}

void evidence_start(const char *name)
{
	uint64_t ns = now_ns();

	tell_file(ns, " start", "", name);
	tell_kernel(name, " start", "");
}

void evidence_end(const char *name, const char *status)
{
	uint64_t ns = now_ns();

	tell_file(ns, " end ", status, name);
	tell_kernel(name, " end ", status);
}

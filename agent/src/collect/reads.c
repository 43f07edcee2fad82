#include "reads.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"
#include "text.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The kernel's event of a call has of a path only where it lies in the program's memory.
 * A probe on that event (CONFIG_PROBE_EVENTS, Linux 5.15) reads it there; its fields come
 * in the order of the call's arguments. Where there is no such probe, or it reads something
 * else (Debian's 6.1.176), there may be one where the kernel itself has read a path. */
struct looked {
	const char *call, *fields, *filter;
	const char *ends; /* which of its results are noted; NULL for all */
};

#define PATH(field) "path=+0($" field "):ustring"

/* Most look at what is there: only the others are noted, and what is not noted was found. */
#define FAILED "ret < 0"

/* With this flag and an empty path a call asks for an open file. */
#define OF_PATH "!(flag & 0x1000)"

static const struct looked LOOKED[] = {
	{ "openat", "dfd=$dfd " PATH("filename") " flags=$flags", NULL, NULL },
	{ "open", PATH("filename") " flags=$flags", NULL, NULL },
	{ "openat2", "dfd=$dfd " PATH("filename"), NULL, NULL },
	{ "creat", PATH("pathname"), NULL, NULL },
	{ "newfstatat", "dfd=$dfd " PATH("filename") " flag=$flag", OF_PATH, FAILED },
	{ "fstatat64", "dfd=$dfd " PATH("filename") " flag=$flag", OF_PATH, FAILED },
	{ "statx", "dfd=$dfd " PATH("filename") " flags=$flags", "!(flags & 0x1000)", FAILED },
	{ "newstat", PATH("filename"), NULL, FAILED },
	{ "newlstat", PATH("filename"), NULL, FAILED },
	{ "stat64", PATH("filename"), NULL, FAILED },
	{ "lstat64", PATH("filename"), NULL, FAILED },
	{ "access", PATH("filename"), NULL, FAILED },
	{ "faccessat", "dfd=$dfd " PATH("filename"), NULL, FAILED },
	{ "faccessat2", "dfd=$dfd " PATH("filename"), NULL, FAILED },
	{ "readlink", PATH("path"), NULL, FAILED },
	{ "readlinkat", "dfd=$dfd " PATH("pathname"), NULL, FAILED },
	{ "execve", PATH("filename"), NULL, NULL },
	{ "execveat", "fd=$fd " PATH("filename"), NULL, NULL },
	{ "chdir", PATH("filename"), NULL, NULL },
};

/* Those of which it matters what they return. */
static const char *const READ[] = { "read", "readv", "pread64", "preadv", "preadv2",
				    "getdents", "getdents64", "sendfile", "sendfile64",
				    "copy_file_range", "splice", "dup", "dup2", "dup3" };
/* Of these only what gives an open file another number, or says when it is closed. */
#define NUMBERS "cmd == 0 || cmd == 1030 || cmd == 2"
static const char *const CONTROLLED[] = { "fcntl", "fcntl64" };
/* Memory that is of no file. */
#define OF_FILE "fd < 0x10000 && !(flags & 0x20)"

/* Those that tell all when they begin. */
static const struct looked BEGUN[] = {
	{ "mmap", NULL, OF_FILE, NULL },
	{ "mmap_pgoff", NULL, OF_FILE, NULL },
	{ "close", NULL, NULL, NULL },
	{ "close_range", NULL, NULL, NULL },
	{ "fchdir", NULL, NULL, NULL },
};
/* Who has whose files. */
static const char *const OTHERS[] = { "task/task_newtask", "sched/sched_process_exec",
				      "sched/sched_process_exit" };

/* Writes it into a file of the event's folder. */
static int set(int instance, const char *group, const char *event, const char *file,
	       const char *value)
{
	TEXT(path, 128);

	put(&path, "events/");
	put(&path, group);
	put(&path, event);
	put(&path, "/");
	put(&path, file);
	return procfs_write(instance, path.bytes, value);
}

static int define(int tracefs, const struct looked *looked, int filtered)
{
	TEXT(definition, 256);

	put(&definition, "e:bootlap/");
	put(&definition, looked->call);
	put(&definition, " syscalls.sys_enter_");
	put(&definition, looked->call);
	put(&definition, " ");
	put(&definition, looked->fields);
	if (filtered) {
		put(&definition, " if ");
		put(&definition, looked->filter);
	}
	return procfs_write(tracefs, "dynamic_events", definition.bytes);
}

/* A probe filters what it is put on (Linux 6.1), before it reads a path; or what it has made. */
static int probe(int tracefs, int instance, const struct looked *looked)
{
	if (looked->filter && !define(tracefs, looked, 1))
		return set(instance, "bootlap/", looked->call, "enable", "1");
	if (define(tracefs, looked, 0))
		return -1;
	if (looked->filter)
		set(instance, "bootlap/", looked->call, "filter", looked->filter);
	return set(instance, "bootlap/", looked->call, "enable", "1");
}

/* Probes where the kernel itself has read a path; bootlap knows them by these names. */
struct namer { const char *kind, *name, *function, *path; };

/* Where it goes on with what it read, a file to open or a path to follow: the string is taken
 * from the program's memory, which is there as the kernel has just read it. That of the kernel
 * is measured byte by byte. */
static const struct namer GOING_ON[] = {
	{ "p", "getname", "do_filp_open", "+0(+8($arg2)):ustring" },
	{ "p", "getname_flags", "filename_lookup", "+0(+8($arg2)):ustring" },
};
/* Where it has read it: the second is part of the first in some kernels. */
static const struct namer READING[] = {
	{ "r", "getname_flags", "getname_flags", "+0(+0($retval)):string" },
	{ "r", "getname", "getname", "+0(+0($retval)):string" },
};

/* Whether a path shows up that is opened, and with `looked` one that is only looked for. */
static int shows_paths(int instance, int looked)
{
	char trace[4096];

	procfs_write(instance, "tracing_on", "1");
	faccessat(instance, "trace_pipe", F_OK, 0);
	/* This is traced, too. */
	procfs_write(instance, "tracing_on", "0");
	procfs_read(instance, "trace", trace, sizeof trace);
	return strstr(trace, "path=\"tracing_on\"") && (!looked || strstr(trace, "path=\"trace_pipe\""));
}

static int enable_probes(int tracefs, int instance)
{
	int probes = 0;

	for (size_t i = 0; i < COUNT(LOOKED); i++)
		probes += !probe(tracefs, instance, &LOOKED[i]);
	return probes && shows_paths(instance, 0) ? 0 : -1;
}

static void remove_probe(int tracefs, const char *name)
{
	TEXT(line, 64);
	put(&line, "-:bootlap/");
	put(&line, name);
	if (procfs_write(tracefs, "dynamic_events", line.bytes))
		procfs_write(tracefs, "kprobe_events", line.bytes);
}

static void remove_probes(int tracefs, int instance)
{
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		if (instance >= 0)
			set(instance, "bootlap/", LOOKED[i].call, "enable", "0");
		remove_probe(tracefs, LOOKED[i].call);
	}
}

static void remove_namers(int tracefs, int instance, const struct namer namers[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (instance >= 0)
			set(instance, "bootlap/", namers[i].name, "enable", "0");
		remove_probe(tracefs, namers[i].name);
	}
}

static int enable_namers(int tracefs, int instance, const struct namer namers[2])
{
	int named = 0;

	for (size_t i = 0; i < 2; i++) {
		TEXT(line, 128);
		put(&line, namers[i].kind);
		put(&line, ":bootlap/");
		put(&line, namers[i].name);
		put(&line, " ");
		put(&line, namers[i].function);
		put(&line, " path=");
		put(&line, namers[i].path);
		/* The second is its name before Linux 5.0. */
		if (procfs_write(tracefs, "dynamic_events", line.bytes))
			procfs_write(tracefs, "kprobe_events", line.bytes);
		named += !set(instance, "bootlap/", namers[i].name, "enable", "1");
	}
	return named;
}

static int enable_names(int tracefs, int instance)
{
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		if (LOOKED[i].filter)
			set(instance, "syscalls/sys_enter_", LOOKED[i].call, "filter",
			    LOOKED[i].filter);
		set(instance, "syscalls/sys_enter_", LOOKED[i].call, "enable", "1");
	}
	if (enable_namers(tracefs, instance, GOING_ON) == 2 && shows_paths(instance, 1))
		return 0;
	remove_namers(tracefs, instance, GOING_ON);
	return enable_namers(tracefs, instance, READING) ? 0 : -1;
}

int reads_start(int tracefs, int instance)
{
	/* What is done here is nobody's boot. */
	procfs_write(instance, "tracing_on", "0");
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		if (LOOKED[i].ends)
			set(instance, "syscalls/sys_exit_", LOOKED[i].call, "filter",
			    LOOKED[i].ends);
		set(instance, "syscalls/sys_exit_", LOOKED[i].call, "enable", "1");
	}
	if (enable_probes(tracefs, instance)) {
		remove_probes(tracefs, instance);
		if (enable_names(tracefs, instance))
			complain(0, "files will have no names: this kernel has no probes that read "
				    "paths (CONFIG_PROBE_EVENTS or CONFIG_KPROBE_EVENTS)", NULL);
	}
	for (size_t i = 0; i < COUNT(READ); i++) {
		set(instance, "syscalls/sys_enter_", READ[i], "enable", "1");
		set(instance, "syscalls/sys_exit_", READ[i], "enable", "1");
	}
	for (size_t i = 0; i < COUNT(CONTROLLED); i++) {
		set(instance, "syscalls/sys_enter_", CONTROLLED[i], "filter", NUMBERS);
		set(instance, "syscalls/sys_exit_", CONTROLLED[i], "filter", "ret >= 0 && ret < 0x10000");
		set(instance, "syscalls/sys_enter_", CONTROLLED[i], "enable", "1");
		set(instance, "syscalls/sys_exit_", CONTROLLED[i], "enable", "1");
	}
	for (size_t i = 0; i < COUNT(BEGUN); i++) {
		if (BEGUN[i].filter)
			set(instance, "syscalls/sys_enter_", BEGUN[i].call, "filter",
			    BEGUN[i].filter);
		set(instance, "syscalls/sys_enter_", BEGUN[i].call, "enable", "1");
	}
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		set(instance, "", OTHERS[i], "enable", "1");
	procfs_write(instance, "tracing_on", "1");
	return set(instance, "syscalls/sys_enter_", "read", "enable", "1");
}

void reads_stop(int tracefs, int own)
{
	remove_probes(tracefs, -1);
	remove_namers(tracefs, -1, READING);
	if (!own)
		return;
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		if (LOOKED[i].filter)
			set(tracefs, "syscalls/sys_enter_", LOOKED[i].call, "filter", "0");
		if (LOOKED[i].ends)
			set(tracefs, "syscalls/sys_exit_", LOOKED[i].call, "filter", "0");
	}
	for (size_t i = 0; i < COUNT(CONTROLLED); i++) {
		set(tracefs, "syscalls/sys_enter_", CONTROLLED[i], "filter", "0");
		set(tracefs, "syscalls/sys_exit_", CONTROLLED[i], "filter", "0");
	}
	for (size_t i = 0; i < COUNT(BEGUN); i++)
		if (BEGUN[i].filter)
			set(tracefs, "syscalls/sys_enter_", BEGUN[i].call, "filter", "0");
}

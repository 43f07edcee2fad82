#include "reads.h"

#include <stddef.h>

#include "procfs.h"
#include "text.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The kernel's event of a call has of a path only where it lies in the program's memory.
 * A probe on that event (CONFIG_PROBE_EVENTS, Linux 5.15) reads it there. Its fields come
 * in the order of the call's arguments. */
struct looked {
	const char *call, *fields, *filter;
};

#define PATH(field) "path=+0($" field "):ustring"

/* With this flag and an empty path a call asks for an open file. */
#define OF_PATH "!(flag & 0x1000)"

static const struct looked LOOKED[] = {
	{ "openat", "dfd=$dfd " PATH("filename") " flags=$flags", NULL },
	{ "open", PATH("filename") " flags=$flags", NULL },
	{ "openat2", "dfd=$dfd " PATH("filename"), NULL },
	{ "creat", PATH("pathname"), NULL },
	{ "newfstatat", "dfd=$dfd " PATH("filename") " flag=$flag", OF_PATH },
	{ "fstatat64", "dfd=$dfd " PATH("filename") " flag=$flag", OF_PATH },
	{ "statx", "dfd=$dfd " PATH("filename") " flag=$flags", OF_PATH },
	{ "newstat", PATH("filename"), NULL },
	{ "newlstat", PATH("filename"), NULL },
	{ "stat64", PATH("filename"), NULL },
	{ "lstat64", PATH("filename"), NULL },
	{ "access", PATH("filename"), NULL },
	{ "faccessat", "dfd=$dfd " PATH("filename"), NULL },
	{ "faccessat2", "dfd=$dfd " PATH("filename"), NULL },
	{ "readlink", PATH("path"), NULL },
	{ "readlinkat", "dfd=$dfd " PATH("pathname"), NULL },
	{ "execve", PATH("filename"), NULL },
	{ "execveat", "fd=$fd " PATH("filename"), NULL },
	{ "chdir", PATH("filename"), NULL },
};

/* Those of which it matters what they return. */
static const char *const READ[] = { "read", "readv", "pread64", "preadv", "preadv2",
				    "getdents", "getdents64", "sendfile", "sendfile64",
				    "copy_file_range", "splice", "dup", "dup2", "dup3",
				    "fcntl", "fcntl64" };
/* Memory that is of no file. */
#define OF_FILE "fd < 0x10000 && !(flags & 0x20)"

/* Those that tell all when they begin. */
static const struct looked BEGUN[] = {
	{ "mmap", NULL, OF_FILE },
	{ "mmap_pgoff", NULL, OF_FILE },
	{ "close", NULL, NULL },
	{ "close_range", NULL, NULL },
	{ "fchdir", NULL, NULL },
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

static int probe(int tracefs, int instance, const struct looked *looked)
{
	TEXT(definition, 256);

	put(&definition, "e:bootlap/");
	put(&definition, looked->call);
	put(&definition, " syscalls.sys_enter_");
	put(&definition, looked->call);
	put(&definition, " ");
	put(&definition, looked->fields);
	if (procfs_write(tracefs, "dynamic_events", definition.bytes))
		return -1;
	if (looked->filter)
		set(instance, "bootlap/", looked->call, "filter", looked->filter);
	return set(instance, "bootlap/", looked->call, "enable", "1");
}

int reads_start(int tracefs, int instance)
{
	int paths = 0;

	/* What is done here is nobody's boot. */
	procfs_write(instance, "tracing_on", "0");
	/* Most machines have only some of all these calls. */
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		if (set(instance, "syscalls/sys_exit_", LOOKED[i].call, "enable", "1"))
			continue;
		if (!probe(tracefs, instance, &LOOKED[i]))
			paths++;
		else
			set(instance, "syscalls/sys_enter_", LOOKED[i].call, "enable", "1");
	}
	if (!paths)
		complain(0, "files will have no names: this kernel cannot read paths at its events "
			    "(CONFIG_PROBE_EVENTS, Linux 5.15)", NULL);
	for (size_t i = 0; i < COUNT(READ); i++) {
		set(instance, "syscalls/sys_enter_", READ[i], "enable", "1");
		set(instance, "syscalls/sys_exit_", READ[i], "enable", "1");
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

void reads_stop(int tracefs)
{
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		TEXT(line, 64);
		put(&line, "-:bootlap/");
		put(&line, LOOKED[i].call);
		procfs_write(tracefs, "dynamic_events", line.bytes);
	}
}

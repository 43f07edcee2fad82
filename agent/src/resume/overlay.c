/* overlay: lays memory over a root that is mounted.
 *
 * The system may write then, and the disk stays as it is: an image of the system knows it so, and
 * is good for any number of starts. To be called in the initramfs, where nothing has /root open. */

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "preload/arguments.h"
#include "text.h"

/* In the initramfs, which is memory itself. */
#define BASE "/bootlap-overlay"
#define LOWER BASE "/lower"
#define MEMORY BASE "/memory"
#define LAYERS "lowerdir=" LOWER ",upperdir=" MEMORY "/upper,workdir=" MEMORY "/work"
/* Where the disk is seen then, below the root: hibernate has to see it. */
#define SEEN "/media"
#define SEEN_ROOT "/root-ro"

static const struct argument ARGUMENTS[] = {
	{ NULL, NULL, NULL, 0 },
};

static int folder(const char *path)
{
	return mkdir(path, 0755) && errno != EEXIST ? -1 : 0;
}

/* Where overlayfs is a module, the root has it, and what loads it. */
static void load_module(const char *root)
{
	pid_t child = fork();

	if (!child) {
		if (!chroot(root) && !chdir("/"))
			execl("/sbin/modprobe", "modprobe", "-q", "overlay", NULL);
		_exit(1);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static int lay(const char *root)
{
	if (folder(BASE) || folder(LOWER) || folder(MEMORY) ||
	    mount("bootlap", MEMORY, "tmpfs", 0, "mode=0755"))
		return -1;
	if (mkdir(MEMORY "/upper", 0755) || mkdir(MEMORY "/work", 0755) ||
	    mount(root, LOWER, NULL, MS_MOVE, NULL)) {
		int failed = errno;

		umount(MEMORY);
		errno = failed;
		return -1;
	}
	if (mount("bootlap", root, "overlay", 0, LAYERS)) {
		int failed = errno;

		mount(LOWER, root, NULL, MS_MOVE, NULL);
		umount(MEMORY);
		errno = failed;
		return -1;
	}
	return 0;
}

static int show(const char *root)
{
	TEXT(place, 300);
	put(&place, root);
	put(&place, SEEN);
	if (folder(place.bytes))
		return -1;
	put(&place, SEEN_ROOT);
	return folder(place.bytes) || mount(LOWER, place.bytes, NULL, MS_MOVE, NULL) ? -1 : 0;
}

static int run(int argc, char **argv)
{
	const char *root;

	(void)argc;
	if (arguments(argv, ARGUMENTS, &root, 1, 1))
		return EXIT_USAGE;
	if (*root != '/' || strlen(root) > 200) {
		complain(0, root, " is no path from / on", NULL);
		return EXIT_USAGE;
	}
	load_module(root);
	if (lay(root)) {
		complain(errno, "cannot lay memory over ", root, "; it stays as it is (the kernel "
			 "needs CONFIG_OVERLAY_FS)", NULL);
		return EXIT_FAILED;
	}
	if (show(root))
		complain(errno, "what lies below ", root, " is not seen, so hibernate will refuse",
			 NULL);
	return EXIT_OK;
}

const struct command overlay_command = {
	.name = "overlay",
	.summary = "lay memory over a root, which stays as it is",
	.help = "usage: bootlap-agent overlay ROOT\n\n"
		"To be called in the initramfs, when ROOT is mounted read-only. What is written\n"
		"then goes to memory; ROOT/media/root-ro has the disk. If it cannot be done, it\n"
		"ends with 1, and ROOT stays as it was.\n",
	.run = run,
};

/* hibernate: makes an image of the running system, and goes on when that is resumed.
 *
 * The kernel hands out a copy of all memory in use (/dev/snapshot), taken at one moment. The
 * image goes to a place of its own, and is good for any number of starts: the file systems
 * that it knows are mounted read-only. */

#include <errno.h>
#include <fcntl.h>
#include <linux/suspend_ioctls.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"
#include "collect/procfs.h"
#include "image.h"
#include "lz4_pack.h"
#include "medium.h"
#include "preload/arguments.h"
#include "roots.h"
#include "text.h"

/* Written out when so much has come together: all else is frozen, and nobody frees memory. */
#define SYNC_EVERY (4u << 20)

static int64_t reboot_then, keep_cache, plain, forget;

static const struct argument ARGUMENTS[] = {
	{ "--reboot", NULL, &reboot_then, 0 },
	{ "--keep-cache", NULL, &keep_cache, 0 },
	{ "--plain", NULL, &plain, 0 },
	{ "--forget", NULL, &forget, 0 },
	{ NULL, NULL, NULL, 0 },
};

static struct medium medium;
static unsigned char pages[IMAGE_PACKED];
static struct {
	struct image_packed head;
	unsigned char bytes[IMAGE_PACKED];
} packed;
static unsigned char header_block[IMAGE_BLOCK];

static int write_packed(struct image_header *header, size_t length)
{
	uint64_t at = IMAGE_DATA + header->bytes;
	size_t stored = plain ? 0 : lz4_pack(pages, length, packed.bytes, length), whole;

	if (!stored) {
		memcpy(packed.bytes, pages, length);
		stored = length;
	}
	packed.head.stored = (uint32_t)stored;
	packed.head.length = (uint32_t)length;
	packed.head.sum = image_sum(packed.bytes, stored);
	whole = sizeof packed.head + stored;
	if (medium_write(&medium, at, &packed, whole))
		return -1;
	header->bytes += whole;
	if (at / SYNC_EVERY == (at + whole) / SYNC_EVERY)
		return 0;
	if (medium_sync(&medium))
		return -1;
	medium_forget(&medium, at < SYNC_EVERY ? 0 : at - SYNC_EVERY, at);
	return 0;
}

static int write_pages(int snapshot, struct image_header *header)
{
	size_t filled = 0;
	ssize_t n;

	while ((n = read(snapshot, pages + filled, header->page_size)) > 0) {
		filled += (size_t)n;
		header->pages++;
		if (filled < sizeof pages)
			continue;
		if (write_packed(header, filled))
			return -1;
		filled = 0;
	}
	if (n < 0 || (filled && write_packed(header, filled)))
		return -1;
	return 0;
}

static int write_block(uint64_t at, const void *bytes, size_t length)
{
	memset(header_block, 0, sizeof header_block);
	memcpy(header_block, bytes, length);
	return medium_write(&medium, at, header_block, sizeof header_block) ||
	       medium_sync(&medium);
}

/* So many images were made, and none of them was tried yet. */
static int write_tries(uint64_t made)
{
	struct image_tries tries = { .magic = IMAGE_TRIES_MAGIC, .made = made };

	return write_block(IMAGE_BLOCK, &tries, sizeof tries);
}

/* How many images were made since one came back. */
static uint64_t were_made(void)
{
	struct image_tries tries;

	if (medium_read(&medium, IMAGE_BLOCK, &tries, sizeof tries) ||
	    tries.magic != IMAGE_TRIES_MAGIC)
		return 0;
	return tries.made;
}

/* A power cut on the way leaves no header, and so no image. */
static int write_image(int snapshot, struct image_header *header)
{
	if (write_pages(snapshot, header) || medium_sync(&medium) || write_tries(were_made() + 1))
		return -1;
	image_seal(header);
	return write_block(0, header, sizeof *header);
}

/* What was there before is none any more; -1 after a complaint. */
static int unmake(void)
{
	static const char nothing[1];

	if (!write_block(0, nothing, sizeof nothing))
		return 0;
	complain(errno, "cannot write the image", NULL);
	return -1;
}

static void put_size(struct text *text, const struct image_header *header)
{
	put_number(text, header->pages * header->page_size >> 10);
	put(text, " KiB of memory in ");
	put_number(text, (header->bytes + IMAGE_DATA) >> 10);
	put(text, " KiB");
}

static int gave_up(void)
{
	if (were_made() < IMAGE_TRIES)
		return 0;
	complain(0, "three images were made, and this machine came back from none of them: "
		 "`bootlap-agent hibernate --forget` has the next boot try again", NULL);
	return -1;
}

static int make(struct image_header *header)
{
	int snapshot = open("/dev/snapshot", O_RDONLY | O_CLOEXEC), made = 0, failed;

	TEXT(line, 160);
	if (snapshot < 0) {
		complain(errno, "cannot open /dev/snapshot; the kernel needs CONFIG_HIBERNATION and "
			 "CONFIG_HIBERNATION_SNAPSHOT_DEV, and must not be locked down", NULL);
		return -1;
	}
	if (ioctl(snapshot, SNAPSHOT_FREEZE)) {
		complain(errno, "the kernel cannot stop all programs", NULL);
		close(snapshot);
		return -1;
	}
	/* From here on nobody else mounts anything. */
	if (gave_up() || roots_note(header) || unmake()) {
		ioctl(snapshot, SNAPSHOT_UNFREEZE);
		close(snapshot);
		return -1;
	}
	if (!keep_cache)
		procfs_write(-1, "/proc/sys/vm/drop_caches", "3");
	failed = ioctl(snapshot, SNAPSHOT_CREATE_IMAGE, &made) ? errno : 0;
	if (failed) {
		ioctl(snapshot, SNAPSHOT_UNFREEZE);
		complain(failed, "the kernel makes no copy of its memory", NULL);
	} else if (made) {
		failed = write_image(snapshot, header) ? errno : 0;
		if (!failed) {
			put(&line, "bootlap-agent: hibernate: ");
			put_size(&line, header);
			put(&line, "\n");
			write_all(STDOUT_FILENO, line.bytes, line.len);
			/* A serial line still sends. */
			tcdrain(STDOUT_FILENO);
			reboot(reboot_then ? RB_AUTOBOOT : RB_POWER_OFF);
			failed = errno;
		}
		unmake();
		ioctl(snapshot, SNAPSHOT_FREE);
		ioctl(snapshot, SNAPSHOT_UNFREEZE);
		complain(failed, "cannot write the image", NULL);
	} else {
		/* The same program, at a later start. */
		if (write_tries(0))
			complain(errno, "cannot note that the image came back", NULL);
		ioctl(snapshot, SNAPSHOT_UNFREEZE);
	}
	close(snapshot);
	return failed ? -1 : 0;
}

static int run(int argc, char **argv)
{
	struct image_header header = { 0 };
	const char *path;
	int failed;

	(void)argc;
	if (arguments(argv, ARGUMENTS, &path, 1, 1))
		return EXIT_USAGE;
	header.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	image_machine(header.machine, sizeof header.machine);
	sync();
	if (medium_open(&medium, path, O_RDWR))
		return EXIT_FAILED;
	failed = forget ? unmake() || write_tries(0) : make(&header);
	close(medium.fd);
	return failed ? EXIT_FAILED : EXIT_OK;
}

const struct command hibernate_command = {
	.name = "hibernate",
	.summary = "make an image of the running system, to start from",
	.help = "usage: bootlap-agent hibernate [OPTION]... IMAGE\n\n"
		"Writes all memory in use to IMAGE, a partition or a file of fixed size, and\n"
		"switches off. `bootlap-agent resume IMAGE` starts from it, any number of\n"
		"times; then this command ends with 0, and what stands behind it goes on.\n"
		"All that is mounted has to be read-only or in memory: mount the rest behind\n"
		"this command. If it cannot make the image, all goes on, and it ends with 1.\n\n"
		"  --reboot      restart, and do not switch off\n"
		"  --keep-cache  keep the files in memory that nobody uses now\n"
		"  --plain       do not compress the image\n"
		"  --forget      make none, and leave none: before a root is written from outside,\n"
		"                or when three were made and the machine came back from none\n",
	.run = run,
};

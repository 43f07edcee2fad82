/* resume: starts from an image instead of going on with the boot.
 *
 * It gives the kernel the pages that hibernate took, and the kernel jumps into them. Whatever
 * is not as it was then, it says so, ends with 1, and the boot goes on. */

#include <errno.h>
#include <fcntl.h>
#include <linux/suspend_ioctls.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent.h"
#include "image.h"
#include "lz4.h"
#include "medium.h"
#include "preload/arguments.h"
#include "roots.h"
#include "text.h"

/* What was read is forgotten in steps of this. */
#define FORGET_EVERY (1u << 20)

static const struct argument ARGUMENTS[] = {
	{ NULL, NULL, NULL, 0 },
};

static struct medium medium;
static unsigned char pages[IMAGE_PACKED];
/* The next blocks as they come from the disk: larger pieces than the blocks. */
static unsigned char ahead[4 * IMAGE_PACKED];

static int no(const char *why)
{
	complain(0, "resume: ", why, "; the boot goes on", NULL);
	return -1;
}

/* The kernel takes one page at a time; it is whole pages. */
static int hand_over(int snapshot, const unsigned char *bytes, size_t length, size_t page)
{
	for (size_t at = 0; at < length; at += page)
		if (write(snapshot, bytes + at, page) != (ssize_t)page)
			return -1;
	return 0;
}

static int hand_over_packed(int snapshot, const struct image_packed *head,
			    const unsigned char *bytes, size_t page)
{
	if (image_sum(bytes, head->stored) != head->sum)
		return no("a block of the image is damaged");
	if (head->stored < head->length) {
		if (lz4_unpack(bytes, head->stored, pages, head->length))
			return no("a block of the image is damaged");
		bytes = pages;
	}
	if (hand_over(snapshot, bytes, head->length, page))
		return no(errno == EPERM ? "the image is of another kernel or machine" :
					   "the kernel does not take the image");
	return 0;
}

static int load(int snapshot, const struct image_header *header)
{
	uint64_t at = IMAGE_DATA, end = IMAGE_DATA + header->bytes, forgotten = IMAGE_DATA;
	size_t filled = 0, used = 0;

	if (end > medium.size)
		return no("the image is larger than its place");
	while (at < end || used < filled) {
		struct image_packed head;
		size_t left = filled - used, more;

		if (left >= sizeof head) {
			memcpy(&head, ahead + used, sizeof head);
			if (head.length > IMAGE_PACKED || head.stored > head.length ||
			    head.length % header->page_size)
				return no("a block of the image is damaged");
			if (left - sizeof head >= head.stored) {
				if (hand_over_packed(snapshot, &head, ahead + used + sizeof head,
						     header->page_size))
					return -1;
				used += sizeof head + head.stored;
				continue;
			}
		}
		if (at == end)
			return no("the image ends in the middle of a block");
		memmove(ahead, ahead + used, left);
		used = 0;
		filled = left;
		more = sizeof ahead - filled;
		if (more > end - at)
			more = (size_t)(end - at);
		if (medium_read(&medium, at, ahead + filled, more))
			return no("the image cannot be read");
		at += more;
		filled += more;
		if (at - forgotten >= FORGET_EVERY) {
			medium_forget(&medium, forgotten, at - 4096);
			forgotten = at & ~(uint64_t)4095;
		}
	}
	medium_forget(&medium, forgotten, end);
	return 0;
}

/* Whether it may be tried; the header if so. */
static int fit(struct image_header *header, struct image_tries *tries)
{
	char machine[sizeof header->machine];
	const char *wrong;

	if (medium_read(&medium, 0, header, sizeof *header) ||
	    medium_read(&medium, IMAGE_BLOCK, tries, sizeof *tries))
		return no("the image cannot be read");
	wrong = image_wrong(header);
	if (wrong)
		return no(wrong);
	image_machine(machine, sizeof machine);
	if (memcmp(machine, header->machine, sizeof machine) ||
	    header->page_size != (uint32_t)sysconf(_SC_PAGESIZE))
		return no("the image is of another machine");
	if (tries->magic != IMAGE_TRIES_MAGIC)
		*tries = (struct image_tries){ .magic = IMAGE_TRIES_MAGIC };
	if (tries->count >= IMAGE_TRIES)
		return no("the image did not come back three times; make it anew");
	wrong = roots_changed(header);
	if (wrong) {
		complain(0, "resume: ", wrong, " is not as it was when the image was made; the boot "
			 "goes on", NULL);
		return -1;
	}
	return 0;
}

static int note_try(struct image_tries tries)
{
	unsigned char block[IMAGE_BLOCK] = { 0 };

	tries.count++;
	memcpy(block, &tries, sizeof tries);
	return medium_write(&medium, IMAGE_BLOCK, block, sizeof block) || medium_sync(&medium);
}

static int run(int argc, char **argv)
{
	struct image_header header;
	struct image_tries tries;
	const char *path;
	int snapshot;

	(void)argc;
	if (arguments(argv, ARGUMENTS, &path, 1, 1))
		return EXIT_USAGE;
	if (medium_open(&medium, path, O_RDWR))
		return EXIT_FAILED;
	if (fit(&header, &tries))
		return EXIT_FAILED;
	posix_fadvise(medium.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	snapshot = open("/dev/snapshot", O_WRONLY | O_CLOEXEC);
	if (snapshot < 0) {
		complain(errno, "resume: cannot open /dev/snapshot; the boot goes on", NULL);
		return EXIT_FAILED;
	}
	if (load(snapshot, &header))
		return EXIT_FAILED;
	if (note_try(tries)) {
		no("the image's place cannot be written");
		return EXIT_FAILED;
	}
	if (!ioctl(snapshot, SNAPSHOT_FREEZE)) {
		ioctl(snapshot, SNAPSHOT_ATOMIC_RESTORE);
		ioctl(snapshot, SNAPSHOT_FREE);
		ioctl(snapshot, SNAPSHOT_UNFREEZE);
	}
	no("the kernel does not start the image");
	return EXIT_FAILED;
}

const struct command resume_command = {
	.name = "resume",
	.summary = "start from the image that hibernate made, if it fits",
	.help = "usage: bootlap-agent resume IMAGE\n\n"
		"To be called in the initramfs, before anything is mounted to be written. It\n"
		"does not come back if it can start from IMAGE. It ends with 1, and the boot\n"
		"goes on, if there is no image, if a file system that the image knows has\n"
		"changed, if kernel or machine are others, or if the image was tried three\n"
		"times and never came back.\n",
	.run = run,
};

#include "roots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/procfs.h"
#include "directory.h"
#include "preload/mounts.h"
#include "text.h"

#define MOUNTINFO 65536

/* Those that a disk holds, and whose superblock changes when somebody mounts them to write. */
static const char *const ON_DISK[] = {
	"ext2", "ext3", "ext4", "squashfs", "erofs", "romfs", "cramfs", NULL,
};
/* Those that are memory, or the kernel itself. */
static const char *const IN_MEMORY[] = {
	"tmpfs", "ramfs", "rootfs", "devtmpfs", "proc", "sysfs", "devpts", "cgroup", "cgroup2",
	"securityfs", "debugfs", "tracefs", "pstore", "bpf", "configfs", "mqueue", "hugetlbfs",
	"autofs", "fusectl", "efivarfs", "binfmt_misc", "rpc_pipefs", "selinuxfs", "nsfs",
	/* Its layers are mounted too. */
	"overlay", NULL,
};

static int is_one_of(const char *name, const char *const *list)
{
	while (*list && strcmp(name, *list))
		list++;
	return *list != NULL;
}

/* Cuts the next word off a line; empty at its end. */
static char *word(char **line)
{
	char *start = *line, *end = start + strcspn(start, " ");

	*line = *end ? end + 1 : end;
	*end = 0;
	return start;
}

static int has_option(const char *options, const char *option)
{
	size_t length = strlen(option);

	for (;; options++) {
		if (!strncmp(options, option, length) &&
		    (options[length] == ',' || !options[length]))
			return 1;
		options = strchr(options, ',');
		if (!options)
			return 0;
	}
}

/* Notes a disk, once. */
static int note(struct image_header *header, dev_t dev, const char *place)
{
	struct image_root *root = &header->roots[header->root_count];
	struct text name = text_in(root->device, sizeof root->device);

	if (header->root_count == IMAGE_ROOTS) {
		complain(0, "more than 16 disks are mounted: unmount some", NULL);
		return -1;
	}
	if (!device_name(dev, &name) || image_root_sum(root->device, &root->sum)) {
		complain(0, place, " is on a disk that /dev does not have", NULL);
		return -1;
	}
	for (uint32_t i = 0; i < header->root_count; i++)
		if (!strcmp(header->roots[i].device, root->device)) {
			memset(root, 0, sizeof *root);
			return 0;
		}
	header->root_count++;
	return 0;
}

/* ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS [TAG]... - TYPE SOURCE SUPER-OPTIONS */
static int look_at(struct image_header *header, char *line)
{
	const char *place, *number, *type;
	uint64_t upper, lower;
	char *start = line;

	word(&start);
	word(&start);
	number = word(&start);
	word(&start);
	place = word(&start);
	word(&start);
	while (*start && strcmp(word(&start), "-"))
		;
	type = word(&start);
	word(&start);
	if (is_one_of(type, IN_MEMORY))
		return 0;
	if (!is_one_of(type, ON_DISK)) {
		complain(0, place, " is a ", type, ", of which the image cannot tell whether it is "
			 "as it was: unmount it first, and mount it again when the image is resumed",
			 NULL);
		return -1;
	}
	if (!has_option(start, "ro")) {
		complain(0, place, " is mounted to be written, and would be changed behind the "
			 "image's back: mount it read-only, with a tmpfs above, or unmount it first "
			 "and mount it again when the image is resumed", NULL);
		return -1;
	}
	upper = procfs_number(&number);
	number++;
	lower = procfs_number(&number);
	return note(header, makedev((unsigned)upper, (unsigned)lower), place);
}

/* Whether somebody has claimed a block device: a file system, swap, another device above it. */
static int is_claimed(const char *name)
{
	int fd;

	TEXT(path, 300);
	put(&path, "/dev/");
	put(&path, name);
	fd = open(path.bytes, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == EBUSY;
	close(fd);
	return 0;
}

static int is_noted(const struct image_header *header, const char *name)
{
	for (uint32_t i = 0; i < header->root_count; i++)
		if (!strcmp(header->roots[i].device, name))
			return 1;
	return 0;
}

/* Whether a device's claim is that of another one that is in this list too: a device above it, or
 * a partition of it. */
static int is_anothers(int devices, const char *name)
{
	_Alignas(struct entry) char entries[DIRECTORY_BYTES];
	long length;
	int found = 0, folder;

	TEXT(path, 300);
	put(&path, name);
	put(&path, "/holders");
	for (int level = 0; level < 2 && !found; level++) {
		folder = openat(devices, level ? name : path.bytes,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		while (folder >= 0 && !found &&
		       (length = directory_read(folder, entries, sizeof entries)) > 0)
			for (long at = 0; at < length && !found;) {
				struct entry *entry = (struct entry *)(entries + at);

				at += entry->len;
				if (entry->name[0] == '.')
					continue;
				found = level == 0 || (!strncmp(entry->name, name, strlen(name)) &&
						       is_claimed(entry->name));
			}
		if (folder >= 0)
			close(folder);
	}
	return found;
}

/* What is mounted where this process does not see it, as below an overlay of an initramfs. */
static int look_for_hidden(const struct image_header *header)
{
	_Alignas(struct entry) char entries[DIRECTORY_BYTES];
	int devices = open("/sys/class/block", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long length;

	if (devices < 0) {
		complain(errno, "cannot open /sys/class/block", NULL);
		return -1;
	}
	while ((length = directory_read(devices, entries, sizeof entries)) > 0)
		for (long at = 0; at < length;) {
			struct entry *entry = (struct entry *)(entries + at);

			at += entry->len;
			if (entry->name[0] == '.' || is_noted(header, entry->name) ||
			    !is_claimed(entry->name) || is_anothers(devices, entry->name))
				continue;
			complain(0, entry->name, " is in use, and /proc/self/mountinfo does not say "
				 "by what: move a file system that lies below an overlay to where "
				 "it is seen", NULL);
			close(devices);
			return -1;
		}
	close(devices);
	return 0;
}

int roots_note(struct image_header *header)
{
	static char text[MOUNTINFO];
	size_t length = procfs_read(-1, "/proc/self/mountinfo", text, sizeof text);

	if (!length || length + 1 >= sizeof text) {
		complain(0, "/proc does not tell what is mounted", NULL);
		return -1;
	}
	for (char *line = text; *line;) {
		char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;

		*end = 0;
		if (look_at(header, line))
			return -1;
		line = next;
	}
	/* Below its heading, each line is one. */
	length = procfs_read(-1, "/proc/swaps", text, sizeof text);
	if (length && strchr(text, '\n') && strchr(text, '\n')[1]) {
		complain(0, "memory is swapped to a disk, which the image does not hold: swapoff -a "
			 "first", NULL);
		return -1;
	}
	return look_for_hidden(header);
}

const char *roots_changed(const struct image_header *header)
{
	for (uint32_t i = 0; i < header->root_count; i++) {
		const struct image_root *root = &header->roots[i];
		uint64_t sum;

		if (image_root_sum(root->device, &sum) || sum != root->sum)
			return root->device;
	}
	return NULL;
}

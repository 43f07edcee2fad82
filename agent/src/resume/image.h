/* How the image of a running system lies on its medium: a block for what it is, a block
 * for how often it was tried, then the kernel's pages in packed blocks, one behind the
 * other. Numbers are the machine's own: the image is of no use to any other. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAGIC "bootlap-resume 1"
#define IMAGE_BLOCK 4096 /* of the header, and of the tries */
#define IMAGE_DATA (2 * IMAGE_BLOCK)
/* So much is packed at once: places in it fit into 16 bits. */
#define IMAGE_PACKED 65536
#define IMAGE_ROOTS 16
/* An image that never came back so often is not tried any more, nor is another made when so many
 * were, and none came back: a machine that makes one at each boot would never stop. */
#define IMAGE_TRIES 3

/* A file system that was mounted, and has to be as it was. */
struct image_root {
	char device[32]; /* in /dev */
	uint64_t sum;    /* of its first 4096 bytes, which has the superblock */
};

struct image_header {
	char magic[16];
	uint32_t crc;       /* of this header with 0 here */
	uint32_t page_size; /* what the kernel hands out and takes at once */
	uint64_t pages;
	uint64_t bytes; /* of the packed blocks */
	char machine[64];
	uint32_t root_count;
	uint32_t zero;
	struct image_root roots[IMAGE_ROOTS];
};
_Static_assert(sizeof(struct image_header) <= IMAGE_BLOCK, "it has one block");

/* In front of each packed block. */
struct image_packed {
	uint32_t stored; /* bytes that follow; IMAGE_PACKED at most, which are not packed then */
	uint32_t length; /* unpacked */
	uint64_t sum;    /* of what follows */
};

#define IMAGE_TRIES_MAGIC 0x7365697274746f62 /* nothing was noted yet without it */
struct image_tries {
	uint64_t magic;
	uint64_t count; /* of this image, since it came back last */
	uint64_t made;  /* images, since one came back */
};

/* Finds changed bytes, not forged ones: a CRC would take longer than unpacking. */
uint64_t image_sum(const void *bytes, size_t length);

void image_seal(struct image_header *header);

/* Why the bytes are no header that can be trusted; NULL if they are one. */
const char *image_wrong(const struct image_header *header);

/* What tells this machine from another, as its firmware names it; empty if it does not. */
void image_machine(char *name, size_t room);

/* Of a device in /dev, as struct image_root has it; -1 and errno if it cannot be read. */
int image_root_sum(const char *device, uint64_t *sum);

#endif

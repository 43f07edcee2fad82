#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "card.h"
#include "facts.h"
#include "qemu.h"
#include "stamps.h"
#include "uring.h"

#define PAGE 4096 /* what the guest has written is known by the page */
#define MOST_DISKS 16

struct disk {
	int written;    /* what the guest wrote */
	int image;      /* what was there before; -1: nothing */
	bool card;
	dev_t device;   /* of `written`: QEMU opens it again */
	ino_t inode;
	uint64_t size;  /* of the image */
	uint8_t *pages; /* a bit for each page of the image that is in `written` */
	int64_t free_ps;
	uint64_t next;  /* where the last request ended */
};
static struct disk disks[MOST_DISKS];
static unsigned n_disks;

/* One that waits for its time; the list is in that order. */
struct request {
	struct request *next;
	struct disk *disk;
	struct io_uring_sqe asked;
	size_t bytes;
	int64_t asked_ps;
	int64_t due_ps;
	bool done; /* only its time is yet to come: what it points to may be gone */
};
static struct request *first;

/* How long the CPU has waited for disks, in all. */
static int64_t waited_ps;
static int64_t seen_idle_ps;

static struct disk_board board;
static void *timer; /* NULL: requests take no time */

static void set_written(struct disk *disk, uint64_t page)
{
	if (page * PAGE < disk->size)
		disk->pages[page / 8] |= (uint8_t)(1 << page % 8);
}

__attribute__((constructor)) static void find_disks(void)
{
	const char *text = getenv(DISKS);
	int written, image, length;
	char kind[8];

	while (text && n_disks < MOST_DISKS &&
	       sscanf(text, "%d:%d:%7[a-z]%n", &written, &image, kind, &length) == 3) {
		struct disk *disk = &disks[n_disks];
		struct stat st;
		off_t end = image < 0 ? 0 : lseek(image, 0, SEEK_END);

		*disk = (struct disk){.written = written,
				      .image = image,
				      .card = strcmp(kind, "card") == 0,
				      .size = end < 0 ? 0 : (uint64_t)end};
		disk->pages = calloc(1, disk->size / PAGE / 8 + 1);
		if (!disk->pages || fstat(written, &st) != 0)
			return; /* QEMU's requests for it end in an error */
		disk->device = st.st_dev;
		disk->inode = st.st_ino;
		n_disks++;
		text += length;
		while (*text == '.') {
			uint64_t page = strtoull(text + 1, (char **)&text, 10);
			uint64_t last = *text == '-' ? strtoull(text + 1, (char **)&text, 10) : page;

			for (; page <= last; page++)
				set_written(disk, page);
		}
		if (*text++ != ',')
			break;
	}
}

bool disk_any(void)
{
	return n_disks > 0;
}

bool disk_any_card(void)
{
	for (unsigned i = 0; i < n_disks; i++)
		if (disks[i].card)
			return true;
	return false;
}

static struct disk *disk_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	for (unsigned i = 0; i < n_disks; i++)
		if (disks[i].device == st.st_dev && disks[i].inode == st.st_ino)
			return &disks[i];
	return NULL;
}

static bool is_written(const struct disk *disk, uint64_t page)
{
	return disk->image < 0 || page * PAGE >= disk->size || disk->pages[page / 8] >> page % 8 & 1;
}

/* Both have pread's result. */
static ssize_t read_pages(const struct disk *disk, char *to, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		uint64_t here = at + done;
		bool written = is_written(disk, here / PAGE);
		size_t run = PAGE - here % PAGE;
		ssize_t got;

		while (run < n - done && is_written(disk, (here + run) / PAGE) == written)
			run += PAGE;
		if (run > n - done)
			run = n - done;
		got = pread(written ? disk->written : disk->image, to + done, run, (off_t)here);
		if (got < 0)
			return -errno;
		/* The image's last page need not be whole. */
		if (!written)
			memset(to + done + got, 0, run - (size_t)got);
		else if ((size_t)got < run)
			return (ssize_t)done + got;
		done += run;
	}
	return (ssize_t)done;
}

static ssize_t write_pages(struct disk *disk, const char *from, size_t n, uint64_t at)
{
	uint64_t edges[] = {at / PAGE, (at + n - 1) / PAGE};
	char page[PAGE];
	ssize_t put;

	if (n == 0)
		return 0;
	/* What of the first and the last page is not written over comes from the image. */
	for (int i = 0; i < 2; i++) {
		uint64_t start = edges[i] * PAGE;
		size_t whole;

		if (is_written(disk, edges[i]))
			continue;
		whole = disk->size - start < PAGE ? disk->size - start : PAGE;
		if (read_pages(disk, page, whole, start) != (ssize_t)whole ||
		    pwrite(disk->written, page, whole, (off_t)start) != (ssize_t)whole)
			return -EIO;
		set_written(disk, edges[i]);
	}
	put = pwrite(disk->written, from, n, (off_t)at);
	if (put != (ssize_t)n)
		return put < 0 ? -errno : -ENOSPC; /* of the host's memory */
	for (uint64_t p = edges[0]; p <= edges[1]; p++)
		set_written(disk, p);
	return put;
}

static size_t length_of(const struct io_uring_sqe *asked)
{
	const struct iovec *parts = (const struct iovec *)(uintptr_t)asked->addr;
	size_t n = 0;

	if (asked->opcode != IORING_OP_READV && asked->opcode != IORING_OP_WRITEV)
		return 0;
	for (unsigned i = 0; i < asked->len; i++)
		n += parts[i].iov_len;
	return n;
}

/* Copies between a request's parts and one piece of memory. */
static void copy_parts(const struct io_uring_sqe *asked, char *bytes, size_t n, bool out)
{
	const struct iovec *part = (const struct iovec *)(uintptr_t)asked->addr;

	for (; n > 0; part++) {
		size_t here = part->iov_len < n ? part->iov_len : n;

		if (out)
			memcpy(bytes, part->iov_base, here);
		else
			memcpy(part->iov_base, bytes, here);
		bytes += here;
		n -= here;
	}
}

static int32_t perform(struct disk *disk, const struct io_uring_sqe *asked)
{
	size_t n = length_of(asked);
	char *bytes;
	ssize_t done;

	switch (asked->opcode) {
	case IORING_OP_FSYNC:
		return 0; /* it is in memory */
	case IORING_OP_READV:
	case IORING_OP_WRITEV:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!disk)
		return -EBADF;
	bytes = malloc(n ? n : 1);
	if (!bytes)
		return -ENOMEM;
	if (asked->opcode == IORING_OP_READV) {
		done = read_pages(disk, bytes, n, asked->off);
		if (done > 0)
			copy_parts(asked, bytes, (size_t)done, false);
	} else {
		copy_parts(asked, bytes, n, true);
		done = write_pages(disk, bytes, n, asked->off);
	}
	free(bytes);
	return (int32_t)done;
}

/* How long a request takes from when the disk begins with it, ps. */
static int64_t cost_ps(const struct disk *disk, const struct io_uring_sqe *asked, size_t n)
{
	enum stage stage = clock_reached();
	bool write = asked->opcode == IORING_OP_WRITEV;
	int64_t ps = write ? board.write[stage] : board.read[stage];

	if (asked->opcode == IORING_OP_FSYNC)
		return board.flush;
	/* A card is asked for its next block as long as it sends: one command. */
	return (disk->card && asked->off == disk->next ? 0 : board.latency[stage]) +
	       (int64_t)((n * (unsigned __int128)ps + DISK_UNIT - 1) / DISK_UNIT);
}

static int64_t due_ps(struct disk *disk, const struct io_uring_sqe *asked)
{
	int64_t now = clock_ps();
	size_t n = length_of(asked);

	if (disk->free_ps < now)
		disk->free_ps = now;
	disk->free_ps += cost_ps(disk, asked, n);
	if (n > 0)
		disk->next = asked->off + n;
	return disk->free_ps;
}

/* The CPU was idle so long since it was looked at; was it for a disk? */
static void look_at_idle(void)
{
	int64_t idle = clock_idle_ps();

	if (first)
		waited_ps += idle - seen_idle_ps;
	seen_idle_ps = idle;
}

static void tell(const struct request *r)
{
	bool flush = r->asked.opcode == IORING_OP_FSYNC;

	if (!r->disk)
		return;
	stamps_request(&(struct stamps_request){
		.what = flush ? REQUEST_FLUSH :
			r->asked.opcode == IORING_OP_WRITEV ? REQUEST_WRITE : REQUEST_READ,
		.disk = (unsigned)(r->disk - disks),
		.offset = flush ? 0 : r->asked.off,
		.bytes = (uint32_t)r->bytes,
		.took_ps = r->due_ps - r->asked_ps,
		.waited_ps = waited_ps,
	});
}

static void arm(void)
{
	if (first)
		qemu.timer_mod_ns(timer, (first->due_ps + PS - 1) / PS);
}

/* The CPU does nothing else. */
static void wait_until(int64_t ps)
{
	int64_t wait = ps - clock_ps();

	if (wait > 0)
		waited_ps += wait;
	clock_stall_until(ps);
}

static void put_in_order(struct request *request)
{
	struct request **at = &first;

	while (*at && (*at)->due_ps <= request->due_ps)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
}

static void finish_first(void)
{
	struct request *request = first;

	look_at_idle();
	first = request->next;
	tell(request);
	if (!request->done)
		uring_answer(&request->asked, perform(request->disk, &request->asked));
	free(request);
}

static void expired(void *opaque)
{
	int64_t now = clock_ps();

	(void)opaque;
	while (first && first->due_ps <= now)
		finish_first();
	uring_deliver();
	arm();
}

void disk_submit(const struct io_uring_sqe *asked)
{
	struct request now = {.disk = disk_of(asked->fd), .asked = *asked,
			      .bytes = length_of(asked)};
	struct request *later = NULL;

	if (timer && now.disk) {
		now.asked_ps = clock_ps();
		now.due_ps = due_ps(now.disk, asked);
		/* A card moves all at once; then its interrupt waits, where that can be had. */
		now.done = now.disk->card && card_interrupts();
		/* A boot loader does nothing but poll. */
		bool polls = clock_reached() == STAGE_BOOTLOADER || (now.disk->card && !now.done);

		look_at_idle();
		if (clock_cpu() && polls)
			wait_until(now.due_ps);
		else if (first || now.due_ps > clock_ps()) /* never before an earlier one */
			later = malloc(sizeof *later);
	}
	if (!later || now.done)
		uring_answer(asked, perform(now.disk, asked));
	if (!later) {
		tell(&now);
		return;
	}
	*later = now;
	put_in_order(later);
	arm();
}

int64_t disk_cards_free_ps(void)
{
	int64_t last = 0;

	for (unsigned i = 0; i < n_disks; i++)
		if (disks[i].card && disks[i].free_ps > last)
			last = disks[i].free_ps;
	return last;
}

static bool any_to_do(void)
{
	for (const struct request *r = first; r; r = r->next)
		if (!r->done)
			return true;
	return false;
}

void disk_hurry(void)
{
	while (any_to_do()) {
		if (clock_cpu())
			wait_until(first->due_ps);
		finish_first();
	}
}

bool disk_model(const struct disk_board *of)
{
	board = *of;
	timer = clock_timer(expired, NULL);
	return timer != NULL;
}

#define BY_STAGE(ps) (long long)(ps)[0], (long long)(ps)[1], (long long)(ps)[2]

void disk_tell(void)
{
	if (!timer) {
		fact("disks", "n=%u", n_disks);
		return;
	}
	fact("disks", "n=%u latency=%lld:%lld:%lld read=%lld:%lld:%lld write=%lld:%lld:%lld flush=%lld",
	     n_disks, BY_STAGE(board.latency), BY_STAGE(board.read), BY_STAGE(board.write),
	     (long long)board.flush);
}

/*
 * Disks and cards: what they hold, and how long a request takes.
 *
 * QEMU reads and writes its images beside the guest, in the host's own time: a guest
 * that waits for a disk would wait as long as the host does. Here a request is done
 * at a moment of the guest's time, and never else: at once in simulated time, and in
 * modelled time after the board's latency and the time of its bytes, one request of
 * a disk after the other. So boots from a disk are the same to the last bit.
 *
 * What the guest writes stays in memory: the user's image is only read.
 */
#ifndef PROBE_DISK_H
#define PROBE_DISK_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

/* What the lab says of the disks is in this variable, as QEMU reads them before it
 * loads plugins: `FD:FD:KIND` of each, with a comma between them. The first is a file
 * in memory that QEMU has been given for an image, the second the image, or -1 if
 * all is in memory. KIND is `disk` or `card`. Behind it come, each with a dot in front,
 * pages of the image that are in memory from the start. */
#define DISKS "BOOTLAP_DISKS"

/* Bytes that the time of reading and writing is given for. */
#define DISK_UNIT 4096

/* A board's storage, ps. */
struct disk_board {
	int64_t latency[STAGES]; /* of a request */
	int64_t read[STAGES];    /* of DISK_UNIT bytes */
	int64_t write[STAGES];
	int64_t flush;
};

/* Whether there are disks to be read in the guest's time. */
bool disk_any(void);
bool disk_any_card(void);

/* Requests take time from now on. False if this QEMU cannot. */
bool disk_model(const struct disk_board *);

/* When the last of the cards will have done what it was asked for. */
int64_t disk_cards_free_ps(void);

/* Once the machine is there: writes down what disks there are. */
void disk_tell(void);

/* A request of QEMU's: uring_answer gets its result when its time has come, which can
 * be before this returns. */
void disk_submit(const struct io_uring_sqe *);

/* Somebody waits in QEMU itself, and the guest cannot go on before: what is under way
 * is done now, and the CPU waits for as long as it takes. */
void disk_hurry(void);

#endif

/* Other settings of a disk's queue for a while. */
#ifndef QUEUE_H
#define QUEUE_H

#include <sys/types.h>

/* What is asked for; NULL is what it is. */
struct queue {
	const char *scheduler;
	const char *requests;   /* nr_requests */
	const char *read_ahead; /* read_ahead_kb */
};

/* Makes them so; they are back when queue_restore has been called, or this process has
 * ended in whatever way. What cannot be set is complained of, and stays. */
void queue_change(dev_t disk, const struct queue *asked);
void queue_restore(void);

#endif

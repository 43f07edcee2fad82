/*
 * A serial line that takes its time: a queue, and a shift register that sends
 * one byte after the other at the line's rate. What a UART's registers make of
 * it is the UART's file.
 */
#ifndef PROBE_LINE_H
#define PROBE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_MOST 64 /* bytes in the longest queue, and one on its way */

struct line {
	unsigned char bytes[LINE_MOST + 1];
	unsigned n;       /* how many: the first one is being sent */
	unsigned depth;   /* how many may wait behind it */
	int64_t byte_ps;  /* how long one takes */
	int64_t free_ps;  /* when the first one will have been sent */
	void *timer;
	int64_t asked_ps; /* when the guest last asked and could only wait; -1: did not */
	void (*send)(unsigned char byte);
	void (*changed)(void);
};

/* Rates that a console can have, bits per second. */
#define LINE_SLOWEST 300
#define LINE_FASTEST 12000000

/* Prepares one; false if QEMU has no timer for it. */
bool line_init(struct line *);

/* Sends what has left the machine by now. To be called before looking at n. */
void line_catch_up(struct line *);

/* The guest hands a byte over; lost where there is no place, as on the chip. */
void line_put(struct line *, unsigned char byte);

/*
 * The guest asked whether there is place, and there is none (or whether all is
 * sent, and it is not). If it asked just before, it does nothing but wait: then
 * the time until the next byte has been sent passes at once. Anything else that
 * it does between two questions makes them no wait: call line_busy then.
 */
void line_asked(struct line *);
void line_busy(struct line *);

#endif

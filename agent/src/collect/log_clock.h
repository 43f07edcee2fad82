/* How the kernel's log counts time: it is another clock than CLOCK_MONOTONIC, some
 * ms apart, and what else is known of a boot bears its times. */
#ifndef LOG_CLOCK_H
#define LOG_CLOCK_H

/* Writes a line into the kernel's log, below what a console shows, reads it back,
 * and notes both times. Nothing where there is no /dev/kmsg. */
void log_clock_note(void);

#endif

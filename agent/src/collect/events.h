/* Forks, execs and exits as the kernel's process connector tells them, each with
 * its time: none is too short to be seen. Linux with CONFIG_PROC_EVENTS, as root. */
#ifndef EVENTS_H
#define EVENTS_H

/* A socket to drain; -1 and errno if this kernel does not tell. */
int events_open(void);

/* Notes what has happened since. */
void events_drain(int fd);

#endif

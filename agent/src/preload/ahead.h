/* How far the kernel reads ahead on a disk. */
#ifndef AHEAD_H
#define AHEAD_H

/* The disk below `place` reads no further ahead than `kib` from now on, for files that
 * are opened from now on, and ext4 reads no inodes ahead. Without a disk of its own, or
 * if that reads less already, nothing changes. It is as before when ahead_restore has been
 * called, or this process and what it forks have ended in whatever way. */
void ahead_limit(const char *place, long kib);
void ahead_restore(void);

#endif

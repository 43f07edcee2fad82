/* Where packs are kept. */
#ifndef PLACE_H
#define PLACE_H

#include "text.h"

#define PLACE "/var/lib/bootlap"

/* Makes the folder, if that can be. */
void place_make(void);

/* The path of something of that name; -1 after a complaint about the name. */
int place_of(struct text *path, const char *name, const char *suffix);

/* From now on the root is that folder, if one is named; -1 after a complaint. For an initramfs
 * that goes on meanwhile: nothing is looked up outside any more, and /proc, /sys and /dev are
 * waited for, which it moves there. */
int place_enter(const char *root);

#endif

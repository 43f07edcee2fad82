/* The file systems that are mounted while an image is made: it holds what the kernel knows of
 * them, so that none of them may change while it is used. */
#ifndef ROOTS_H
#define ROOTS_H

#include "image.h"

/* Notes the disks of those that are mounted; -1 after a complaint if one of them may change, or
 * may be gone when the image is resumed. */
int roots_note(struct image_header *header);

/* Which of the noted ones is not as it was: its name; NULL if all are. */
const char *roots_changed(const struct image_header *header);

#endif

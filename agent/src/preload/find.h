/* Names for what the kernel knows by numbers, and what is cached at this moment. */
#ifndef FIND_H
#define FIND_H

#include "touched.h"

/* Gives traced files their names; counts those that have none. */
void find_names(struct touched *touched);

/* Notes all that is cached of every file system. */
void find_cached(struct touched *touched);

#endif

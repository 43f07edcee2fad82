/* What is on the screen, as a file. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "screen.h"

/* Writes the screen's pixels, raw; -1 and errno if that fails. */
int capture(const struct screen *screen, const char *path);

#endif

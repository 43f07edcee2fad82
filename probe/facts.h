/* What the model found and did, for the run's manifest: one line a fact. */
#ifndef PROBE_FACTS_H
#define PROBE_FACTS_H

#include <stdbool.h>

/* Facts go to this file from now on. */
bool facts_open(const char *path);

/* Writes `SUBJECT TEXT`, unless that is the last that was written. */
__attribute__((format(printf, 2, 3))) void fact(const char *subject, const char *format, ...);

#endif

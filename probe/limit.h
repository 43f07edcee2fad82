/* The moment at which a boot that is not ready is given up, in the guest's own time:
 * so a boot that hangs ends at the same instruction each time. */
#ifndef PROBE_LIMIT_H
#define PROBE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* The machine is complete: a mark is to be recorded at `ns`. */
bool limit_set(int64_t ns);

/* The same for a moment by which each boot is over that will ever be; not if the guest
 * sleeps then for good. */
bool limit_most(int64_t ns);

#endif

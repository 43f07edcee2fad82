/* The kernel's tracing, where it is asked for. The kernel notes the events in buffers
 * of its own, so that nothing of this runs meanwhile; at the end they become files
 * that bootlap and others read, as text. What the kernel was told to trace from its
 * start, long before this, is taken as well, and left as it is. Whoever traces something else
 * with the kernel's own buffer meanwhile may find this in it. */
#ifndef TRACING_H
#define TRACING_H

#include <stddef.h>

/* Begins: `events` are GROUP, GROUP:EVENT, a tracer or `reads` (reads.h), `kernel` or `kernel:INSTANCE`
 * for what the kernel traces already, with commas between; `kib` is the size of each
 * CPU's buffer, `place` where tracefs can be mounted for a moment if it is not yet.
 * What there is not is complained about; -1 if it is all. */
int tracing_start(const char *events, size_t kib, const char *place);

/* Ends it, and writes what was noted beside the archive: ARCHIVE.trace,
 * ARCHIVE.kernel.trace, ARCHIVE.INSTANCE.trace; the first onto the `console` as well, each line
 * behind the word bootlap-trace. */
void tracing_send(const char *archive, int console);

#endif

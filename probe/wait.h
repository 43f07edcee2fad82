/*
 * Polled waits: a guest that reads a timer in a loop until it shows some value.
 *
 * Such a loop is worth nothing but its time. So its end is foretold and the turns
 * between are left out: the clock goes on by as much as they would have taken,
 * and the guest sees the same times as ever, in fewer instructions.
 *
 * What a loop waits for is learned from the guest itself. A loop is a place that
 * reads the timer in turns of equal length. After its first rounds it is known
 * which of the words that the CPU holds (a register, a word on its stack, or two
 * of them added) said each time where the timer would end the loop; from then on
 * that is where it is expected to end. The last turns are run in earnest: if
 * another place reads the timer before them, the loop was foretold wrongly, and
 * the boot is said to be void.
 *
 * Nothing is left out beyond the next of the guest's own timers, and nothing while
 * another CPU has work: so no interrupt comes at another turn than it would.
 *
 * Only timers that an instruction reads are known: the generic timer of Arm, the
 * time of RISC-V, the time-stamp counter of x86. A loop that reads a timer's
 * registers in memory or at a port is run.
 */
#ifndef PROBE_WAIT_H
#define PROBE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu.h"

/* False if waits of this architecture, or of this QEMU, are not known. */
bool wait_watch(const struct plugin_info *);

/* To be called for each translated block; false when no more are of use. */
bool wait_translated(struct plugin_tb *);

/*
 * The guest's clock is read, and says ps: how much it is to be put forward, ps,
 * a whole number of turns. In the CPU's thread.
 */
int64_t wait_asked(int64_t ps);

#endif

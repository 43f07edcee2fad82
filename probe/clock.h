/*
 * The modelled clock: what the guest's virtual time is made of.
 *
 *   time = instructions × the time of one (by stage) + stalls + idling
 *
 * QEMU counts 2^shift ns for an instruction and nothing else. Here its clock is
 * asked for what it counted, and what the model adds is put on top; so timers,
 * idle guests and everything that reads the clock follow by themselves, and two
 * boots remain the same to the last bit.
 */
#ifndef PROBE_CLOCK_H
#define PROBE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define PS 1000 /* in a ns */

/* Which program runs, as far as the probe sees. */
enum stage { STAGE_BOOTLOADER, STAGE_KERNEL, STAGE_USERSPACE, STAGES };

/*
 * Once the machine is there: takes the clock over. shift is that of -icount,
 * ps_per_insn what an instruction takes in each stage. False if this QEMU's
 * clock cannot be taken over; nothing is changed then.
 */
bool clock_take_over(int shift, const int64_t ps_per_insn[STAGES]);

/* The guest goes on to this stage, or is there already. In the CPU's thread. */
void clock_stage(enum stage);

/* The guest's time, ps. In the CPU's thread, where QEMU allows it to be read. */
int64_t clock_ps(void);

/* How long the guest has waited for an interrupt since power-on, ps. As clock_ps. */
int64_t clock_idle_ps(void);

/* The CPU waits until this moment. As clock_ps. */
void clock_stall_until(int64_t ps);

/* The CPU waits for so long. Anywhere in the CPU's thread: the clock is not read. */
void clock_stall(int64_t ps);

/* The CPU whose thread this is, as QEMU knows it; NULL in another thread. */
void *clock_cpu(void);

/* Whether all CPUs but this one (NULL: all) wait for an interrupt. */
bool clock_others_idle(void *cpu);

/* The stage that was reached. */
enum stage clock_reached(void);

/* A timer of the guest's time: allocated once, then armed, ns. */
void *clock_timer(void (*expired)(void *), void *opaque);

#endif

/*
 * Cards in modelled time: a driver that waits for an interrupt waits for the card,
 * and the CPU does other work.
 *
 * QEMU's cards and what they are plugged into move all blocks of a request at once,
 * in the guest's write to a register, and raise the interrupt. Here the interrupt is
 * held back until the board's card would have moved them.
 */
#ifndef PROBE_CARD_H
#define PROBE_CARD_H

#include <stdbool.h>

/*
 * Once the machine is there, and disks take time: finds what cards are plugged into.
 * False if one of them has no interrupt that can be held back, as on PCI, or this
 * QEMU lacks what is needed; nothing is changed then.
 */
bool card_take_over(void);

/* Whether interrupts are held back: the CPU need not wait for a card. */
bool card_interrupts(void);

#endif

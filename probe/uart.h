/* The console's UART at the pace of the chip. */
#ifndef PROBE_UART_H
#define PROBE_UART_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"

/* What is known of the board's UART, whichever it is. */
struct uart_board {
	unsigned baud;     /* where the guest programs no rate that a console can have; 0: no time */
	uint64_t clock_hz; /* what its divisor divides; 0: unknown, baud is the rate */
};

/*
 * Once the machine is there, and its clock taken over: puts the model in front of
 * QEMU's device. False if the console is on no such device, or this QEMU lacks
 * what is needed; nothing is changed then.
 */
bool pl011_take_over(struct uart_board);
bool ns16550_take_over(struct uart_board);

/*
 * Sets what a byte takes: 16 × divisor ÷ 64 clocks for each of its bits, if that
 * is a console's rate. Says so as a fact of this UART.
 */
void uart_set_rate(struct line *, const char *name, struct uart_board, unsigned bits,
		   uint64_t divisor_64ths);

#endif

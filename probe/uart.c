#include "uart.h"

#include "facts.h"

#define PS_PER_S UINT64_C(1000000000000)

void uart_set_rate(struct line *line, const char *name, struct uart_board board, unsigned bits,
		   uint64_t divisor_64ths)
{
	/* clock ÷ (16 × divisor ÷ 64) */
	uint64_t baud = divisor_64ths ? 4 * board.clock_hz / divisor_64ths : 0;
	bool usable = baud >= LINE_SLOWEST && baud <= LINE_FASTEST;
	uint64_t clocks = bits * divisor_64ths; /* of a byte, of 4 × clock */

	if (!board.baud) {
		line->byte_ps = 0; /* whatever the guest programs */
		return;
	}
	if (usable)
		line->byte_ps = (int64_t)(clocks * (PS_PER_S / (4 * board.clock_hz)) +
					  clocks * (PS_PER_S % (4 * board.clock_hz)) /
						  (4 * board.clock_hz));
	else
		line->byte_ps = (int64_t)(bits * PS_PER_S / board.baud);
	fact("uart", "chip=%s baud=%llu bits=%u byte_ps=%lld programmed=%s", name,
	     (unsigned long long)(usable ? baud : board.baud), bits, (long long)line->byte_ps,
	     usable ? "yes" : "no");
}

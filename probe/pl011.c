/*
 * QEMU's PL011 sends a byte the moment it is written. Here its registers lie
 * behind ours: what is written to the data register waits in a FIFO of 16 bytes
 * (or in one place, while FIFOs are off) and reaches QEMU's when it has left the
 * wire. The flags, and the transmit interrupt, tell of our FIFO; all else is
 * QEMU's.
 *
 * Registers and interrupts: Arm, PrimeCell UART (PL011) Technical Reference
 * Manual, DDI 0183.
 */
#include "device.h"
#include "uart.h"

enum reg {
	DR = 0x00,
	FR = 0x18,
	IBRD = 0x24,
	FBRD = 0x28,
	LCR_H = 0x2c,
	IFLS = 0x34,
	IMSC = 0x38,
	RIS = 0x3c,
	MIS = 0x40,
	ICR = 0x44,
};
enum { FR_BUSY = 1 << 3, FR_TXFF = 1 << 5, FR_TXFE = 1 << 7 };
enum { LCR_PEN = 1 << 1, LCR_STP2 = 1 << 3, LCR_FEN = 1 << 4, LCR_WLEN_SHIFT = 5 };
enum { INT_TX = 1 << 5 };

#define FIFO 16

static struct line line;
static struct device device;
static struct uart_board board;
static bool tx_raised;
static unsigned lcr, ibrd, fbrd, ifls, imsc;

static uint64_t raw_interrupts(void)
{
	return (device_read(&device, RIS, 4) & ~(uint64_t)INT_TX) | (tx_raised ? INT_TX : 0);
}

static void set_irq(void)
{
	device_irq(&device, (raw_interrupts() & imsc) != 0);
}

/* How many bytes wait behind the one that is being sent. */
static unsigned waiting(void)
{
	return line.n > 0 ? line.n - 1 : 0;
}

/* At so many waiting bytes the transmit interrupt is raised. */
static unsigned trigger(void)
{
	static const unsigned char levels[8] = {2, 4, 8, 12, 14, 8, 8, 8};

	return line.depth == FIFO ? levels[ifls & 7] : 0;
}

static void send(unsigned char byte)
{
	unsigned left = waiting();

	device_write(&device, DR, byte, 1);
	/* The next one leaves the FIFO for the wire: the level passes the trigger. */
	if (left <= 1 || left - 1 == trigger())
		tx_raised = true;
}

/* The rate and the frame that the guest chose; both count from this write on. */
static void set_rate(void)
{
	unsigned bits = 1 + 5 + (lcr >> LCR_WLEN_SHIFT & 3) + !!(lcr & LCR_PEN) +
			(lcr & LCR_STP2 ? 2 : 1);

	uart_set_rate(&line, "pl011", board, bits, 64 * (uint64_t)ibrd + fbrd);
}

static uint64_t read(void *opaque, uint64_t at, unsigned size)
{
	uint64_t value;

	(void)opaque;
	line_catch_up(&line);
	switch (at) {
	case FR:
		if (line.n > 0)
			line_asked(&line);
		value = device_read(&device, FR, size) & ~(uint64_t)(FR_BUSY | FR_TXFF | FR_TXFE);
		value |= line.n > 0 ? FR_BUSY : 0;
		value |= line.n > line.depth ? FR_TXFF : 0;
		value |= waiting() == 0 ? FR_TXFE : 0;
		return value;
	case RIS:
		value = raw_interrupts();
		break;
	case MIS:
		value = raw_interrupts() & imsc;
		break;
	default:
		value = device_read(&device, at, size);
		if (at == DR)
			set_irq();
	}
	line_busy(&line);
	return value;
}

static void write(void *opaque, uint64_t at, uint64_t value, unsigned size)
{
	(void)opaque;
	line_busy(&line);
	if (at == DR) {
		line_put(&line, (unsigned char)value);
		if (waiting() > trigger())
			tx_raised = false;
		set_irq();
		return;
	}
	line_catch_up(&line);
	device_write(&device, at, value, size);
	switch (at) {
	case IBRD:
		ibrd = value & 0xffff;
		break;
	case FBRD:
		fbrd = value & 0x3f;
		break;
	case LCR_H:
		lcr = (unsigned)value;
		line.depth = lcr & LCR_FEN ? FIFO : 1;
		set_rate();
		break;
	case IFLS:
		ifls = (unsigned)value;
		break;
	case IMSC:
		imsc = (unsigned)value;
		break;
	case ICR:
		if (value & INT_TX)
			tx_raised = false;
		break;
	}
	set_irq();
}

static const struct mmio_ops ops = {
	.read = read,
	.write = write,
	.endianness = LITTLE_ENDIAN_DEVICE,
	.valid = {.min = 1, .max = 4},
	.impl = {.min = 1, .max = 4},
};

bool pl011_take_over(struct uart_board of)
{
	if (!line_init(&line))
		return false;
	device.irq_changed = set_irq;
	if (!device_take_over(&device, "pl011", ON_CHIP, &ops))
		return false;
	board = of;
	ifls = 0x12; /* as after reset: half of the FIFO */
	line.depth = 1;
	line.send = send;
	line.changed = set_irq;
	line_busy(&line);
	lcr = 3 << LCR_WLEN_SHIFT; /* until the guest says other: eight bits */
	set_rate();
	return true;
}

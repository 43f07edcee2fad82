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
#include "pl011.h"

#include <stdlib.h>

#include "clock.h"
#include "facts.h"
#include "line.h"
#include "qemu.h"

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
#define REGION_SIZE 0x1000
#define MEMORY_REGION_SIZE 8192 /* larger than any MemoryRegion */
#define UARTCLK INT64_C(24000000) /* of Arm's virt, vexpress and versatile boards */
#define PS_PER_S INT64_C(1000000000000)

static struct line line;
static void *region;      /* QEMU's registers */
static void *irq_out;
static bool inside;       /* of QEMU's device: its interrupt is looked at after */
static bool tx_raised;
static unsigned lcr, ibrd, fbrd, ifls, imsc;
static unsigned default_baud;

static int log2_of(unsigned size)
{
	return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

static uint64_t theirs(enum reg reg, unsigned size)
{
	uint64_t value = 0;

	inside = true;
	qemu.memory_region_dispatch_read(region, reg, &value, log2_of(size), 0);
	inside = false;
	return value;
}

static void give(enum reg reg, uint64_t value, unsigned size)
{
	inside = true;
	qemu.memory_region_dispatch_write(region, reg, value, log2_of(size), 0);
	inside = false;
}

static uint64_t raw_interrupts(void)
{
	return (theirs(RIS, 4) & ~(uint64_t)INT_TX) | (tx_raised ? INT_TX : 0);
}

static void set_irq(void)
{
	qemu.qemu_set_irq(irq_out, (raw_interrupts() & imsc) != 0);
}

static void their_irq(void *opaque, int n, int level)
{
	(void)opaque, (void)n, (void)level;
	if (!inside)
		set_irq();
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

	give(DR, byte, 1);
	/* The next one leaves the FIFO for the wire: the level passes the trigger. */
	if (left > 0 ? left - 1 == trigger() || left == 1 : line.n == 1)
		tx_raised = true;
}

/* The rate and the frame that the guest chose; both count from this write on. */
static void set_rate(void)
{
	unsigned bits = 1 + 5 + (lcr >> LCR_WLEN_SHIFT & 3) + !!(lcr & LCR_PEN) +
			(lcr & LCR_STP2 ? 2 : 1);
	int64_t divisor = 64 * (int64_t)ibrd + fbrd; /* of UARTCLK ÷ 16, in 64ths */
	int64_t baud = divisor ? 4 * UARTCLK / divisor : 0;
	bool usable = baud >= LINE_SLOWEST && baud <= LINE_FASTEST;

	line.byte_ps = usable ? bits * divisor * (PS_PER_S / (4 * UARTCLK)) +
					bits * divisor * (PS_PER_S % (4 * UARTCLK)) / (4 * UARTCLK)
			      : bits * PS_PER_S / default_baud;
	fact("pl011", "baud=%lld bits=%u programmed=%s", (long long)(usable ? baud : default_baud),
	     bits, usable ? "yes" : "no");
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
		value = theirs(FR, size) & ~(uint64_t)(FR_BUSY | FR_TXFF | FR_TXFE);
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
		value = theirs((enum reg)at, size);
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
	give((enum reg)at, value, size);
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

bool pl011_take_over(unsigned baud)
{
	void *device, *ours;

	if (!qemu.object_resolve_path_type || !qemu.object_property_get_uint ||
	    !qemu.sysbus_mmio_get_region || !qemu.sysbus_get_connected_irq ||
	    !qemu.sysbus_connect_irq || !qemu.qemu_allocate_irq || !qemu.qemu_set_irq ||
	    !qemu.get_system_memory || !qemu.memory_region_init_io ||
	    !qemu.memory_region_add_subregion_overlap || !qemu.memory_region_dispatch_read ||
	    !qemu.memory_region_dispatch_write)
		return false;
	device = qemu.object_resolve_path_type("", "pl011", NULL);
	if (!device)
		return false;
	region = qemu.sysbus_mmio_get_region(device, 0);
	irq_out = qemu.sysbus_get_connected_irq(device, 0);
	ours = calloc(1, MEMORY_REGION_SIZE);
	if (!region || !irq_out || !ours || !line_init(&line))
		return false;
	default_baud = baud;
	ifls = 0x12;
	line.depth = 1;
	line.send = send;
	line.changed = set_irq;
	line_busy(&line);
	lcr = 3 << LCR_WLEN_SHIFT; /* until the guest says other: eight bits */
	set_rate();
	qemu.sysbus_connect_irq(device, 0, qemu.qemu_allocate_irq(their_irq, NULL, 0));
	qemu.memory_region_init_io(ours, NULL, &ops, NULL, "bootlap-pl011", REGION_SIZE);
	qemu.memory_region_add_subregion_overlap(
		qemu.get_system_memory(), qemu.object_property_get_uint(region, "addr", NULL), ours,
		1);
	return true;
}

/*
 * A 16550A, in memory as RISC-V's virt and most SoCs have it, or at a PC's ports,
 * with a transmit FIFO that drains at the line's rate. Its receiver, its modem
 * lines and its loop-back are QEMU's.
 *
 * Registers and interrupts: Texas Instruments, PC16550D data sheet.
 */
#include "device.h"
#include "uart.h"

enum reg { THR, IER, IIR, LCR, MCR, LSR, MSR };
#define FCR IIR /* when written */
#define DLL THR /* while LCR_DLAB is set */
#define DLM IER

enum { IER_THRE = 1 << 1 };
enum { IIR_NONE = 1 << 0, IIR_THRE = 1 << 1, IIR_ID = 0x0f, IIR_MODEM = 0 };
enum { FCR_ENABLE = 1 << 0 }; /* clearing it loses nothing here, as in QEMU */
enum { LCR_STOP = 1 << 2, LCR_PARITY = 1 << 3, LCR_DLAB = 1 << 7 };
enum { MCR_LOOP = 1 << 4 };
enum { LSR_THRE = 1 << 5, LSR_TEMT = 1 << 6 };

#define FIFO 16

static struct line line;
static struct device device;
static struct uart_board board;
static unsigned shift; /* a register lies every 1 << shift bytes */
static bool thre_pending, thre_enabled;
static unsigned lcr, mcr, divisor;

static uint64_t theirs(enum reg reg)
{
	return device_read(&device, (uint64_t)reg << shift, 1);
}

static void give(enum reg reg, uint64_t value)
{
	device_write(&device, (uint64_t)reg << shift, value, 1);
}

static void set_irq(void)
{
	device_irq(&device, device.irq_level || (thre_pending && thre_enabled));
}

static void send(unsigned char byte)
{
	give(THR, byte);
	/* The last one that waited leaves for the wire: there is place. */
	if (line.n <= 2)
		thre_pending = true;
}

/* Whether nothing waits behind the byte that is being sent. */
static bool is_empty(void)
{
	return line.n <= 1;
}

static void set_rate(void)
{
	unsigned bits = 1 + 5 + (lcr & 3) + !!(lcr & LCR_PARITY) + (lcr & LCR_STOP ? 2 : 1);

	uart_set_rate(&line, "16550", board, bits, 64 * (uint64_t)divisor);
}

static uint64_t read_iir(void)
{
	uint64_t value = theirs(IIR);
	bool ours_first = (value & IIR_NONE) || (value & IIR_ID) == IIR_MODEM;

	if (!thre_pending || !thre_enabled || !ours_first)
		return value;
	thre_pending = false;
	set_irq();
	return (value & ~(uint64_t)IIR_ID) | IIR_THRE;
}

static uint64_t read(void *opaque, uint64_t at, unsigned size)
{
	enum reg reg = (enum reg)(at >> shift);
	uint64_t value;

	(void)opaque, (void)size;
	line_catch_up(&line);
	if (reg == LSR) {
		if (line.n > 0)
			line_asked(&line);
		value = theirs(LSR) & ~(uint64_t)(LSR_THRE | LSR_TEMT);
		return value | (is_empty() ? LSR_THRE : 0) | (line.n == 0 ? LSR_TEMT : 0);
	}
	line_busy(&line);
	if (reg == IIR)
		return read_iir();
	value = theirs(reg);
	if (reg == IER && !(lcr & LCR_DLAB))
		value |= thre_enabled ? IER_THRE : 0;
	set_irq();
	return value;
}

/* The rest of what is written, which QEMU's device hears of, too. */
static void control(enum reg reg, uint64_t value)
{
	switch (reg) {
	case IER:
		/* Switched on while there is place: that is an interrupt at once. */
		if ((value & IER_THRE) && !thre_enabled && is_empty())
			thre_pending = true;
		thre_enabled = value & IER_THRE;
		value &= ~(uint64_t)IER_THRE;
		break;
	case FCR:
		line.depth = value & FCR_ENABLE ? FIFO : 1;
		break;
	case LCR:
		lcr = (unsigned)value;
		break;
	case MCR:
		mcr = (unsigned)value;
		break;
	default:
		break;
	}
	give(reg, value);
	if (reg == LCR)
		set_rate();
}

static void write(void *opaque, uint64_t at, uint64_t value, unsigned size)
{
	enum reg reg = (enum reg)(at >> shift);

	(void)opaque, (void)size;
	line_busy(&line);
	line_catch_up(&line);
	if ((lcr & LCR_DLAB) && (reg == DLL || reg == DLM)) {
		divisor = reg == DLL ? (divisor & 0xff00) | (value & 0xff)
				     : (divisor & 0xff) | (value & 0xff) << 8;
		give(reg, value);
	} else if (reg == THR && !(mcr & MCR_LOOP)) {
		line_put(&line, (unsigned char)value);
		thre_pending = is_empty();
	} else {
		control(reg, value);
	}
	set_irq();
}

static const struct mmio_ops ops = {
	.read = read,
	.write = write,
	.endianness = LITTLE_ENDIAN_DEVICE,
	.valid = {.min = 1, .max = 8},
	.impl = {.min = 1, .max = 8},
};

bool ns16550_take_over(struct uart_board of)
{
	void *object;

	if (!line_init(&line))
		return false;
	device.irq_changed = set_irq;
	object = device_take_over(&device, "serial-mm", ON_CHIP, &ops);
	if (object)
		shift = (unsigned)device_property(object, "regshift");
	else if (!device_take_over(&device, "isa-serial", ON_ISA, &ops))
		return false;
	board = of;
	line.depth = 1;
	line.send = send;
	line.changed = set_irq;
	line_busy(&line);
	lcr = 3; /* until the guest says other: eight bits */
	set_rate();
	return true;
}

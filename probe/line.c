#include "line.h"

#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "qemu.h"
#include "stamps.h"

/* A loop that polls asks at least so often while one byte is sent. */
#define POLLS 8

static void arm(struct line *line)
{
	/* Not before: rounded up. */
	qemu.timer_mod_ns(line->timer, (line->free_ps + PS - 1) / PS);
}

void line_catch_up(struct line *line)
{
	int64_t now = clock_ps();
	bool sent = false;

	while (line->n > 0 && line->free_ps <= now) {
		stamps_at(line->free_ps / PS);
		line->send(line->bytes[0]);
		stamps_now();
		memmove(line->bytes, line->bytes + 1, --line->n);
		line->free_ps += line->byte_ps;
		sent = true;
	}
	if (!sent)
		return;
	/* The interrupt first: with a CPU asleep, arming jumps to the next byte. */
	line->changed();
	if (line->n > 0)
		arm(line);
	else
		qemu.timer_del(line->timer);
}

static void expired(void *opaque)
{
	line_catch_up(opaque);
}

bool line_init(struct line *line)
{
	line->timer = clock_timer(expired, line);
	return line->timer != NULL;
}

void line_put(struct line *line, unsigned char byte)
{
	line_busy(line);
	line_catch_up(line);
	if (line->n > line->depth)
		return;
	line->bytes[line->n++] = byte;
	if (line->n == 1) {
		line->free_ps = clock_ps() + line->byte_ps;
		arm(line);
	}
}

void line_asked(struct line *line)
{
	int64_t now = clock_ps();
	bool again = line->asked_ps >= 0 && now - line->asked_ps < line->byte_ps / POLLS;

	line->asked_ps = now;
	if (!again || line->n == 0)
		return;
	clock_stall_until(line->free_ps);
	line->asked_ps = line->free_ps;
	line_catch_up(line);
}

void line_busy(struct line *line)
{
	line->asked_ps = -1;
}

#include "ran.h"

#include <string.h>
#include <sys/mman.h>

#include "archive.h"

/* A thread has the place that its number's last bits are: they are given one after the other,
 * and a boot has far fewer. Who comes to a place that is taken is not counted at all. */
#define PLACES (1u << 16)

struct thread {
	uint64_t ns;
	uint32_t number;
	uint32_t begun; /* how many of that number */
};

/* Who runs on a CPU, 0 if nobody does or nobody knows. */
struct running {
	uint64_t since;
	uint32_t thread;
};

static struct thread *threads;
static struct running *running; /* by CPU */
static size_t cpu_count;

int ran_open(size_t cpus)
{
	size_t bytes = PLACES * sizeof *threads + cpus * sizeof *running;
	void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (place == MAP_FAILED)
		return -1;
	threads = place;
	running = (void *)(threads + PLACES);
	cpu_count = cpus;
	return 0;
}

/* Its place, or NULL if it has none. */
static struct thread *thread_of(uint32_t number)
{
	struct thread *thread = &threads[number % PLACES];

	if (!number)
		return NULL;
	if (!thread->number)
		thread->number = number;
	return thread->number == number ? thread : NULL;
}

/* It may have run already: another CPU tells of that. */
void ran_fork(uint32_t number)
{
	struct thread *thread = thread_of(number);

	if (thread)
		thread->begun++;
}

void ran_switch(size_t cpu, uint32_t to, uint64_t time)
{
	struct running *on = &running[cpu];
	struct thread *thread = thread_of(on->thread);

	/* Told twice. */
	if (to == on->thread)
		return;
	if (thread && time > on->since)
		thread->ns += time - on->since;
	*on = (struct running){ time, to };
}

void ran_lost(void)
{
	memset(threads, 0, PLACES * sizeof *threads);
	memset(running, 0, cpu_count * sizeof *running);
}

void ran_note(uint64_t now)
{
	for (size_t cpu = 0; cpu < cpu_count; cpu++)
		ran_switch(cpu, 0, now);
	for (size_t place = 0; place < PLACES; place++) {
		const struct thread *thread = &threads[place];

		/* Of two of one number this is the sum. */
		if (thread->begun != 1)
			continue;
		record_begin(WIRE_RAN);
		record_u64(now);
		record_u32(thread->number);
		record_u64(thread->ns);
		record_end();
	}
}

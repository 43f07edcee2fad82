/* A disk that is as slow as it is told to be: a file whose reads really wait. For
 * scripts/table-preload; it needs root, /dev/fuse and nothing else.
 *
 *   disk_model IMAGE PLACE MODEL [SCALE]
 *
 * shows IMAGE at PLACE, an empty file that it is mounted over, read-only, until it is
 * unmounted. MODEL is hdd, sd or emmc. One request at a time:
 *
 *   hdd   0.1 ms + seek + bytes / 100 MB/s; a seek takes 3 to 12 ms with the root of
 *         the distance, and nothing where the last request ended
 *   sd    0.7 ms + bytes / 20 MB/s
 *   emmc  0.25 ms + bytes / 90 MB/s
 *
 * SCALE is how many times slower all of that is (1), so that the machine it runs on
 * counts for less. The time that the copying takes is part of the wait. At the end and
 * at a SIGUSR1 it prints requests, bytes and the time that the model was busy since. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct model {
	const char *name;
	double latency_ms, seek_from_ms, seek_to_ms, bytes_a_ms;
};

static const struct model MODELS[] = {
	{ "hdd", 0.1, 3, 12, 100e3 },
	{ "sd", 0.7, 0, 0, 20e3 },
	{ "emmc", 0.25, 0, 0, 90e3 },
	{ "none", 0, 0, 0, 1e12 },
};

#define LONGEST (1u << 20)

static const struct model *model;
static int image, device;
static uint64_t size, head;
static unsigned long requests, bytes;
static double busy_ms, scale = 1, ended;
static _Alignas(4096) unsigned char in[LONGEST + 4096];
static _Alignas(4096) unsigned char data[LONGEST];

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double cost_ms(uint64_t at, uint64_t length)
{
	double ms = model->latency_ms + (double)length / model->bytes_a_ms;
	double distance = (double)(at > head ? at - head : head - at) / (double)size;

	if (distance > 0)
		ms += model->seek_from_ms +
		      (model->seek_to_ms - model->seek_from_ms) * sqrt(distance);
	return ms * scale;
}

static void wait_until(double ms)
{
	double left = ms - now_ms();

	if (left > 0) {
		struct timespec pause = { .tv_sec = (time_t)(left / 1e3),
					  .tv_nsec = (long)(fmod(left, 1e3) * 1e6) };

		nanosleep(&pause, NULL);
	}
}

static void answer(const struct fuse_in_header *to, int error, const void *body, size_t len)
{
	static unsigned char out[sizeof(struct fuse_out_header) + LONGEST];
	struct fuse_out_header out_head = { .len = (uint32_t)(sizeof out_head + len),
					    .error = -error, .unique = to->unique };

	memcpy(out, &out_head, sizeof out_head);
	memcpy(out + sizeof out_head, body, len);
	if (write(device, out, out_head.len) < 0 && errno != ENOENT)
		perror("disk_model: answer");
}

static void read_some(const struct fuse_in_header *request, const struct fuse_read_in *read)
{
	double start = now_ms(), ms;
	uint32_t length = read->size < LONGEST ? read->size : LONGEST;
	ssize_t n;

	if (read->offset >= size)
		length = 0;
	else if (length > size - read->offset)
		length = (uint32_t)(size - read->offset);
	ms = cost_ms(read->offset, length);
	n = pread(image, data, length, (off_t)read->offset);
	head = read->offset + length;
	requests++;
	bytes += length;
	busy_ms += ms;
	if (getenv("DISK_MODEL_LOG"))
		fprintf(stderr, "%12lu %7u %6.2f after %6.2f\n", (unsigned long)read->offset,
			length, ms, start - ended);
	wait_until(start + ms);
	ended = now_ms();
	answer(request, n < 0 ? errno : 0, data, n < 0 ? 0 : (size_t)n);
}

static void serve(const struct fuse_in_header *request)
{
	const void *body = request + 1;
	struct fuse_attr attr = { .ino = 1, .size = size, .blocks = size / 512,
				  .mode = S_IFREG | 0600, .nlink = 1, .blksize = 4096 };
	struct fuse_attr_out attr_out = { .attr_valid = 1000, .attr = attr };
	struct fuse_open_out open_out = { .open_flags = FOPEN_DIRECT_IO };
	struct fuse_init_out init_out = { .major = FUSE_KERNEL_VERSION, .minor = 31,
					  .max_readahead = LONGEST, .flags = FUSE_MAX_PAGES,
					  .max_background = 64, .congestion_threshold = 48,
					  .max_write = LONGEST, .time_gran = 1,
					  .max_pages = LONGEST / 4096 };

	switch (request->opcode) {
	case FUSE_INIT:
		answer(request, 0, &init_out, sizeof init_out);
		break;
	case FUSE_GETATTR:
		answer(request, 0, &attr_out, sizeof attr_out);
		break;
	case FUSE_OPEN:
		answer(request, 0, &open_out, sizeof open_out);
		break;
	case FUSE_READ:
		read_some(request, body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
	case FUSE_FSYNC:
		answer(request, 0, NULL, 0);
		break;
	default:
		answer(request, ENOSYS, NULL, 0);
	}
}

static void report(int signal)
{
	(void)signal;
	fprintf(stderr, "%lu requests, %lu bytes, busy %.0f ms\n", requests, bytes, busy_ms);
	requests = bytes = 0;
	busy_ms = 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = report, .sa_flags = SA_RESTART };
	char options[160];
	struct stat stat;

	for (size_t i = 0; argc >= 4 && i < sizeof MODELS / sizeof *MODELS; i++)
		if (!strcmp(MODELS[i].name, argv[3]))
			model = &MODELS[i];
	if (argc > 4)
		scale = atof(argv[4]);
	if (!model) {
		fprintf(stderr, "usage: disk_model IMAGE PLACE hdd|sd|emmc|none [SCALE]\n");
		return 2;
	}
	image = open(argv[1], O_RDONLY);
	device = open("/dev/fuse", O_RDWR);
	if (image < 0 || device < 0 || fstat(image, &stat)) {
		perror("disk_model");
		return 1;
	}
	size = (uint64_t)stat.st_size;
	snprintf(options, sizeof options,
		 "fd=%d,rootmode=100600,user_id=0,group_id=0,max_read=%u", device, LONGEST);
	if (mount("disk_model", argv[2], "fuse", MS_NODEV | MS_NOSUID, options)) {
		perror("disk_model: mount");
		return 1;
	}
	prctl(PR_SET_TIMERSLACK, 1);
	sigaction(SIGUSR1, &action, NULL);
	/* The image is in memory from the first request on. */
	posix_fadvise(image, 0, 0, POSIX_FADV_WILLNEED);
	for (;;) {
		ssize_t n = read(device, in, sizeof in);

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			break;
		serve((const struct fuse_in_header *)in);
	}
	report(0);
	return 0;
}

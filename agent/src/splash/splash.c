/* splash: a picture on the screen, as early as there is one.
 *
 * What takes time was done before: the file holds the screen's own pixels, and all
 * that is left is one copy of them. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent.h"
#include "capture.h"
#include "collect/now.h"
#include "collect/ready.h"
#include "screen.h"
#include "text.h"

#define FB_MAJOR 29

/* How often a picture that stays looks whether another has its place, and how long it
 * takes that back from the kernel's console. */
#define LOOK_MS 100
#define RETAKE_MS 1000

struct asked {
	const char *device, *until_mark;
	int64_t wait_ms;
	int animate;
};

static void sleep_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

static uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

static void mark(char *name)
{
	char *arguments[] = { "mark", name, NULL };

	mark_command.run(2, arguments);
}

static int is_drm(const struct screen *screen)
{
	return screen->buffer != 0;
}

/* Waits for the device, if asked to, and maps it. */
static int open_screen(struct screen *screen, const struct asked *asked, int for_reading)
{
	const char *wrong;
	struct stat stat;
	uint64_t until = now_ms() + (uint64_t)asked->wait_ms;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
		complain(0, "splash knows only the pixels of little-endian machines; "
			    "make WITH=\"preload rc\" leaves it out", NULL);
		return -1;
	}
	do
		screen->fd = open(asked->device, O_RDWR | O_CLOEXEC);
	while (screen->fd < 0 && now_ms() < until && (sleep_ms(1), 1));
	if (screen->fd < 0 || fstat(screen->fd, &stat)) {
		complain(errno, "cannot open ", asked->device, NULL);
		return -1;
	}
	wrong = S_ISCHR(stat.st_mode) && major(stat.st_rdev) != FB_MAJOR
			? drm_open(screen, for_reading)
			: fbdev_open(screen, for_reading);
	if (wrong)
		complain(errno, asked->device, " ", wrong, NULL);
	return wrong ? -1 : 0;
}

static const char *flush(struct screen *screen)
{
	if (is_drm(screen))
		return drm_flush(screen);
	fbdev_flush(screen);
	return NULL;
}

/* As many bytes as there are, up to `len`; -1 and errno if they cannot be read. */
static ssize_t read_up_to(int fd, unsigned char *bytes, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(fd, bytes + have, len - have);

		if (n < 0)
			return -1;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* What is no file, as a UBI volume, a partition or a pipe: of these only the picture says how
 * long it is. */
static void *read_device(int fd, size_t *len)
{
	unsigned char head[SPLASH_HEAD_LEN];
	unsigned char *bytes;
	ssize_t have = read_up_to(fd, head, sizeof head), more;
	size_t all = sizeof head;

	if (have < 0)
		return MAP_FAILED;
	if (have == sizeof head && !memcmp(head, SPLASH_MAGIC, SPLASH_MAGIC_LEN) &&
	    little_u32(head + SPLASH_TOTAL_AT) > all)
		all = little_u32(head + SPLASH_TOTAL_AT);
	bytes = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);
	if (bytes == MAP_FAILED)
		return MAP_FAILED;
	memcpy(bytes, head, (size_t)have);
	more = read_up_to(fd, bytes + have, all - (size_t)have);
	*len = (size_t)have + (more < 0 ? 0 : (size_t)more);
	return more < 0 ? MAP_FAILED : bytes;
}

static int read_splash(struct splash *splash, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *wrong = NULL;
	void *bytes = MAP_FAILED;
	struct stat stat;
	size_t len = 1;

	if (fd >= 0 && !fstat(fd, &stat)) {
		len = (size_t)stat.st_size;
		/* Read ahead and mapped at once: each page is needed. */
		bytes = S_ISREG(stat.st_mode)
				? mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0)
				: read_device(fd, &len);
		close(fd);
	}
	if (bytes == MAP_FAILED || !len) {
		complain(len ? errno : 0, "cannot read ", path,
			 len ? NULL : ": it is empty; make it again", NULL);
		return -1;
	}
	wrong = splash_read(splash, bytes, len);
	if (wrong)
		complain(0, path, ": ", wrong, NULL);
	return wrong ? -1 : 0;
}

/* Shows frame after frame, over and over, or what stands there, until the mark comes
 * or another program has the screen. */
static void stay(struct screen *screen, const struct splash *splash, const struct asked *asked)
{
	int x = centred(screen->width, splash->picture.width);
	int y = centred(screen->height, splash->picture.height);
	const unsigned char *at = splash->frames;
	uint64_t until = now_ms() + RETAKE_MS;
	unsigned next = 0;
	struct options over = { .until_mark = asked->until_mark };

	ready_open(&over, 0);
	for (;;) {
		struct frame frame = { .ms = LOOK_MS };

		ready_look();
		if (ready_why() || (is_drm(screen) && drm_is_taken(screen, now_ms() < until)))
			return;
		if (asked->animate) {
			if (frame_read(&frame, splash, &at) ||
			    draw(screen, &frame.picture, x + (int)frame.x, y + (int)frame.y)) {
				complain(0, "the animation ends with a frame that is damaged",
					 NULL);
				return;
			}
			flush(screen);
			if (++next == splash->frame_count) {
				next = 0;
				at = splash->frames;
			}
		}
		/* No file makes this process busy. */
		sleep_ms(frame.ms < 10 ? 10 : frame.ms);
	}
}

/* The caller goes on, -1 if that fails; what stays is a process of its own. */
static int go_on(struct screen *screen, const struct splash *splash, const struct asked *asked,
		 char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		complain(errno, "the picture cannot stay", NULL);
	if (pid)
		return pid < 0 ? -1 : 0;
	setsid();
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	/* systemd leaves such processes alone where the initramfs ends. */
	name[0] = '@';
	stay(screen, splash, asked);
	_exit(EXIT_OK);
}

static int show(const char *path, const struct asked *asked, char *name)
{
	struct screen screen = { 0 };
	struct splash splash;
	struct picture *picture = &splash.picture;
	const char *wrong;
	int damaged;

	if (read_splash(&splash, path))
		return EXIT_FAILED;
	if (asked->animate && !splash.frame_count) {
		complain(0, path, " has no animation", NULL);
		return EXIT_FAILED;
	}
	screen.format = picture->format;
	if (open_screen(&screen, asked, 0))
		return EXIT_FAILED;
	damaged = draw(&screen, picture, centred(screen.width, picture->width),
		       centred(screen.height, picture->height));
	wrong = flush(&screen);
	if (wrong) {
		complain(errno, asked->device, " ", wrong, NULL);
		return EXIT_FAILED;
	}
	mark("first-pixel");
	if (damaged)
		complain(0, path, " is damaged: not all of it is shown", NULL);
	else
		mark("picture-complete");
	if (is_drm(&screen))
		drm_release(&screen);
	if ((is_drm(&screen) || (asked->animate && !damaged)) &&
	    go_on(&screen, &splash, asked, name))
		return EXIT_FAILED;
	return damaged ? EXIT_FAILED : EXIT_OK;
}

static int capture_screen(const char *path, const struct asked *asked)
{
	struct screen screen = { 0 };

	if (open_screen(&screen, asked, 1))
		return EXIT_FAILED;
	if (capture(&screen, path)) {
		complain(errno, "cannot write ", path, NULL);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* Whether it is the option; takes its value. */
static int option(const char *name, char ***at, const char **value)
{
	size_t len = strlen(name);

	if (strncmp(**at, name, len))
		return 0;
	if ((**at)[len] == '=')
		*value = **at + len + 1;
	else if (!(**at)[len])
		*value = (*at)[1] ? *++*at : "";
	else
		return 0;
	return 1;
}

static int run(int argc, char **argv)
{
	struct asked asked = { .device = "/dev/fb0" };
	const char *file = NULL, *wait = "0";
	int showing;

	if (argc < 3 || ((showing = !strcmp(argv[1], "show")), !showing && strcmp(argv[1], "capture"))) {
		complain(0, "splash needs what to do, e.g. bootlap-agent splash show FILE", NULL);
		return EXIT_USAGE;
	}
	for (char **at = argv + 2; *at; at++) {
		if (option("--device", &at, &asked.device) || option("--wait-ms", &at, &wait) ||
		    (showing && option("--until-mark", &at, &asked.until_mark)))
			continue;
		if (showing && !strcmp(*at, "--animate")) {
			asked.animate = 1;
		} else if (file || **at == '-') {
			complain(0, "splash does not know what to do with ", *at,
				 "; bootlap-agent splash --help says what it does", NULL);
			return EXIT_USAGE;
		} else {
			file = *at;
		}
	}
	if (!*asked.device || (asked.until_mark && !*asked.until_mark)) {
		complain(0, *asked.device ? "--until-mark" : "--device", " needs a value", NULL);
		return EXIT_USAGE;
	}
	asked.wait_ms = number_in(wait, 3600 * 1000);
	if (!file || asked.wait_ms < 0) {
		complain(0, file ? "--wait-ms needs a number" : "splash needs a file", NULL);
		return EXIT_USAGE;
	}
	return showing ? show(file, &asked, argv[-1]) : capture_screen(file, &asked);
}

const struct command splash_command = {
	.name = "splash",
	.summary = "show a picture as early as possible, or capture the screen",
	.help = "usage: bootlap-agent splash show FILE [OPTION]...\n"
		"       bootlap-agent splash capture FILE [OPTION]...\n\n"
		"Shows a picture that `bootlap splash` made, in the middle of the screen, and\n"
		"writes the marks first-pixel and picture-complete; or writes what is there to\n"
		"a file, for `bootlap splash`.\n\n"
		"  --device PATH      a framebuffer (/dev/fb0) or /dev/dri/card0\n"
		"  --wait-ms N        wait so long for the device (0)\n"
		"  --animate          play the file's animation, in the background\n"
		"  --until-mark NAME  until bootlap-agent mark NAME\n",
	.run = run,
};

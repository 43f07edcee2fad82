#include "options.h"

#include <stddef.h>
#include <string.h>

#include "text.h"

#define INTERVAL_MS 200
#define BUFFER_KIB 2048

struct option {
	const char *name;
	size_t at;    /* in struct options */
	int64_t most; /* of a number; 0 for texts, and FLAG */
};

/* Without a value. */
#define FLAG (-1)
#define FLAG_OPTION(name, field) { name, offsetof(struct options, field), FLAG }
#define TEXT_OPTION(name, field) { name, offsetof(struct options, field), 0 }
#define NUMBER_OPTION(name, field, most) { name, offsetof(struct options, field), most }

static const struct option OPTIONS[] = {
	FLAG_OPTION("console", console),
	FLAG_OPTION("cpu-time", cpu_time),
	TEXT_OPTION("until-mark", until_mark),
	TEXT_OPTION("until-file", until_file),
	TEXT_OPTION("until-line", until_line),
	TEXT_OPTION("until-process", until_process),
	TEXT_OPTION("until-unit", until_unit),
	TEXT_OPTION("trace", trace),
	TEXT_OPTION("out", out),
	TEXT_OPTION("init", init),
	NUMBER_OPTION("interval-ms", interval_ms, 60 * 1000),
	NUMBER_OPTION("for-s", for_s, 24 * 3600),
	NUMBER_OPTION("after-ms", after_ms, 3600 * 1000),
	/* bootlap reads no larger archives. */
	NUMBER_OPTION("buffer-kib", buffer_kib, 1 << 17),
};
#define COUNT (sizeof OPTIONS / sizeof *OPTIONS)

void options_default(struct options *options)
{
	*options = (struct options){ .out = "/var/log/bootlap-agent.archive",
				     .interval_ms = INTERVAL_MS,
				     .for_s = 120,
				     .buffer_kib = BUFFER_KIB };
}

/* Sets one without a value; 0 if there is none of that name. */
static int set_flag(struct options *options, const char *name)
{
	static const int yes = 1;

	for (size_t i = 0; i < COUNT; i++)
		if (OPTIONS[i].most == FLAG && !strcmp(OPTIONS[i].name, name)) {
			memcpy((char *)options + OPTIONS[i].at, &yes, sizeof yes);
			return 1;
		}
	return 0;
}

/* 0, or what is wrong with the value. */
static const char *set(struct options *options, const char *name, const char *value)
{
	for (size_t i = 0; i < COUNT; i++) {
		const struct option *option = &OPTIONS[i];
		char *field = (char *)options + option->at;

		if (strcmp(option->name, name))
			continue;
		if (option->most == FLAG)
			return "takes no value";
		if (!option->most) {
			if (!*value)
				return "needs a value";
			memcpy(field, &value, sizeof value);
			return NULL;
		}
		int64_t number = number_in(value, option->most);

		if (number < 0)
			return "needs a number that is not too large";
		memcpy(field, &number, sizeof number);
		return NULL;
	}
	return "is not known; bootlap-agent collect --help lists the options";
}

/* Values that are too small become the default. */
static const char *check(struct options *options)
{
	const char *wrong = NULL;

	if (options->buffer_kib < 16) {
		options->buffer_kib = BUFFER_KIB;
		wrong = "buffer-kib is at least 16";
	}
	if (!options->interval_ms) {
		options->interval_ms = INTERVAL_MS;
		wrong = "interval-ms is at least 1";
	}
	return wrong;
}

int options_read(struct options *options, int argc, char **argv)
{
	const char *wrong;

	for (int i = 1; i < argc; i++) {
		char name[32];
		const char *value = strchr(argv[i], '=');
		size_t len = value ? (size_t)(value - argv[i]) : strlen(argv[i]);

		if (strncmp(argv[i], "--", 2) || len - 2 >= sizeof name) {
			complain(0, "collect does not know what to do with ", argv[i],
				 "; bootlap-agent collect --help lists the options", NULL);
			return -1;
		}
		memcpy(name, argv[i] + 2, len - 2);
		name[len - 2] = 0;
		if (!value && set_flag(options, name))
			continue;
		if (!value && i + 1 < argc)
			value = argv[++i];
		else
			value = value ? value + 1 : "";
		wrong = set(options, name, value);
		if (wrong) {
			complain(0, "--", name, " ", wrong, NULL);
			return -1;
		}
	}
	wrong = check(options);
	if (wrong)
		complain(0, wrong, NULL);
	return wrong ? -1 : 0;
}

static const char PREFIX[] = "bootlap.";

int options_is_of_kernel(const char *word)
{
	return !strncmp(word, PREFIX, sizeof PREFIX - 1);
}

/* The next word, which ends at a blank that is not in quotes; these go, as the kernel
 * takes them away. NULL at the end. */
static char *next_word(char **rest)
{
	char *word = *rest, *to = word, *at = word;
	int in_quotes = 0;

	if (!*at)
		return NULL;
	for (; *at && (in_quotes || !strchr(" \t\n", *at)); at++) {
		if (*at == '"')
			in_quotes = !in_quotes;
		else
			*to++ = *at;
	}
	*rest = at + (*at != 0);
	*to = 0;
	return word;
}

/* A word without quotes; those of others are passed over. It is cut at its `=`. */
void options_of_word(struct options *options, char *word)
{
	char *value;
	const char *wrong;

	if (!options_is_of_kernel(word))
		return;
	value = strchr(word, '=');
	if (value)
		*value++ = 0;
	word += sizeof PREFIX - 1;
	if ((!value || !strcmp(value, "1")) && set_flag(options, word))
		return;
	wrong = set(options, word, value ? value : "");
	if (wrong)
		complain(0, PREFIX, word, " ", wrong, NULL);
}

void options_of_kernel(struct options *options, char *cmdline)
{
	char *rest = cmdline, *word;

	while ((word = next_word(&rest)))
		options_of_word(options, word);
}

void options_mend(struct options *options)
{
	const char *small;

	while ((small = check(options)))
		complain(0, PREFIX, small, NULL);
}

/* How a collection is asked for: on the command line, or for init= on the
 * kernel's, as bootlap.NAME=VALUE. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

struct options {
	const char *until_mark, *until_file, *until_line, *until_process, *until_unit;
	const char *trace; /* what the kernel notes */
	const char *out;  /* the archive */
	const char *init; /* what PID 1 becomes */
	int console;      /* the archive goes onto the console, too */
	int cpu_time;     /* of each thread, to the ns */
	int64_t interval_ms, for_s, after_ms, buffer_kib;
};

/* Fills in the defaults. */
void options_default(struct options *options);

/* Reads the arguments; -1 after a complaint. */
int options_read(struct options *options, int argc, char **argv);

/* Whether a word of the kernel's command line is one of ours. */
int options_is_of_kernel(const char *word);

/* Takes what the kernel's command line says; mistakes are complained about and
 * left out, since a boot goes on. `cmdline` is cut into words and kept. */
void options_of_kernel(struct options *options, char *cmdline);

/* The same of one word, that somebody gave to init. */
void options_of_word(struct options *options, char *word);

/* Values that are too small become the default, after a complaint. */
void options_mend(struct options *options);

#endif

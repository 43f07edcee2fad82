/* What all commands of bootlap-agent share: they are listed in main.c. */
#ifndef AGENT_H
#define AGENT_H

#define AGENT_VERSION "0.1.0"

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* it was said why */
	EXIT_USAGE = 2,  /* the command line is wrong */
};

struct command {
	const char *name;
	const char *summary; /* half a line */
	const char *help;    /* what --help prints */
	/* Its arguments, the name first; gives the exit code. */
	int (*run)(int argc, char **argv);
};

extern const struct command collect_command, mark_command, rc_command, splash_command;
extern const struct command record_command, replay_command, snapshot_command, diff_command;
extern const struct command start_command, stop_command, preload_command;
extern const struct command layout_command, hibernate_command, resume_command, overlay_command;

#endif

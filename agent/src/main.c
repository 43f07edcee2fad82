/* bootlap-agent: measures and speeds up a boot from inside the device.
 *
 * One program, one command each; with `init=` in front of a kernel's command
 * line it has no arguments and collects, then becomes the real init. */

#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "text.h"

/* The Makefile says with which. */
static const struct command *const COMMANDS[] = {
	&collect_command, &mark_command,
#ifdef WITH_preload
	&record_command, &replay_command, &start_command, &stop_command,
	&preload_command, &snapshot_command, &diff_command,
#endif
#ifdef WITH_layout
	&layout_command,
#endif
#ifdef WITH_splash
	&splash_command,
#endif
#ifdef WITH_rc
	&rc_command,
#endif
#ifdef WITH_resume
	&hibernate_command, &resume_command, &overlay_command,
#endif
};
#define COMMAND_COUNT (sizeof COMMANDS / sizeof *COMMANDS)

static void print(const char *string)
{
	write_all(STDOUT_FILENO, string, strlen(string));
}

static void help(void)
{
	print("bootlap-agent " AGENT_VERSION ": what bootlap does on the device itself\n\n"
	      "usage: bootlap-agent COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		TEXT(line, 128);

		put(&line, "  ");
		put(&line, COMMANDS[i]->name);
		do
			put(&line, " ");
		while (line.len < 12);
		put(&line, COMMANDS[i]->summary);
		put(&line, "\n");
		print(line.bytes);
	}
	print("\nbootlap-agent COMMAND --help says what each does; without a command, as\n"
	      "init=/path/to/bootlap-agent, it collects and goes on with /sbin/init.\n");
}

static int is_help(const char *argument)
{
	return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;

	if (getpid() == 1)
		return collect_command.run(argc, argv);
	if (argc < 2 || is_help(argv[1]) || !strcmp(argv[1], "help")) {
		help();
		return argc < 2 ? EXIT_USAGE : EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		print("bootlap-agent " AGENT_VERSION "\n");
		return EXIT_OK;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(argv[1], COMMANDS[i]->name))
			command = COMMANDS[i];
	if (!command) {
		complain(0, "there is no command ", argv[1], "; bootlap-agent --help lists them",
			 NULL);
		return EXIT_USAGE;
	}
	for (int i = 2; i < argc; i++)
		if (is_help(argv[i])) {
			print(command->help);
			return EXIT_OK;
		}
	return command->run(argc - 1, argv + 1);
}

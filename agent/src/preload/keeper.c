#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

/* 1, or 0 once nobody has the other end of the pipe any more. */
static int wait_for(int pipe)
{
	char byte;
	long n;

	while ((n = read(pipe, &byte, 1)) < 0 && errno == EINTR)
		;
	return n > 0;
}

static void keep(void (*set)(void *), void (*put_back)(void *), void *what, int told, int until)
{
	setsid();
	for (int i = 1; i < 32; i++)
		signal(i, SIG_IGN);
	set(what);
	write_all(told, "", 1);
	wait_for(until);
	put_back(what);
	_exit(0);
}

int keeper_start(struct keeper *keeper, void (*set)(void *), void (*put_back)(void *), void *what)
{
	int told[2], until[2];

	*keeper = (struct keeper){ 0 };
	if (pipe2(told, O_CLOEXEC))
		return -1;
	if (pipe2(until, O_CLOEXEC)) {
		close(told[0]);
		close(told[1]);
		return -1;
	}
	keeper->child = fork();
	if (!keeper->child) {
		close(told[0]);
		close(until[1]);
		keep(set, put_back, what, told[1], until[0]);
	}
	close(told[1]);
	close(until[0]);
	if (keeper->child < 0) {
		close(told[0]);
		close(until[1]);
		keeper->child = 0;
		return -1;
	}
	wait_for(told[0]);
	keeper->told = told[0];
	keeper->held = until[1];
	return 0;
}

void keeper_end(struct keeper *keeper)
{
	if (!keeper->child)
		return;
	close(keeper->held);
	while (wait_for(keeper->told))
		;
	close(keeper->told);
	/* It may be another's child by now. */
	while (waitpid(keeper->child, NULL, 0) < 0 && errno == EINTR)
		;
	keeper->child = 0;
}

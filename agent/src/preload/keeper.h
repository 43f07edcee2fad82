/* What somebody sets for a while: a child sets it, and puts it back when it is asked to or
 * when this process and what it has forked have ended, in whatever way. */
#ifndef KEEPER_H
#define KEEPER_H

#include <sys/types.h>

struct keeper {
	pid_t child; /* 0 if there is none */
	int held;    /* as long as we live */
	int told;    /* whether it is set, and nothing more once it is put back */
};

/* Has it set; then `what` was given to `set`. -1 if there can be no child: nothing is set. */
int keeper_start(struct keeper *keeper, void (*set)(void *), void (*put_back)(void *), void *what);

/* Has it put back, and waits for that. */
void keeper_end(struct keeper *keeper);

#endif

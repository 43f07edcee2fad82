/* Carries a plan out. */
#ifndef RUN_H
#define RUN_H

#include "plan.h"

struct run_options {
	const char *action;  /* what each script is told: start */
	int64_t jobs;        /* at most so many at a time; 0: what the CPUs can take */
	int64_t timeout_s;   /* after that a script counts as ended; 0: never */
};

/* Runs all of it; gives how many scripts did not go well, after complaints. */
size_t run_plan(const struct plan *plan, const struct run_options *options);

#endif

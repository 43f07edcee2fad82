/* What starts when there is no plan: a folder's scripts. */
#ifndef FOLDER_H
#define FOLDER_H

#include "plan.h"

/* A plan that starts the scripts of `dir` one after the other: S??* in the order
 * of their names, else those whose header has them started at some runlevel, which
 * halt and reboot have not. `names` is kept. -1 and errno if it cannot be read. */
int plan_of_folder(struct plan *plan, const char *dir, char *names, size_t room);

#endif

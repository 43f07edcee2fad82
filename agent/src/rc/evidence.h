/* What is told of scripts while they run: lines in the kernel's log, which bootlap
 * shows as spans, and a file with exact times. */
#ifndef EVIDENCE_H
#define EVIDENCE_H

/* Begins the file at `path`, if there is to be one. */
void evidence_open(const char *path);

void evidence_start(const char *name);
/* `status`: the exit code, 128 and the signal, or a word. */
void evidence_end(const char *name, const char *status);

#endif

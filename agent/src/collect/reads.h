/* System calls that open, look for and read files, as events of the kernel's tracing: not
 * by ptrace, which stops a program at each of them. bootlap makes of them which program
 * did what with which file. */
#ifndef READS_H
#define READS_H

/* Has them noted in the instance of tracefs; -1 and errno if the kernel tells of no calls
 * (CONFIG_FTRACE_SYSCALLS). */
int reads_start(int tracefs, int instance);

/* Ends it, once the instance is gone, or notes nothing more if it is tracefs' `own` buffer. */
void reads_stop(int tracefs, int own);

#endif

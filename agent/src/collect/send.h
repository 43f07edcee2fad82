/* Where the archive goes. */
#ifndef SEND_H
#define SEND_H

/* Writes it to a file, or where that cannot be, below /run or /tmp; gives the
 * path that it has, NULL after a complaint. */
const char *send_file(const char *path);

/* Prints it on the console, in lines that bootlap finds in a log again; -1 after
 * a complaint. */
int send_console(void);

#endif

/* Reading /proc and its like: whole small files, and numbers in them. */
#ifndef PROCFS_H
#define PROCFS_H

#include <stddef.h>
#include <stdint.h>

/* Opens /proc for all that follows; -1 and errno if it is not mounted. */
int procfs_open(void);
/* The same where nothing is mounted yet: afterwards it is mounted nowhere, and
 * init finds its mount points as they were. */
int procfs_open_alone(void);
/* Its folder; -1 if it was not opened. */
int procfs(void);

/* A file's bytes and a NUL, as far as they fit into `room`; gives the length, 0 if
 * there is nothing. `path` begins at the folder `dir`, or with a slash. */
size_t procfs_read(int dir, const char *path, char *bytes, size_t room);
/* The same of a file that the kernel gives as a whole, with one call less. */
size_t procfs_read_record(int dir, const char *path, char *bytes, size_t room);

/* Writes a value into one that is there; -1 and errno. */
int procfs_write(int dir, const char *path, const char *value);

/* The number at *at after blanks, and *at moved behind it; 0 if there is none. */
uint64_t procfs_number(const char **at);

/* The rest of the line behind `key`, which begins a line; NULL if there is none. */
const char *procfs_line(const char *text, const char *key);

#endif

/* File systems of the kernel before anything has mounted them. */
#ifndef MOUNTED_H
#define MOUNTED_H

/* The folder of a file system of `type`, mounted at `place` for the moment of opening
 * it: nobody else finds it there. -1 and errno. */
int mounted_nowhere(const char *type, const char *place);

#endif

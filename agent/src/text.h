/* Texts put together in a buffer of fixed size: what does not fit is left out,
 * and there is always a NUL at the end. stdio would double the program's size. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes;
	size_t room; /* of bytes, the NUL included */
	size_t len;  /* without the NUL */
};

#define TEXT(name, size)        \
	char name##_bytes[size]; \
	struct text name = text_in(name##_bytes, sizeof name##_bytes)

struct text text_in(char *bytes, size_t room);
void put(struct text *text, const char *string);
void put_bytes(struct text *text, const char *bytes, size_t len);
void put_number(struct text *text, uint64_t number);

/* Prints the strings up to a NULL on standard error, behind the program's name,
 * and the reason `error` (an errno value, or 0) behind them. */
void complain(int error, ...);

/* Writes all of it, as long as that goes on; -1 and errno if it does not. */
int write_all(int fd, const void *bytes, size_t len);

/* The number that `string` is, up to `most`; -1 if it is none. */
int64_t number_in(const char *string, int64_t most);

#endif

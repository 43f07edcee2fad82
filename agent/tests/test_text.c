/* text.c: bounded texts, and numbers in them. */

#include "check.h"
#include "text.h"

static void what_does_not_fit_is_left_out(void)
{
	TEXT(text, 8);

	put(&text, "abc");
	put_number(&text, 120);
	CHECK_TEXT(text.bytes, "abc120");
	put(&text, "defg");
	CHECK_TEXT(text.bytes, "abc120d");
	CHECK(text.len == 7);
	put(&text, "h");
	CHECK_TEXT(text.bytes, "abc120d");
}

static void numbers_have_a_limit(void)
{
	TEXT(text, 32);

	put_number(&text, 0);
	put(&text, " ");
	put_number(&text, UINT64_MAX);
	CHECK_TEXT(text.bytes, "0 18446744073709551615");
	CHECK(number_in("0", 9) == 0);
	CHECK(number_in("9", 9) == 9);
	CHECK(number_in("10", 9) == -1);
	CHECK(number_in("5", 3) == -1);
	CHECK(number_in("", 9) == -1);
	CHECK(number_in("1x", 9) == -1);
	CHECK(number_in("-1", 9) == -1);
	CHECK(number_in("99999999999999999999999", INT64_MAX) == -1);
}

int main(void)
{
	what_does_not_fit_is_left_out();
	numbers_have_a_limit();
	return 0;
}

#include "plan.h"

#include <string.h>

#include "crc32.h"
#include "text.h"

static const char DAMAGED[] = "is damaged";

/* Lines of text, the last one complete. */
static int is_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)bytes[i] < ' ' && bytes[i] != '\n') || bytes[i] == 127)
			return 0;
	return len && bytes[len - 1] == '\n';
}

/* What is in front of the next `end`, which becomes a NUL; the rest in *at, NULL
 * behind the last one. */
static char *cut(char **at, char end)
{
	char *part = *at, *found = part ? strchr(part, end) : NULL;

	if (found)
		*found = 0;
	*at = found ? found + 1 : NULL;
	return part;
}

static int crc_of_hex(const char *hex, uint32_t *crc)
{
	static const char DIGITS[] = "0123456789abcdef";

	*crc = 0;
	for (int i = 0; i < 8; i++) {
		const char *digit = hex[i] ? strchr(DIGITS, hex[i]) : NULL;

		if (!digit)
			return -1;
		*crc = *crc << 4 | (uint32_t)(digit - DIGITS);
	}
	return hex[8] ? -1 : 0;
}

/* A file's name, and nothing that leads elsewhere. */
static int is_name(const char *name)
{
	return name && *name && *name != '.' && strlen(name) <= PLAN_NAME && !strchr(name, '/');
}

static const char *parse_script(struct plan *plan, char *rest)
{
	struct script *script = &plan->scripts[plan->count];
	const char *word;

	if (plan->count == PLAN_SCRIPTS)
		return "has too many scripts";
	*script = (struct script){ .name = cut(&rest, ' '), .first = (uint16_t)plan->edge_count };
	if (!is_name(script->name))
		return DAMAGED;
	word = cut(&rest, ' ');
	if (word && !strcmp(word, "alone")) {
		script->alone = 1;
		word = cut(&rest, ' ');
	}
	if (word && (strcmp(word, "after") || !rest))
		return DAMAGED;
	while ((word = cut(&rest, ' '))) {
		int64_t before = number_in(word, PLAN_SCRIPTS);

		if (before < 0 || (size_t)before >= plan->count)
			return DAMAGED;
		if (plan->edge_count == PLAN_EDGES)
			return "waits too much";
		plan->edges[plan->edge_count++] = (uint16_t)before;
		script->waits++;
	}
	plan->count++;
	return NULL;
}

/* "COUNT CRC" */
static int is_end(char *rest, size_t count, uint32_t crc)
{
	const char *number = cut(&rest, ' ');
	uint32_t said;

	return rest && !crc_of_hex(rest, &said) && said == crc &&
	       number_in(number, PLAN_SCRIPTS) == (int64_t)count;
}

const char *plan_parse(struct plan *plan, char *bytes, size_t len)
{
	char *rest = bytes, *word, *line;
	size_t last = len;
	uint32_t crc;

	*plan = (struct plan){ .dir = NULL };
	bytes[len] = 0;
	if (!is_text(bytes, len))
		return DAMAGED;
	/* The last line begins behind the last newline but one. */
	bytes[len - 1] = 0;
	for (last = len - 1; last && bytes[last - 1] != '\n'; last--)
		;
	crc = crc32(0, bytes, last);
	if (strcmp(cut(&rest, '\n'), "bootlap-rc 1"))
		return "is not a plan that this version knows";
	line = cut(&rest, '\n');
	word = cut(&line, ' ');
	if (!word || strcmp(word, "dir") || !line || *line != '/' || strlen(line) > PLAN_DIR)
		return DAMAGED;
	plan->dir = line;
	while ((line = cut(&rest, '\n')) && rest) {
		const char *wrong = DAMAGED;

		word = cut(&line, ' ');
		if (!strcmp(word, "script") && line)
			wrong = parse_script(plan, line);
		if (wrong)
			return wrong;
	}
	word = cut(&line, ' ');
	if (!word || strcmp(word, "end") || !line || !is_end(line, plan->count, crc))
		return DAMAGED;
	return NULL;
}

/* Plans of rc: as they are, and with an end that fits, so that the checksum hides
 * nothing. */

#include <stdint.h>

#include "check.h"
#include "crc32.h"
#include "rc/plan.h"

static struct plan plan;
static char bytes[PLAN_BYTES + 64];

static void check(const char *wrong)
{
	if (plan.dir)
		CHECK(plan.dir[0] == '/' && strlen(plan.dir) <= PLAN_DIR);
	if (wrong)
		return;
	CHECK(plan.count <= PLAN_SCRIPTS && plan.edge_count <= PLAN_EDGES);
	for (size_t i = 0; i < plan.count; i++) {
		const struct script *script = &plan.scripts[i];

		CHECK(*script->name && !strchr(script->name, '/'));
		CHECK((size_t)script->first + script->waits <= plan.edge_count);
		for (size_t k = 0; k < script->waits; k++)
			CHECK(plan.edges[script->first + k] < i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	size_t scripts = 0;

	if (len > PLAN_BYTES)
		return 0;
	memcpy(bytes, input, len);
	check(plan_parse(&plan, bytes, len));
	memcpy(bytes, input, len);
	bytes[len] = 0;
	for (const char *at = bytes; (at = strstr(at, "\nscript ")); at++)
		scripts++;
	len += (size_t)snprintf(bytes + len, 64, "end %zu %08x\n", scripts, crc32(0, bytes, len));
	check(plan_parse(&plan, bytes, len));
	return 0;
}

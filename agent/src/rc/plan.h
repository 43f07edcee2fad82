/* What `bootlap rc` works out on the host and the agent carries out: which scripts
 * start, and what each waits for (crates/wire/src/plan.rs writes it).
 *
 *	bootlap-rc 1
 *	dir /etc/rcS.d
 *	script S01hostname.sh
 *	script S02mountall.sh alone after 0
 *	script S03network after 0 1
 *	end 3 1c291ca3
 *
 * One blank between words, a newline behind each line. `alone`: nothing runs
 * beside it. Numbers behind `after` are those of scripts above, from 0 on, so a
 * plan has no cycle. The order of lines is that in which scripts that could all
 * start are started. The last line has the number of scripts, and the CRC-32 (IEEE)
 * of all bytes in front of that line, in 8 hexadecimal digits. */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#define PLAN_SCRIPTS 512
#define PLAN_EDGES 16384
#define PLAN_NAME 127
#define PLAN_DIR 511
#define PLAN_BYTES (256 << 10)

struct script {
	const char *name;     /* in the plan's bytes */
	uint16_t first, waits; /* the edges that are its own */
	uint8_t alone;
};

struct plan {
	const char *dir; /* NULL as long as it is not known */
	size_t count, edge_count;
	struct script scripts[PLAN_SCRIPTS];
	uint16_t edges[PLAN_EDGES]; /* scripts that are waited for */
};

/* Reads the plan in `bytes`, which are cut into words and kept, and have room for
 * a NUL behind. NULL, or what is wrong with it; `dir` may be known then. */
const char *plan_parse(struct plan *plan, char *bytes, size_t len);

#endif

#include "accounts.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "archive.h"
#include "netlink.h"
#include "now.h"
#include "procfs.h"
#include "ready.h"
#include "rings.h"
#include "text.h"

static uint16_t family;

struct request {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	char attribute[64];
};

/* Sends a command with one string. */
static int ask(int fd, uint16_t to, uint8_t command, uint16_t name, const char *value)
{
	struct request request = { .head = { .nlmsg_type = to, .nlmsg_flags = NLM_F_REQUEST },
				   .generic = { .cmd = command, .version = 1 } };
	struct nlattr *attribute = (struct nlattr *)request.attribute;
	size_t len = strlen(value) + 1;

	if (NLA_HDRLEN + len > sizeof request.attribute) {
		errno = E2BIG;
		return -1;
	}
	attribute->nla_type = name;
	attribute->nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy(request.attribute + NLA_HDRLEN, value, len);
	request.head.nlmsg_len =
		(uint32_t)NLMSG_LENGTH(GENL_HDRLEN + NLA_ALIGN(NLA_HDRLEN + len));
	return send(fd, &request, request.head.nlmsg_len, 0) < 0 ? -1 : 0;
}

/* The attribute `name` between `at` and `end`, its length in *len; NULL if there
 * is none. */
static const char *attribute_in(const char *at, const char *end, unsigned name, size_t *len)
{
	while ((size_t)(end - at) >= sizeof(struct nlattr)) {
		struct nlattr head;

		memcpy(&head, at, sizeof head);
		if (head.nla_len < NLA_HDRLEN || head.nla_len > end - at)
			return NULL;
		if ((head.nla_type & NLA_TYPE_MASK) == name) {
			*len = head.nla_len - NLA_HDRLEN;
			return at + NLA_HDRLEN;
		}
		if ((size_t)NLA_ALIGN(head.nla_len) > (size_t)(end - at))
			return NULL;
		at += NLA_ALIGN(head.nla_len);
	}
	return NULL;
}

static const char *attributes(const struct nlmsghdr *head, const char **end)
{
	*end = (const char *)head + head->nlmsg_len;
	return (const char *)NLMSG_DATA(head) + GENL_HDRLEN;
}

static void answer(const struct nlmsghdr *head, size_t len)
{
	const char *end, *at = attributes(head, &end), *id;
	size_t id_len;

	if (head->nlmsg_type != GENL_ID_CTRL || len < GENL_HDRLEN)
		return;
	id = attribute_in(at, end, CTRL_ATTR_FAMILY_ID, &id_len);
	if (id && id_len >= sizeof family)
		memcpy(&family, id, sizeof family);
}

/* The CPUs as the kernel lists them, e.g. 0-3, or `count` of them. */
static void list_cpus(char *list, size_t room, size_t count)
{
	size_t len = procfs_read_record(-1, "/sys/devices/system/cpu/possible", list, room);
	struct text text;

	if (len > 1) {
		list[len - 1] = 0; /* the line's end */
		return;
	}
	/* Before /sys is mounted. */
	text = text_in(list, room);
	put(&text, "0");
	if (count > 1) {
		put(&text, "-");
		put_number(&text, count - 1);
	}
}

int accounts_open(size_t cpu_count)
{
	char list[48];
	int fd = netlink_open(NETLINK_GENERIC, 0);

	if (fd < 0)
		return -1;
	family = 0;
	/* The kernel answers before it returns. */
	if (!ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		 TASKSTATS_GENL_NAME))
		netlink_drain(fd, answer, LOST_ACCOUNTS);
	list_cpus(list, sizeof list, cpu_count);
	if (family && !ask(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK,
			   list))
		return fd;
	close(fd);
	errno = ENOSYS;
	return -1;
}

/* How long it ran, us. Most kernels count ac_utime and ac_stime in ticks that happen to
 * meet it: nine of ten short processes escape them, and the tenth has a whole tick. The
 * scheduler's own sum is exact, but was last added to when it slept, or at a tick: of a
 * process that spins for a ms it has nothing. Who never slept ran whenever it did not
 * wait for a CPU, but for the moment between its birth and its first wait: if its parent
 * loses the CPU just then, no kernel tells, so no more than a tick is added. Of either, the
 * ticks tell what was in the kernel. */
#define TICK_US 10000

static void cpu_time(const struct taskstats *stats, uint64_t *user_us, uint64_t *system_us)
{
	uint64_t ticks = stats->ac_utime + stats->ac_stime;
	uint64_t ran = stats->cpu_run_virtual_total / 1000;
	uint64_t waited = stats->cpu_delay_total / 1000;

	*user_us = stats->ac_utime;
	*system_us = stats->ac_stime;
	/* Without CONFIG_TASK_DELAY_ACCT neither is told. */
	if (!stats->cpu_count)
		return;
	if (!stats->nvcsw && stats->ac_etime > ran + waited) {
		uint64_t missing = stats->ac_etime - waited - ran;

		ran += missing < TICK_US ? missing : TICK_US;
	}
	*system_us = ticks ? (uint64_t)((double)ran * (double)stats->ac_stime / (double)ticks) : 0;
	*user_us = ran - *system_us;
}

static void note(const struct taskstats *stats)
{
	size_t name_len = strnlen(stats->ac_comm, sizeof stats->ac_comm);
	uint64_t now = now_ns(), user_us, system_us;

	cpu_time(stats, &user_us, &system_us);
	record_begin(WIRE_ACCOUNT);
	record_u64(now);
	record_u32(stats->ac_pid);
	record_u32(stats->ac_ppid);
	record_u64(stats->ac_etime);
	record_u64(user_us);
	record_u64(system_us);
	record_u64(stats->cpu_delay_total);
	record_u64(stats->blkio_delay_total);
	record_u64(stats->read_bytes);
	record_u64(stats->write_bytes);
	record_u32(stats->ac_exitcode);
	record_bytes(stats->ac_comm, name_len);
	record_end();
	/* It may have been too short to be asked for its name, and only rings tell that. */
	if (!rings_cpus())
		ready_process(stats->ac_comm, name_len, now - stats->ac_etime * 1000);
}

static void message(const struct nlmsghdr *head, size_t len)
{
	const char *end, *at = attributes(head, &end), *of_pid, *found;
	size_t of_pid_len, found_len;
	struct taskstats stats;

	if (head->nlmsg_type != family || len < GENL_HDRLEN)
		return;
	/* A group's sum follows that of its last thread: the threads are enough. */
	of_pid = attribute_in(at, end, TASKSTATS_TYPE_AGGR_PID, &of_pid_len);
	if (!of_pid)
		return;
	found = attribute_in(of_pid, of_pid + of_pid_len, TASKSTATS_TYPE_STATS, &found_len);
	if (!found)
		return;
	/* Older kernels tell less. */
	memset(&stats, 0, sizeof stats);
	memcpy(&stats, found, found_len < sizeof stats ? found_len : sizeof stats);
	note(&stats);
}

void accounts_drain(int fd)
{
	netlink_drain(fd, message, LOST_ACCOUNTS);
}

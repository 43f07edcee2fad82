/*
 * What the probe uses of QEMU: exported symbols, looked up by name.
 *
 * The distributions ship no headers of QEMU, and its structures change from
 * version to version: so there are functions and opaque pointers here, and the
 * few structures that are passed by value.
 */
#ifndef PROBE_QEMU_H
#define PROBE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define CLOCK_VIRTUAL 1
#define ATTR_EXTERNAL 1 /* of a timer that idle time does not wait for */
#define NO_REGISTERS 0 /* that a callback would look at */

typedef uint64_t plugin_id;
struct plugin_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
};
struct plugin_tb;
struct plugin_insn;
struct plugin_hwaddr;
typedef void (*tb_trans_cb)(plugin_id, struct plugin_tb *);
typedef void (*mem_cb)(unsigned cpu, uint32_t access, uint64_t address, void *opaque);
typedef void (*exec_cb)(unsigned cpu, void *opaque);
typedef void (*timer_cb)(void *opaque);
typedef int (*object_cb)(void *object, void *opaque);
typedef void (*irq_handler)(void *opaque, int n, int level);

/* GLib's GByteArray. */
struct byte_array {
	unsigned char *bytes;
	unsigned len;
};

struct notifier {
	void (*notify)(struct notifier *, void *data);
	void *node[2];
};

enum endianness { LITTLE_ENDIAN_DEVICE = 2 };

struct mmio_access {
	unsigned min, max;
	bool unaligned;
};
struct mmio_valid {
	unsigned min, max;
	bool unaligned;
	void *accepts;
};
struct mmio_ops {
	uint64_t (*read)(void *opaque, uint64_t at, unsigned size);
	void (*write)(void *opaque, uint64_t at, uint64_t value, unsigned size);
	void *read_with_attrs, *write_with_attrs;
	enum endianness endianness;
	struct mmio_valid valid;
	struct mmio_access impl;
};

/* Every symbol that is used: QEMU's name, what it returns, what it takes. */
#define QEMU_SYMBOLS(X)                                                                   \
	X(int64_t, qemu_clock_get_ns, (int clock))                                        \
	X(int64_t, icount_get, (void))                                                    \
	X(int64_t, icount_get_raw, (void))                                                \
	X(void, qemu_plugin_register_vcpu_tb_trans_cb, (plugin_id, tb_trans_cb))          \
	X(uint64_t, qemu_plugin_tb_vaddr, (const struct plugin_tb *))                     \
	X(size_t, qemu_plugin_tb_n_insns, (const struct plugin_tb *))                     \
	X(struct plugin_insn *, qemu_plugin_tb_get_insn, (const struct plugin_tb *, size_t)) \
	X(size_t, qemu_plugin_insn_size, (const struct plugin_insn *))                    \
	X(void *, qemu_plugin_insn_data, (void))                                          \
	X(uint64_t, qemu_plugin_insn_vaddr, (const struct plugin_insn *))                 \
	X(void, qemu_plugin_register_vcpu_insn_exec_cb, (struct plugin_insn *, exec_cb,   \
							 int registers, void *opaque))    \
	X(void, qemu_plugin_register_vcpu_mem_cb, (struct plugin_insn *, mem_cb, int registers, \
						   int access, void *opaque))             \
	X(void, qemu_plugin_register_vcpu_tb_exec_cb, (struct plugin_tb *, exec_cb, int registers, \
						       void *opaque))                     \
	X(void *, qemu_plugin_insn_haddr, (const struct plugin_insn *))                   \
	X(struct plugin_hwaddr *, qemu_plugin_get_hwaddr, (uint32_t access, uint64_t address)) \
	X(bool, qemu_plugin_mem_is_store, (uint32_t access))                              \
	X(bool, qemu_plugin_hwaddr_is_io, (const struct plugin_hwaddr *))                 \
	X(uint64_t, qemu_plugin_hwaddr_phys_addr, (const struct plugin_hwaddr *))         \
	X(void *, memory_region_from_host, (void *host, uint64_t *offset))                \
	X(void *, object_class_by_name, (const char *))                                   \
	X(void *, object_get_root, (void))                                                \
	X(int, object_child_foreach_recursive, (void *object, object_cb, void *opaque))   \
	X(void *, object_dynamic_cast, (void *object, const char *type))                  \
	X(char *, object_get_canonical_path, (void *object))                              \
	X(void *, object_resolve_path, (const char *path, bool *ambiguous))               \
	X(void *, qdev_get_parent_bus, (void *device))                                    \
	X(char *, object_property_get_str, (void *object, const char *name, void *error)) \
	X(void *, object_property_get_link, (void *object, const char *name, void *error)) \
	X(uint64_t, object_property_get_uint, (void *object, const char *name, void *error)) \
	X(void, qemu_add_machine_init_done_notifier, (struct notifier *))                 \
	X(void, cpu_exit, (void *cpu))                                                    \
	X(void, timer_init_full, (void *timer, void *group, int clock, int scale,         \
				  int attributes, timer_cb, void *opaque))                \
	X(void, timer_mod_ns, (void *timer, int64_t ns))                                  \
	X(void, timer_del, (void *timer))                                                 \
	X(void, memory_region_init_io, (void *region, void *owner, const struct mmio_ops *, \
					void *opaque, const char *name, uint64_t size))   \
	X(void, memory_region_add_subregion_overlap, (void *into, uint64_t at, void *region, \
						      int priority))                      \
	X(int, memory_region_dispatch_read, (void *region, uint64_t at, uint64_t *value,  \
					     int op, uint64_t attributes))                \
	X(int, memory_region_dispatch_write, (void *region, uint64_t at, uint64_t value,  \
					      int op, uint64_t attributes))               \
	X(void *, sysbus_mmio_get_region, (void *device, int n))                          \
	X(void *, sysbus_get_connected_irq, (void *device, int n))                        \
	X(void, sysbus_connect_irq, (void *device, int n, void *irq))                     \
	X(void *, qemu_allocate_irq, (irq_handler, void *opaque, int n))                  \
	X(void, qemu_set_irq, (void *irq, int level))                                     \
	X(void *, isa_get_irq, (void *device, unsigned n))                                \
	X(void, qemu_irq_intercept_in, (void **irq, irq_handler, int n))                  \
	X(int64_t, qemu_clock_deadline_ns_all, (int clock, int attributes))               \
	X(void *, qemu_get_cpu, (int))                                                    \
	X(bool, qemu_in_vcpu_thread, (void))                                              \
	X(bool, qemu_in_coroutine, (void))                                                \
	X(void *, qemu_get_aio_context, (void))                                           \
	X(int64_t, aio_compute_timeout, (void *context))                                  \
	X(bool, aio_poll, (void *context, bool blocking))                                 \
	X(void, blk_drain_all, (void))                                                    \
	X(bool, cpu_thread_is_idle, (void *cpu))                                          \
	X(int, cpu_memory_rw_debug, (void *cpu, uint64_t at, void *bytes, size_t n, bool write)) \
	X(unsigned, gt_cntfrq_period_ns, (void *cpu))                                     \
	X(struct byte_array *, g_byte_array_new, (void))                                  \
	X(struct byte_array *, g_byte_array_set_size, (struct byte_array *, unsigned))

struct qemu {
#define X(result, name, arguments) result(*name) arguments;
	QEMU_SYMBOLS(X)
#undef X
	/* The big lock, which has another name since QEMU 9. */
	void (*lock)(const char *file, int line);
	void (*unlock)(void);
	bool (*locked)(void);     /* by this thread */
	void *main_loop_tlg;  /* the main loop's timers */
	int api;              /* the plugin API's version */
};

/* NULL where this QEMU has no such symbol. */
extern struct qemu qemu;

/* Looks all of them up, in a QEMU of this plugin API. */
void qemu_find(int api);

/* An instruction's code, as far as it fits: how long it is, or 0 if this QEMU does
 * not tell. */
size_t qemu_insn_code(const struct plugin_insn *, unsigned char *code, size_t room);

/* The same for its first four bytes as a little-endian number. */
size_t qemu_insn_word(const struct plugin_insn *, uint32_t *word);

#endif

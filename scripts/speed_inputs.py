"""Evidence of any size for scripts/table-source-speed.

Each function writes one file in the form that the real program prints, after
the recordings in tests/fixtures. The same call writes the same bytes: numbers
come from a counter, never from a clock or a random source.
"""

import tarfile
from io import BytesIO
from itertools import cycle, islice

LINUX = (
    "Linux version 6.1.0-50-cloud-amd64 (debian-kernel@lists.debian.org) "
    "(gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) "
    "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-07-02)"
)
COMMAND_LINE = "Command line: console=ttyS0 initcall_debug log_buf_len=16M quiet"
# What initcalls are called, and what else the kernel says between them.
STEMS = """cpu_stop kobject_uevent pci_driver irq_sysfs netns bdi_class clocksource
acpi_pci_root regulator serial8250 virtio_blk ext4_fs crypto_algapi of_platform
usb_storage i2c_dev hid_generic tcp_cubic inet6 rtc_hctosys""".split()
SAID = """pci 0000:00:01.0: [8086:7000] type 00 class 0x060100
clocksource: tsc-early: mask: 0xffffffffffffffff max_cycles: 0x2b3e459bf4c
NET: Registered PF_INET6 protocol family
virtio_blk virtio1: [vda] 4194304 512-byte logical blocks (2.15 GB/2.00 GiB)
usbcore: registered new interface driver usb-storage
ACPI: PCI Interrupt Link [LNKA] enabled at IRQ 10""".split("\n")


def numbers(seed):
    """Endless numbers below 2^31, always the same ones."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) % 2**31
        yield state >> 8


def write(path, lines):
    """Writes the lines, and says how many there were."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        lines = iter(lines)
        while block := list(islice(lines, 20_000)):
            out.write("\n".join(block) + "\n")
            count += len(block)
    return count


def kernel(initcalls, names):
    """Kernel log lines of `initcalls` initcalls with so many names: `(µs, text)`."""
    yield 0, LINUX
    yield 0, COMMAND_LINE
    us = 100_000
    rand = numbers(1)
    for i, stem, said in zip(range(initcalls), cycle(STEMS), cycle(SAID)):
        name = f"{stem}_{i % names}_init+0x0/0x{16 * (i % 40 + 1):x}"
        took = next(rand) % 300 if i % 97 else 2_000 + next(rand) % 9_000
        yield us, f"calling  {name} @ 1"
        if i % 4 == 0:
            yield us + took // 2, said
        us += took + 3
        yield us, f"initcall {name} returned 0 after {took} usecs"
        us += 11
    yield us, "Run /sbin/init as init process"


def dmesg(path, initcalls, names=None):
    """`dmesg` with initcall_debug; no name comes twice, or there are `names`."""
    lines = kernel(initcalls, names or initcalls)
    return write(path, (f"[{us // 1_000_000:5}.{us % 1_000_000:06}] {t}" for us, t in lines))


def dmesg_of_lines(path, lines):
    """The same with about so many lines, and the names of a large kernel: when
    a log is that long, modules were loaded and probed again and again."""
    return dmesg(path, lines * 4 // 9, 3_942)


def grabserial(path, initcalls):
    """`grabserial -t`: elapsed and delta before each console line."""

    def stamped():
        before = 0
        for us, text in kernel(initcalls, 3_942):
            host = us + 500_000 + us // 50
            yield (
                f"[{host / 1e6:.6f} {(host - before) / 1e6:.6f}] "
                f"[{us // 1_000_000:5}.{us % 1_000_000:06}] {text}"
            )
            before = host

    return write(path, stamped())


# Calls of a program's start, with how long they take in µs.
CALLS = [
    ('openat(AT_FDCWD, "/lib/x86_64-linux-gnu/lib{0}.so.6", O_RDONLY|O_CLOEXEC) = 3', 14),
    (
        "read(3, \"\\177ELF\\2\\1\\1\\3\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0>\\0\\1\\0\\0\\0\\20t\\2\\0\\0\\0\\0\\0\"..., "
        "832) = 832",
        11,
    ),
    ('newfstatat(3, "", {{st_mode=S_IFREG|0755, st_size=1926232, ...}}, AT_EMPTY_PATH) = 0', 10),
    ("mmap(NULL, 1974096, PROT_READ, MAP_PRIVATE|MAP_DENYWRITE, 3, 0) = 0x7fa2f4a0b000", 16),
    (
        "mmap(0x7fa2f4a31000, 1400832, PROT_READ|PROT_EXEC, "
        "MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE, 3, 0x26000) = 0x7fa2f4a31000",
        22,
    ),
    ("close(3)        = 0", 10),
    (
        'access("/etc/ld.so.{0}", R_OK) = -1 ENOENT (No such file or directory)',
        12,
    ),
    ("mprotect(0x7fa2f4bda000, 16384, PROT_READ) = 0", 18),
    (
        "rt_sigaction(SIGCHLD, {{sa_handler=0x555ac5ba7dc0, sa_mask=~[RTMIN RT_1], "
        "sa_flags=SA_RESTORER, sa_restorer=0x7fa2f4a47050}}, NULL, 8) = 0",
        10,
    ),
    ("getpid()        = {1}", 9),
    ("pread64(4, \"{0} of a database\\1\\0\\0\\0\\0\"..., 4096, 16384) = 4096", 35),
    ("sendto(5, \"\\1\\0\\0\\0\\0\\0\\0\\0\", 8, MSG_NOSIGNAL, NULL, 0) = 8", 28),
    ("futex(0x7f51a9c3e910, FUTEX_WAKE_PRIVATE, 1) = 1", 12),
]
PROCESSES = 24


def strace(path, size):
    """`strace -f -ttt -T -o FILE` of about `size` bytes."""

    def lines():
        written = 0
        us = 1_795_269_346_788_985
        first = 23_545
        pids = [first + i for i in range(PROCESSES)]
        waiting = [False] * PROCESSES
        rand = numbers(2)

        def stamp():
            return f"{us // 1_000_000}.{us % 1_000_000:06}"

        yield f'{first} {stamp()} execve("/sbin/init", ["/sbin/init"], 0x7fff564ec4d0 /* 3 vars */) = 0 <0.000319>'
        for pid in pids[1:]:
            us += 400
            yield f"{first} {stamp()} fork() = {pid} <0.000080>"
            us += 200
            yield (
                f'{pid} {stamp()} execve("/usr/sbin/daemon{pid}", ["daemon{pid}", "-f"], '
                "0x55d8b0c6b000 /* 5 vars */) = 0 <0.000250>"
            )
        i = 0
        while written < size:
            r = next(rand)
            # Runs of one process's lines, as schedulers make them.
            who = (i // 7 + r % 3 // 2) % PROCESSES
            pid = pids[who]
            if waiting[who]:
                line = f"{pid} {stamp()} <... read resumed>\"\\1\\0\\0\\0\"..., 4096) = 4 <{r % 40_000 / 1e6:.6f}>"
                waiting[who] = False
            elif r % 31 == 0:
                line = f"{pid} {stamp()} read({r % 9 + 3},  <unfinished ...>"
                waiting[who] = True
            else:
                text, took = CALLS[i % len(CALLS)]
                # One call in a thousand is slow.
                took = 3_000 + r % 9_000 if r % 1_009 == 0 else took + r % 9
                line = f"{pid} {stamp()} {text.format(STEMS[r % 20], pid)} <0.{took:06}>"
            written += len(line) + 1
            us += 20 + r % 60
            i += 1
            yield line
        for pid in reversed(pids):
            us += 100
            yield f"{pid} {stamp()} exit_group(0) = ?"
            us += 20
            yield f"{pid} {stamp()} +++ exited with 0 +++"

    return write(path, lines())


# A tree of calls as the kernel's function_graph tracer shows it: depth, name.
GRAPH = [
    (0, "do_sys_openat2"),
    (1, "getname"),
    (2, "getname_flags.part.0"),
    (3, "kmem_cache_alloc_noprof"),
    (4, "__cond_resched"),
    (3, "__check_object_size"),
    (4, "check_stack_object"),
    (4, "__virt_addr_valid"),
    (1, "get_unused_fd_flags"),
    (2, "alloc_fd"),
    (3, "_raw_spin_lock"),
    (3, "_raw_spin_unlock"),
    (1, "do_filp_open"),
    (2, "path_openat"),
    (3, "alloc_empty_file"),
    (4, "security_file_alloc"),
    (3, "link_path_walk.part.0.constprop.0"),
    (4, "inode_permission"),
]


def function_graph(path, lines):
    """The `trace` file of function_graph with funcgraph-abstime and -proc."""

    def row(cpu, task, us, took, text):
        mark = "+" if took > 10 else " "
        duration = f"{mark} {took:.3f} us" if took else ""
        return f" {us // 1_000_000:4}.{us % 1_000_000:06} |   {cpu})  {task:<12} | {duration:<13} |  {text}"

    def all_lines():
        yield "# tracer: function_graph"
        yield "#"
        yield "#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS"
        yield "#      |          |     |    |           |   |                     |   |   |   |"
        us = 13_181_094
        for boot in range(lines // 26):
            cpu, task = boot % 2, ["wc-233", "init-1"][boot % 2]
            open_calls = []
            for (depth, name), (after, _) in zip(GRAPH, GRAPH[1:] + [(0, "")]):
                us += 2
                indent = "  " * depth
                if after > depth:
                    open_calls.append((depth, name, us))
                    yield row(cpu, task, us, 0, f"{indent}{name}() {{")
                    continue
                yield row(cpu, task, us, 1.0 + depth / 8, f"{indent}{name}();")
                us += 1
                while open_calls and open_calls[-1][0] >= after:
                    d, n, since = open_calls.pop()
                    us += 1
                    yield row(cpu, task, us, us - since + 0.5, "  " * d + "} /* " + n + " */")

    return write(path, all_lines())


def logcat(path, lines):
    """`logcat -v threadtime`."""
    tags = ["Zygote", "PackageManager", "ActivityManager", "SystemServer", "installd", "vold"]

    def all_lines():
        yield "--------- beginning of main"
        ms = 4_000
        rand = numbers(3)
        for i in range(lines):
            r = next(rand)
            ms += r % 4
            pid, tag = 600 + i % 90, tags[r % 6]
            text = f"Preloading resource {r % 5000} of package com.android.{STEMS[r % 20]}"
            if i % 200 == 0:
                pid, tag, text = 1964, f"boot_progress_step_{i // 200}", str(ms)
            yield (
                f"01-01 03:{ms // 60_000 % 60:02}:{ms // 1_000 % 60:02}.{ms % 1_000:03} "
                f"{pid:5} {pid + r % 7:5} I {tag:<8}: {text}"
            )

    return write(path, all_lines())


def bootchart(path, samples, processes=70):
    """The archive of busybox's bootchartd, 5 Hz: `header`, `proc_stat.log`,
    `proc_diskstats.log`, `proc_ps.log`. Each process is there from the sample
    of its number on, and works in turn."""
    rand = numbers(4)
    stat, disk, ps = [], [], []
    cpu = [0] * processes
    user = idle = 0
    for n in range(samples):
        cs = 295 + 20 * n
        user += 9 + next(rand) % 8
        idle += next(rand) % 6
        total = f"{user} 0 {user // 2} {idle} 3 0 1 0 0 0"
        stat += [str(cs), f"cpu  {total}", f"cpu0 {total}", "ctxt 1471", "processes 120", ""]
        disk += [str(cs), f" 253 0 vda {90 + 5 * n} 0 {800 + 160 * n} {n * 3} {n} 0 {8 * n} {n} 0 {4 * n} {4 * n}", ""]
        ps.append(str(cs))
        for p in range(min(processes, 20 + n)):
            cpu[p] += next(rand) % 13 == 0
            ps.append(
                f"{p + 1} ({STEMS[p % 20]}{p}) {'R' if (p + n) % 9 == 0 else 'S'} {1 if p else 0} 1 1 0 -1 "
                f"4194560 633 0 0 0 {cpu[p]} {cpu[p] // 2} 0 0 20 0 1 0 {58 + max(0, p - 20) * 20} 21647360 2540 "
                "18446744073709551615 94772665577472 94772665633317 140721016770608 0 0 0 671173123 4096 1260 "
                "0 0 0 17 0 0 0 0 0 0 94772665672976 94772665677328 94772700430336"
            )
        ps.append("")
    header = (
        "version = 0.8\ntitle = Boot chart for speed (Mon Apr 13 19:38:08 UTC 2026)\n"
        "system.uname = Linux 6.12.107+deb13-cloud-amd64 #1 SMP Debian 6.12.107-1 (2026-08-29) x86_64\n"
        "system.kernel.options = console=ttyS0,115200\n"
    )
    members = {"header": header}
    for name, rows in [("proc_stat", stat), ("proc_diskstats", disk), ("proc_ps", ps)]:
        members[f"{name}.log"] = "\n".join(rows) + "\n"
    with tarfile.open(path, "w:gz", compresslevel=6) as tar:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, BytesIO(text.encode()))
    return sum(text.count("\n") for text in members.values())

use bootlap_model::{FileUse, Timeline};

use crate::registry;
use crate::{Hints, Input};

/// The rows of a recording: who, what, and the counts.
fn rows(source: &str, text: &str) -> Vec<String> {
    let mut out = Timeline::default();
    let input = Input {
        label: "input",
        bytes: &mut text.trim_start().as_bytes(),
        hints: &Hints::default(),
    };
    let source = registry::all().iter().find(|s| s.name == source);
    source.unwrap().read(input, &mut out).unwrap();
    let row = |row: &FileUse| {
        let FileUse {
            pid,
            opens,
            missing,
            looks,
            reads,
            bytes,
            maps,
            ..
        } = *row;
        let (program, path) = (out.text(row.program), out.text(row.path));
        format!(
            "{program} {pid} {path}: {opens} opened, {missing} missing, {looks} looks, {reads} reads of {bytes}, {maps} maps"
        )
    };
    out.file_uses.iter().map(row).collect()
}

#[test]
fn strace_and_the_kernel_tell_the_same() {
    let strace = r#"
7 1.000 execve("/usr/bin/tz", ["tz"], 0x7ffd /* 3 vars */) = 0
7 1.001 openat(AT_FDCWD, "/etc/localtime", O_RDONLY|O_CLOEXEC) = 3
7 1.002 read(3, "TZif2\0"..., 40) = 40
7 1.003 read(3, "\0\0\0\0"..., 8) = 8
7 1.004 mmap(NULL, 40, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f0000000000
7 1.005 mmap(NULL, 40, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, 3, 0) = 0x7f0000001000
7 1.006 close(3) = 0
7 1.007 read(3, 0x7f, 8) = -1 EBADF (Bad file descriptor)
7 1.008 newfstatat(AT_FDCWD, "/lib/x", {st_mode=S_IFREG}, 0) = 0
7 1.009 access("/lib/y", R_OK) = -1 ENOENT (No such file or directory)
"#;
    let ftrace = r#"# tracer: nop
   tz-7 [000] ..... 1.000000: sched_process_exec: filename=/usr/bin/tz pid=7 old_pid=7
   tz-7 [000] ..... 1.001000: openat: (syscalls.sys_enter_openat) dfd=0xffffff9c path="/etc/localtime" flags=0x80000
   tz-7 [000] ..... 1.001100: sys_openat -> 0x3
   tz-7 [000] ..... 1.002000: sys_read(fd: 3, buf: 7f, count: 28)
   tz-7 [000] ..... 1.002100: sys_read -> 0x28
   tz-7 [000] ..... 1.003000: sys_read(fd: 3, buf: 7f, count: 8)
   tz-7 [000] ..... 1.003100: sys_read -> 0x8
   tz-7 [000] ..... 1.004000: sys_mmap(addr: 0, len: 28, prot: 1, flags: 2, fd: 3, off: 0)
   tz-7 [000] ..... 1.005000: sys_mmap(addr: 0, len: 28, prot: 1, flags: 22, fd: 3, off: 0)
   tz-7 [000] ..... 1.006000: sys_close(fd: 3)
   tz-7 [000] ..... 1.007000: sys_read(fd: 3, buf: 7f, count: 8)
   tz-7 [000] ..... 1.007100: sys_read -> 0xfffffffffffffff7
   tz-7 [000] ..... 1.008000: newfstatat: (syscalls.sys_enter_newfstatat) dfd=0xffffff9c path="/lib/x" flag=0x0
   tz-7 [000] ..... 1.008100: sys_newfstatat -> 0x0
   tz-7 [000] ..... 1.009000: access: (syscalls.sys_enter_access) path="/lib/y"
   tz-7 [000] ..... 1.009100: sys_access -> 0xfffffffffffffffe
"#;
    let want = [
        "tz 7 /etc/localtime: 1 opened, 0 missing, 0 looks, 2 reads of 48, 1 maps",
        "tz 7 /lib/x: 0 opened, 0 missing, 1 looks, 0 reads of 0, 0 maps",
        "tz 7 /lib/y: 0 opened, 1 missing, 0 looks, 0 reads of 0, 0 maps",
    ];
    assert_eq!(rows("strace", strace), want);
    assert_eq!(rows("ftrace", ftrace), want);
}

/// Where the kernel's events have no paths, its probe has them; the agent leaves out what
/// looked for a file and found it.
#[test]
fn paths_come_behind_their_calls() {
    let text = r#"# reads
# tracer: nop
   tz-7 [000] ..... 1.001000: sys_openat(dfd: ffffff9c, filename: 7f44, flags: 80000, mode: 0)
   sh-8 [000] ..... 1.001010: sys_access(filename: 7f44, mode: 0)
   sh-8 [000] ..... 1.001020: getname_flags: (user_path_at_empty+0x20/0x50 <- getname_flags) path="/of/another"
   tz-7 [000] ..... 1.001040: getname: (do_filp_open+0x0/0x160) path=(fault)
   tz-7 [000] ..... 1.001050: getname: (do_sys_openat2+0x90/0x160 <- getname) path="/a, b"
   tz-7 [000] ..... 1.001060: getname: (do_sys_openat2+0x90/0x160 <- getname) path="/later"
   tz-7 [000] ..... 1.001100: sys_openat -> 0x3
   tz-7 [000] ..... 1.002000: sys_execve(filename: 7f44, argv: 7f50, envp: 7f58)
   tz-7 [000] ..... 1.002050: getname: (__x64_sys_execve+0x20/0x50 <- getname) path="/bin/b"
   tz-7 [000] ..... 1.002100: sys_execve -> 0x0
   b-7 [000] ..... 1.003000: sys_read(fd: 3, buf: 7f, count: 28)
   b-7 [000] ..... 1.003100: sys_read -> 0x28
   sh-8 [000] ..... 1.004000: sched_process_exit: comm=sh pid=8 prio=120
"#;
    let want = [
        "tz 7 /a, b: 1 opened, 0 missing, 0 looks, 0 reads of 0, 0 maps",
        "sh 8 /of/another: 0 opened, 0 missing, 1 looks, 0 reads of 0, 0 maps",
    ];
    assert_eq!(rows("ftrace", text), want);
}

/// Children have what their parents had open, threads share it, and a program that is
/// executed has what was not to be closed then.
#[test]
fn numbers_are_handed_on() {
    let text = r#"
7 1.000 openat(AT_FDCWD, "/a", O_RDONLY) = 3
7 1.001 openat(AT_FDCWD, "/b", O_RDONLY|O_CLOEXEC) = 4
7 1.002 clone(child_stack=NULL, flags=SIGCHLD) = 8
8 1.003 read(3, "x", 1) = 1
8 1.004 execve("/bin/child", ["child"], 0x7f) = 0
8 1.005 read(3, "x", 1) = 1
8 1.006 read(4, "x", 1) = 1
7 1.007 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 9
9 1.008 openat(AT_FDCWD, "/c", O_RDONLY) = 5
7 1.009 read(5, "x", 1) = 1
7 1.010 dup2(5, 10) = 10
7 1.011 close_range(3, 9, 0) = 0
7 1.012 read(10, "x", 1) = 1
7 1.013 read(5, "x", 1) = 1
7 1.014 fcntl(10, F_DUPFD_CLOEXEC, 3) = 3
7 1.015 sendfile(1, 3, NULL, 16777216) = 7
"#;
    let found = rows("strace", text);
    let of = |path: &str| -> Vec<&str> {
        let rows = found.iter().filter(|row| row.contains(path));
        rows.map(|row| row.split(", ").nth(3).unwrap()).collect()
    };
    assert_eq!(of(" /a:"), ["0 reads of 0", "1 reads of 1", "1 reads of 1"]);
    assert_eq!(of(" /b:"), ["0 reads of 0"]);
    assert_eq!(of(" /c:"), ["3 reads of 9"]);
    assert!(found.iter().any(|row| row.starts_with("child 8 /a: 0")));
}

#[test]
fn paths_are_whole() {
    let text = r#"
7 1.000 open("etc//x", O_RDONLY) = 3
7 1.001 chdir("/usr/./share/") = 0
7 1.002 open("zoneinfo", O_RDONLY|O_DIRECTORY) = 4
7 1.003 openat(4, "UTC", O_RDONLY) = 5
7 1.004 openat(AT_FDCWD</root>, "z", O_RDONLY) = 6</root/z>
7 1.005 read(9</proc/stat>, "", 10) = 0
7 1.006 read(8<socket:[77]>, "", 10) = 0
7 1.007 fchdir(4) = 0
7 1.008 stat("../a", {}) = 0
"#;
    let found = rows("strace", text);
    let paths: Vec<&str> = found
        .iter()
        .map(|row| {
            row.split([' ', ':'])
                .rev()
                .find(|w| w.contains('/'))
                .unwrap()
        })
        .collect();
    let want = [
        "etc/x",
        "/usr/share/zoneinfo",
        "/usr/share/zoneinfo/UTC",
        "/root/z",
        "/proc/stat",
        "/usr/share/zoneinfo/../a",
    ];
    assert_eq!(paths, want);
}

/// The number of the only process is known late.
#[test]
fn one_process_has_one_row() {
    let text = r#"
1.000 openat(AT_FDCWD, "/a", O_RDONLY) = 3
1.001 set_tid_address(0x7f) = 7
1.002 read(3, "x", 1) = 1
"#;
    let found = rows("strace", text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(" 7 /a: 1 opened") && found[0].contains("1 reads of 1"));
}

/// Each folder that is entered makes the next path longer.
#[test]
fn hostile_paths_take_little_memory() {
    let folder = "x".repeat(250);
    let lines = (0..100_000).map(|n| format!("7 {n}.0 chdir(\"{folder}{n}\") = 0\n"));
    let found = rows("strace", &lines.collect::<String>());
    assert_eq!(found, [""; 0]);
}

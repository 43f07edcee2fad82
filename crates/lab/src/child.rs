//! A child process that cannot outlive the thread that started it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::io::FdFlags;
use rustix::process::{Pid, Signal};

/// Starts `command` with `inherited` open under their own numbers.
///
/// The child is killed when the calling thread ends, also when the whole
/// process is killed: a lab leaves no machine running.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn spawn(command: &mut Command, inherited: &[&OwnedFd]) -> io::Result<Child> {
    let fds: Vec<RawFd> = inherited.iter().map(|fd| fd.as_raw_fd()).collect();
    spawn_after(command, move || {
        for &fd in &fds {
            // SAFETY: the parent keeps these open until spawn has returned.
            #[allow(unsafe_code)]
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
        }
        Ok(())
    })
}

/// Starts `command`, whose process first does `prepare`: only system calls.
fn spawn_after(
    command: &mut Command,
    prepare: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Child> {
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            return Err(io::Error::other("bootlap is gone"));
        }
        prepare()
    };
    // SAFETY: between fork and exec only system calls are made (no allocation,
    // no lock), as a child of a program with threads must do.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
    command.spawn()
}

/// Starts `command` in a session and process group of its own, whose
/// controlling terminal is the command's standard input.
///
/// The child is killed when the calling thread ends; its children are hung up
/// on when the terminal's other end is closed.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn spawn_on_terminal(command: &mut Command) -> io::Result<Child> {
    spawn_after(command, || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
    })
}

/// Starts `command` in a process group of its own; the child is killed when
/// the calling thread ends.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn spawn_group(command: &mut Command) -> io::Result<Child> {
    command.process_group(0);
    spawn(command, &[])
}

/// Ends a child and its process group: asks, waits for `patience`, kills.
pub(crate) fn end_group(child: &mut Child, patience: Duration) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let tell = |signal| {
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    };
    tell(Signal::TERM);
    let until = Instant::now() + patience;
    // The group may outlive its leader, so it is asked after, not the child.
    while Instant::now() < until {
        let _ = child.try_wait();
        let alive = group.map(rustix::process::test_kill_process_group);
        if !matches!(alive, Some(Ok(()))) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    tell(Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

//! A child process that cannot outlive the thread that started it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::io::FdFlags;
use rustix::process::Signal;

/// Starts `command` with `inherited` open under their own numbers.
///
/// The child is killed when the calling thread ends, also when the whole
/// process is killed: a lab leaves no machine running.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn spawn(command: &mut Command, inherited: &[&OwnedFd]) -> io::Result<Child> {
    let fds: Vec<RawFd> = inherited.iter().map(|fd| fd.as_raw_fd()).collect();
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            return Err(io::Error::other("bootlap is gone"));
        }
        for &fd in &fds {
            // SAFETY: the parent keeps these open until spawn has returned.
            #[allow(unsafe_code)]
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made (no allocation,
    // no lock), as a child of a program with threads must do.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
    command.spawn()
}

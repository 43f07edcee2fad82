//! A command as a console: what it prints, errors included.
//!
//! It runs on a pseudo terminal of its own, because a program whose output is
//! a pipe keeps it back for kilobytes, and its stamps would be worth nothing.
//! The terminal is raw, so the bytes are the command's own. It is also the
//! leash: when the last end of it that we hold is closed, also by `kill -9`,
//! the kernel hangs up on everything that runs there.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

use super::PortError;

/// How long a command may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_millis(500);

/// A command that runs.
pub(super) struct Exec {
    terminal: OwnedFd,
    child: Mutex<Child>,
}

impl Exec {
    /// Starts `command` in a shell.
    pub(super) fn start(command: &str) -> Result<Self, PortError> {
        let failed = |e: io::Error| PortError::Open(format!("cannot run `{command}`: {e}"));
        let (terminal, other) = pair().map_err(failed)?;
        let stdio = || other.try_clone().map(Stdio::from);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]);
        shell.stdin(stdio().map_err(failed)?);
        shell.stdout(stdio().map_err(failed)?);
        shell.stderr(stdio().map_err(failed)?);
        let child = crate::child::spawn_on_terminal(&mut shell).map_err(failed)?;
        Ok(Self {
            terminal,
            child: Mutex::new(child),
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }

    /// `the command ended (exit status: 1)`
    pub(super) fn how_it_ended(&self) -> String {
        let Ok(mut child) = self.child.lock() else {
            return "the command ended".into();
        };
        // Its output is closed a moment before it is gone.
        let until = Instant::now() + PATIENCE;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return format!("the command ended ({status})"),
                Ok(None) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                _ => return "the command closed its output".into(),
            }
        }
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(|e| e.into_inner());
        crate::child::end_group(child, PATIENCE);
    }
}

/// Both ends of a raw pseudo terminal.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    let noctty = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap_or(0);
    let theirs = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(noctty)
        .open(path)?;
    let mut raw = rustix::termios::tcgetattr(&theirs)?;
    raw.make_raw();
    rustix::termios::tcsetattr(&theirs, OptionalActions::Now, &raw)?;
    Ok((ours, theirs.into()))
}

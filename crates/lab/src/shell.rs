//! Commands of the user: what switches a board on, what checks a boot.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::MemfdFlags;

/// How long a command may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_millis(500);
/// What is kept of its complaint.
const SAID: usize = 400;

/// Runs `command` in a shell, in a process group of its own, until it ends,
/// `timeout` is over or `stop` is set; returns how long it ran.
///
/// # Errors
/// If it cannot be run, fails or takes too long, with what it said.
pub(crate) fn run(command: &str, timeout: Duration, stop: &AtomicBool) -> Result<Duration, String> {
    run_in(command, None, &[], timeout, stop)
}

/// The same in the folder `dir` and with more variables in its environment.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_in(
    command: &str,
    dir: Option<&Path>,
    variables: &[(&str, &OsStr)],
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<Duration, String> {
    let began = Instant::now();
    let mut enough = || match () {
        () if stop.load(Ordering::Relaxed) => Some("was stopped".to_owned()),
        () if began.elapsed() > timeout => {
            Some(format!("did not end within {} s", timeout.as_secs()))
        }
        () => None,
    };
    run_until(command, dir, variables, &mut enough)
}

/// The same until `enough` says why it is to be ended.
///
/// # Errors
/// If it cannot be run, fails or is ended, with what it said.
pub fn run_until(
    command: &str,
    dir: Option<&Path>,
    variables: &[(&str, &OsStr)],
    enough: &mut dyn FnMut() -> Option<String>,
) -> Result<Duration, String> {
    let began = Instant::now();
    let failed = |e: io::Error| format!("`{command}` cannot be run: {e}");
    // Not a pipe: what the command leaves running would keep that open.
    let memory = rustix::fs::memfd_create("complaint", MemfdFlags::CLOEXEC);
    let complaint = File::from(memory.map_err(|e| failed(e.into()))?);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaint.try_clone().map_err(failed)?);
    if let Some(dir) = dir {
        shell.current_dir(dir);
    }
    let mut child = crate::child::spawn_group(&mut shell).map_err(failed)?;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) => {}
            Err(e) => break Err(format!("was lost: {e}")),
        }
        if let Some(why) = enough() {
            break Err(why);
        }
        // Many may be waited for at once.
        let pause = began.elapsed() / 50;
        std::thread::sleep(pause.clamp(Duration::from_millis(2), Duration::from_millis(50)));
    };
    let took = began.elapsed();
    match status {
        // What it started in the background (a daemon) may go on.
        Ok(status) if status.success() => Ok(took),
        Ok(status) => {
            let said = beginning(&complaint);
            let said = if said.is_empty() { "nothing" } else { &said };
            Err(format!("`{command}` failed ({status}); it said: {said}"))
        }
        Err(why) => {
            crate::child::end_group(&mut child, PATIENCE);
            Err(format!("`{command}` {why}"))
        }
    }
}

fn beginning(complaint: &File) -> String {
    let mut said = [0; SAID];
    let n = complaint.read_at(&mut said, 0).unwrap_or(0);
    String::from_utf8_lossy(&said[..n]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failing_command_leaves_running_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        let command = format!(
            "mkfifo {0}; echo no relay >&2; cat {0} & exit 3",
            fifo.display()
        );
        let long = Duration::from_secs(600);
        let why = run(&command, long, &AtomicBool::new(false)).unwrap_err();
        assert!(why.contains("exit status: 3"), "{why}");
        assert!(why.ends_with("it said: no relay"), "{why}");
        // What was left running reads to the end, and is gone.
        drop(File::options().write(true).open(fifo).unwrap());
    }
}

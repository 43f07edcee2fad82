//! Commands of the user that switch a board on and off.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
    let began = Instant::now();
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = crate::child::spawn_group(&mut shell)
        .map_err(|e| format!("`{command}` cannot be run: {e}"))?;
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || complaint(stderr));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if stop.load(Ordering::Relaxed) => break Err("was stopped".to_owned()),
            Ok(None) if began.elapsed() > timeout => {
                break Err(format!("did not end within {} s", timeout.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(e) => break Err(format!("was lost: {e}")),
        }
    };
    let took = began.elapsed();
    match status {
        // What it started in the background (a daemon) may go on.
        Ok(status) if status.success() => Ok(took),
        Ok(status) => {
            let said = reader.join().unwrap_or_default();
            let said = if said.is_empty() { "nothing" } else { &said };
            Err(format!("`{command}` failed ({status}); it said: {said}"))
        }
        Err(why) => {
            crate::child::end_group(&mut child, PATIENCE);
            Err(format!("`{command}` {why}"))
        }
    }
}

/// Reads all, so that the command never waits for us, and keeps the beginning.
fn complaint(stderr: Option<impl Read>) -> String {
    let Some(mut stderr) = stderr else {
        return String::new();
    };
    let (mut said, mut buffer) = (Vec::new(), [0; 1024]);
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        let room = SAID.saturating_sub(said.len());
        said.extend_from_slice(&buffer[..n.min(room)]);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

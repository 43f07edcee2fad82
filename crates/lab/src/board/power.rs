//! Commands that switch a board: `sh -c`, with an end in sight.
//!
//! Each runs in a process group of its own, so that Ctrl-C on bootlap's
//! terminal does not tear it up halfway, and what hangs or stays behind can be
//! ended whole. Until then the shell stays a zombie: a process that is not
//! waited for keeps its number, and a signal to the group hits nobody else.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::MemfdFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use serde_json::json;

use crate::LabError;

/// As much of what a command prints is kept, from its end.
const KEPT: u64 = 4096;
/// How often a command is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// A command that runs, or has run and may have left others behind.
pub(super) struct Command {
    /// The key of the target that holds it: `power-on`.
    key: &'static str,
    text: String,
    child: Child,
    output: File,
    started: Instant,
    timeout: Duration,
}

/// How a command went.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// For the manifest: key, command, duration, output.
    pub(super) facts: serde_json::Value,
}

impl Command {
    /// Starts `text` in `dir`.
    pub(super) fn start(
        key: &'static str,
        text: &str,
        dir: &Path,
        timeout: Duration,
    ) -> Result<Self, LabError> {
        let failed = |e: io::Error| LabError::Machine(format!("cannot run {key} `{text}`: {e}"));
        let memory = rustix::fs::memfd_create("output", MemfdFlags::CLOEXEC);
        let output = File::from(memory.map_err(|e| failed(e.into()))?);
        // Not a pipe: what a command leaves running would keep that open.
        let stdio = || output.try_clone().map(Stdio::from);
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", text]).current_dir(dir).process_group(0);
        shell.stdin(Stdio::null());
        shell.stdout(stdio().map_err(failed)?);
        shell.stderr(stdio().map_err(failed)?);
        let started = Instant::now();
        let inherited: [&OwnedFd; 0] = [];
        let child = crate::child::spawn(&mut shell, &inherited).map_err(failed)?;
        Ok(Self {
            key,
            text: text.to_owned(),
            child,
            output,
            started,
            timeout,
        })
    }

    /// How it went, once it has ended.
    ///
    /// # Errors
    /// If it failed or takes too long, with what it printed.
    pub(super) fn poll(&mut self) -> Result<Option<Done>, LabError> {
        let took = self.started.elapsed();
        match self.ended() {
            Some(status) if status.success() => Ok(Some(Done {
                facts: json!({
                    "key": self.key,
                    "command": self.text,
                    "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                    "output": self.said(),
                }),
            })),
            Some(status) => Err(self.failure(&format!("failed ({status})"))),
            None if took >= self.timeout => {
                let how = format!("did not end within {} s", self.timeout.as_secs());
                Err(self.failure(&how))
            }
            None => Ok(None),
        }
    }

    /// The same, waited for.
    pub(super) fn wait(&mut self) -> Result<Done, LabError> {
        loop {
            if let Some(done) = self.poll()? {
                return Ok(done);
            }
            std::thread::sleep(POLL);
        }
    }

    /// How the shell ended; it is left as it is, to keep its number.
    fn ended(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = rustix::process::waitid(WaitId::Pid(self.pid()?), options);
        let status = status.ok().flatten()?;
        // As wait(2) encodes it.
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ExitStatus::from_raw(code << 8),
            (None, Some(signal)) => ExitStatus::from_raw(signal),
            (None, None) => ExitStatus::from_raw(1 << 8),
        })
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn failure(&self, how: &str) -> LabError {
        let Self { key, text, .. } = self;
        let said = self.said();
        let said = match said.is_empty() {
            true => "; it printed nothing".to_owned(),
            false => {
                let lines: Vec<String> = said.lines().map(|l| format!("  | {l}")).collect();
                format!("; it printed\n{}", lines.join("\n"))
            }
        };
        LabError::Machine(format!(
            "{key} `{text}` {how}{said}\n         run it by hand in the target's folder until it \
             works, or mend machine.{key} of the target"
        ))
    }

    /// The end of what it printed, as harmless text.
    fn said(&self) -> String {
        let len = self.output.metadata().map_or(0, |m| m.len());
        let from = len.saturating_sub(KEPT);
        let mut bytes = vec![0; usize::try_from(len - from).unwrap_or(0)];
        if self.output.read_exact_at(&mut bytes, from).is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let harmless = |c: char| match c {
            '\n' => c,
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        };
        let text: String = text.chars().filter(|c| *c != '\r').map(harmless).collect();
        text.trim_end().to_owned()
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        if let Some(group) = self.pid() {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(text: &str, timeout_ms: u64) -> Command {
        let timeout = Duration::from_millis(timeout_ms);
        Command::start("power-on", text, Path::new("/"), timeout).unwrap()
    }

    fn alive(pid: i32) -> bool {
        // A zombie is not alive.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    /// A process that is not our child takes a moment to be gone.
    fn ends(pid: i32) {
        let until = Instant::now() + Duration::from_secs(10);
        while alive(pid) {
            assert!(Instant::now() < until, "{pid} is still there");
            std::thread::sleep(POLL);
        }
    }

    #[test]
    fn what_it_prints_is_kept() {
        let facts = start("pwd; printf '\\033[1mrelay 3\\tclosed\\r\\n' >&2", 60_000)
            .wait()
            .unwrap()
            .facts;
        assert_eq!(facts["output"], "/\n\u{fffd}[1mrelay 3 closed");
        assert_eq!(facts["key"], "power-on");
        assert!(facts["took_ms"].is_u64());
        let much = start("yes | head -c 100000; echo end", 60_000).wait();
        let output = much.unwrap().facts["output"].as_str().unwrap().to_owned();
        assert!(output.ends_with("y\nend") && output.len() <= KEPT as usize);
    }

    #[test]
    fn a_failure_says_what_was_printed_and_what_to_do() {
        let said = start("echo no such outlet; exit 3", 60_000).wait();
        let said = said.unwrap_err().to_string();
        for part in [
            "power-on `echo no such outlet; exit 3` failed (exit status: 3)",
            "\n  | no such outlet\n",
            "run it by hand",
        ] {
            assert!(said.contains(part), "{said}");
        }
        let said = start("no-such-relay on", 60_000).wait().unwrap_err();
        assert!(said.to_string().contains("exit status: 127"), "{said}");
        let said = start("kill -9 $$", 60_000).wait().unwrap_err();
        assert!(said.to_string().contains("signal: 9"), "{said}");
    }

    #[test]
    fn one_that_hangs_is_ended_with_all_that_it_started() {
        let mut command = start("sleep 1000 & echo $!; wait", 2000);
        let said = command.wait().unwrap_err().to_string();
        assert!(said.contains("did not end within 2 s"), "{said}");
        let pid = command.said().trim().parse().unwrap();
        assert!(alive(pid));
        drop(command);
        ends(pid);
    }

    #[test]
    fn one_that_leaves_something_running_has_ended() {
        let mut command = start("sleep 1000 & echo $!", 60_000);
        let done = command.wait().unwrap();
        let pid = done.facts["output"].as_str().unwrap().parse().unwrap();
        assert!(alive(pid), "as long as the boot lasts");
        drop(command);
        ends(pid);
    }
}

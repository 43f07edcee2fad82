//! QEMU's machine protocol, as much of it as a boot needs.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

/// A conversation with one QEMU over a connected socket.
pub(crate) struct Qmp {
    stream: BufReader<UnixStream>,
    /// The last partial line read.
    pending: Vec<u8>,
    /// Events that came while an answer was awaited.
    events: Vec<Value>,
}

impl Qmp {
    /// Takes up the conversation: greeting, capabilities. Returns QEMU's
    /// version, e.g. `7.2.22 (Debian …)`.
    pub(crate) fn start(stream: UnixStream) -> io::Result<(Self, String)> {
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut qmp = Self {
            stream: BufReader::new(stream),
            pending: Vec::new(),
            events: Vec::new(),
        };
        let greeting = qmp.read()?;
        let version = &greeting["QMP"]["version"];
        let number = |part: &str| version["qemu"][part].as_u64().unwrap_or(0);
        let text = format!(
            "{}.{}.{} {}",
            number("major"),
            number("minor"),
            number("micro"),
            version["package"].as_str().unwrap_or("")
        );
        qmp.execute("qmp_capabilities")?;
        Ok((qmp, text.trim_end().to_owned()))
    }

    /// Runs a command without arguments and waits for its answer.
    pub(crate) fn execute(&mut self, command: &str) -> io::Result<Value> {
        let line = json!({ "execute": command }).to_string();
        self.stream.get_mut().write_all(line.as_bytes())?;
        loop {
            let mut answer = self.read()?;
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(why) = answer["error"]["desc"].as_str() {
                return Err(io::Error::other(format!("{command}: {why}")));
            }
            self.events.push(answer);
        }
    }

    /// An event that has arrived, if any; does not wait.
    pub(crate) fn event(&mut self) -> Option<Value> {
        if self.events.is_empty() {
            self.stream.get_ref().set_nonblocking(true).ok()?;
            let read = self.read();
            self.stream.get_ref().set_nonblocking(false).ok()?;
            self.events.push(read.ok()?);
        }
        Some(self.events.remove(0))
    }

    fn read(&mut self) -> io::Result<Value> {
        loop {
            let n = self.stream.read_until(b'\n', &mut self.pending)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.pending.ends_with(b"\n") {
                let line = std::mem::take(&mut self.pending);
                return serde_json::from_slice(&line).map_err(io::Error::other);
            }
        }
    }
}

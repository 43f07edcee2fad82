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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a QEMU would say, in one go, as pieces may come together.
    fn peer(says: &str) -> UnixStream {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(says.as_bytes()).unwrap();
        // Kept open: a closed peer is another case.
        std::mem::forget(theirs);
        ours
    }

    const GREETING: &str = r#"{"QMP": {"version": {"qemu": {"micro": 2, "minor": 0, "major": 10},
        "package": "Debian"}, "capabilities": []}}"#;

    #[test]
    fn events_between_answers_are_kept_in_order() {
        let greeting = GREETING.replace('\n', "");
        let says = format!(
            "{greeting}\r\n{{\"event\": \"A\"}}\r\n{{\"return\": {{}}}}\r\n\
             {{\"event\": \"B\"}}\r\n{{\"return\": {{\"x\": 1}}}}\r\n{{\"event\": \"C\"}}\r\n"
        );
        let (mut qmp, version) = Qmp::start(peer(&says)).unwrap();
        assert_eq!(version, "10.0.2 Debian");
        assert_eq!(qmp.execute("cont").unwrap()["x"], 1);
        let events: Vec<Value> = std::iter::from_fn(|| qmp.event()).collect();
        let names: Vec<&str> = events.iter().filter_map(|e| e["event"].as_str()).collect();
        assert_eq!(names, ["A", "B", "C"]);
    }

    #[test]
    fn a_refusal_names_the_command() {
        let greeting = GREETING.replace('\n', "");
        let says = format!("{greeting}\n{{\"error\": {{\"desc\": \"no\"}}}}\n");
        let error = Qmp::start(peer(&says)).err().unwrap();
        assert_eq!(error.to_string(), "qmp_capabilities: no");
    }
}

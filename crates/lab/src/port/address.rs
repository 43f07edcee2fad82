//! What people type to name a port.

use std::fmt;
use std::path::{Path, PathBuf};

use super::PortError;

/// The other end of a console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A serial line or a pseudo terminal.
    Tty(PathBuf),
    /// A TCP port.
    Tcp {
        /// Name or address.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
    /// A command of the shell.
    Exec(String),
    /// Standard input.
    Stdin,
}

const FORMS: &str =
    "name a device (/dev/ttyUSB0), tcp:HOST:PORT, unix:PATH, or - for standard input";

impl Address {
    /// Understands `/dev/ttyUSB0`, `ttyUSB0`, `tcp:HOST:PORT`, `unix:PATH`,
    /// `exec:COMMAND` and `-`.
    ///
    /// # Errors
    /// If it is none of these; says how to write it.
    pub fn parse(text: &str) -> Result<Self, PortError> {
        let wrong = |why: String| Err(PortError::Address(why));
        if text == "-" {
            return Ok(Address::Stdin);
        }
        if let Some(rest) = text.strip_prefix("tcp:") {
            let rest = rest.strip_prefix("//").unwrap_or(rest);
            let parts = rest.rsplit_once(':');
            let parsed = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
            let Some((host, port)) = parsed.filter(|(host, port)| !host.is_empty() && *port != 0)
            else {
                return wrong(format!(
                    "{text}: write tcp:HOST:PORT, such as tcp:lab-7:2000 or tcp:[::1]:2000"
                ));
            };
            let host = host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned();
            return Ok(Address::Tcp { host, port });
        }
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return wrong(format!(
                    "{text}: write unix:PATH, such as unix:/run/board.sock"
                ));
            }
            return Ok(Address::Unix(path.into()));
        }
        if let Some(command) = text.strip_prefix("exec:") {
            if command.trim().is_empty() {
                return wrong(format!("{text}: write exec:COMMAND"));
            }
            return Ok(Address::Exec(command.to_owned()));
        }
        if text.is_empty() {
            return wrong(format!("there is no device: {FORMS}"));
        }
        let path = Path::new(text);
        if !text.contains('/') {
            // People type `ttyUSB0`, as picocom and tio show it.
            let device = Path::new("/dev").join(path);
            if device.exists() || text.starts_with("tty") {
                return Ok(Address::Tty(device));
            }
            if text.contains(':') {
                return wrong(format!("{text} is no port: {FORMS}"));
            }
        }
        Ok(Address::Tty(path.to_owned()))
    }

    /// Whether there is hope when it has vanished. The number of a pseudo
    /// terminal goes to whoever opens the next one, so it is not opened again
    /// under that name.
    pub(super) fn may_return(&self) -> bool {
        match self {
            Address::Tty(path) => !path.starts_with("/dev/pts"),
            Address::Tcp { .. } | Address::Unix(_) => true,
            Address::Exec(_) | Address::Stdin => false,
        }
    }

    /// A short name for folders and headings: `ttyUSB0`, `lab-7-2000`.
    pub fn short_name(&self) -> String {
        let last = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let name = match self {
            Address::Tty(path) if path.starts_with("/dev/pts") => format!("pts{}", last(path)),
            Address::Tty(path) | Address::Unix(path) => last(path),
            Address::Tcp { host, port } => format!("{host}-{port}"),
            Address::Exec(command) => {
                let program = command.split_whitespace().next().unwrap_or("command");
                last(Path::new(program))
            }
            Address::Stdin => "stdin".to_owned(),
        };
        let plain = |c: char| match c {
            c if c.is_ascii_alphanumeric() || "-_+.".contains(c) => c,
            _ => '_',
        };
        let name: String = name.chars().map(plain).take(60).collect();
        let name = name.trim_start_matches('.');
        if name.is_empty() { "console" } else { name }.to_owned()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tty(path) => write!(f, "{}", path.display()),
            Address::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Exec(command) => write!(f, "exec:{command}"),
            Address::Stdin => f.write_str("-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood_and_printed_again() {
        for text in [
            "/dev/ttyUSB0",
            "tcp:lab-7:2000",
            "tcp:[::1]:2000",
            "unix:/run/board.sock",
            "exec:labgrid-client -p board console",
            "-",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        let short = Address::parse("ttyUSB7").unwrap();
        assert_eq!(short, Address::Tty("/dev/ttyUSB7".into()));
        let url = Address::parse("tcp://lab:3000").unwrap();
        assert_eq!(url.to_string(), "tcp:lab:3000");
    }

    #[test]
    fn what_is_wrong_is_told_how_to_write_it() {
        for (text, says) in [
            ("tcp:lab", "tcp:HOST:PORT"),
            ("tcp:lab:99999", "tcp:HOST:PORT"),
            ("tcp::2000", "tcp:HOST:PORT"),
            ("unix:", "unix:PATH"),
            ("exec: ", "exec:COMMAND"),
            ("", "no device"),
            ("udp:lab:7", "tcp:HOST:PORT"),
        ] {
            let said = Address::parse(text).unwrap_err().to_string();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn folders_get_plain_names() {
        let name = |text: &str| Address::parse(text).unwrap().short_name();
        assert_eq!(name("/dev/pts/4"), "pts4");
        assert_eq!(name("tcp:[fe80::1]:2000"), "fe80__1-2000");
        assert_eq!(name("exec:/usr/bin/picocom -b 9600"), "picocom");
        assert_eq!(name("unix:/a/.."), "console");
    }
}

//! Serial lines and pseudo terminals: any rate, raw, one reader at a time.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serial2::{CharSize, FlowControl, SerialPort, StopBits};

use super::{PortError, Settings};

/// `IGNPAR` would swallow bytes that came damaged; they are evidence.
const IGNPAR: u32 = 0o4;

/// Data bits, parity and stop bits, as people write them: `8N1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineFormat {
    /// 5 to 8.
    pub bits: u8,
    /// Parity.
    pub parity: Parity,
    /// 1 or 2.
    pub stop: u8,
}

/// The parity of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// `N`.
    None,
    /// `E`.
    Even,
    /// `O`.
    Odd,
}

/// Who holds whom back on a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Nobody.
    None,
    /// Two bytes in the stream.
    XonXoff,
    /// Two wires.
    RtsCts,
}

impl Default for LineFormat {
    fn default() -> Self {
        Self {
            bits: 8,
            parity: Parity::None,
            stop: 1,
        }
    }
}

impl LineFormat {
    /// Understands `8N1`, `7E2`.
    ///
    /// # Errors
    /// If it is not of that form.
    pub fn parse(text: &str) -> Result<Self, PortError> {
        let wrong = || PortError::Address(format!("{text}: write 8N1, 7E1, 8N2 or so"));
        let &[bits @ b'5'..=b'8', parity, stop @ b'1'..=b'2'] = text.as_bytes() else {
            return Err(wrong());
        };
        Ok(Self {
            bits: bits - b'0',
            parity: match parity.to_ascii_uppercase() {
                b'N' => Parity::None,
                b'E' => Parity::Even,
                b'O' => Parity::Odd,
                _ => return Err(wrong()),
            },
            stop: stop - b'0',
        })
    }

    /// Bits on the wire for one byte.
    pub fn bits_per_byte(self) -> u32 {
        let parity = u32::from(self.parity != Parity::None);
        1 + u32::from(self.bits) + parity + u32::from(self.stop)
    }
}

impl std::fmt::Display for LineFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parity = match self.parity {
            Parity::None => 'N',
            Parity::Even => 'E',
            Parity::Odd => 'O',
        };
        write!(f, "{}{parity}{}", self.bits, self.stop)
    }
}

/// Opens a serial line, raw, for this process alone.
pub(super) fn open(path: &Path, settings: &Settings) -> Result<SerialPort, PortError> {
    let name = path.display();
    let is_terminal = fs::metadata(path).map(|m| m.file_type().is_char_device());
    match is_terminal {
        Ok(true) => {}
        Ok(false) => {
            return Err(PortError::Open(format!(
                "{name} is no serial line: for a recorded file use `bootlap show {name}`, for a socket unix:{name}"
            )));
        }
        Err(e) => return Err(no_open(path, &e)),
    }
    if let Some(why) = locked_by_name(path) {
        return Err(PortError::Open(why));
    }
    let set_up = |mut s: serial2::Settings| {
        s.set_raw();
        s.as_termios_mut().c_iflag &= !IGNPAR;
        s.set_baud_rate(settings.baud)?;
        s.set_char_size(match settings.format.bits {
            5 => CharSize::Bits5,
            6 => CharSize::Bits6,
            7 => CharSize::Bits7,
            _ => CharSize::Bits8,
        });
        s.set_parity(match settings.format.parity {
            Parity::None => serial2::Parity::None,
            Parity::Even => serial2::Parity::Even,
            Parity::Odd => serial2::Parity::Odd,
        });
        s.set_stop_bits(match settings.format.stop {
            2 => StopBits::Two,
            _ => StopBits::One,
        });
        s.set_flow_control(match settings.flow {
            Flow::None => FlowControl::None,
            Flow::XonXoff => FlowControl::XonXoff,
            Flow::RtsCts => FlowControl::RtsCts,
        });
        Ok(s)
    };
    let port = SerialPort::open(path, set_up).map_err(|e| match e.raw_os_error() {
        Some(_) => no_open(path, &e),
        None => PortError::Open(format!(
            "{name} does not do {} baud {}: the adapter refused; try another rate or format",
            settings.baud, settings.format
        )),
    })?;
    // Two readers share the bytes between them, at random.
    let lock = FlockOperation::NonBlockingLockExclusive;
    // A driver that cannot lock is left unlocked.
    if rustix::fs::flock(port.as_fd(), lock) == Err(rustix::io::Errno::WOULDBLOCK) {
        return Err(busy(path));
    }
    let pin = |name: &str, wanted: Option<bool>, set: &dyn Fn(bool) -> io::Result<()>| {
        let Some(active) = wanted else { return Ok(()) };
        set(active)
            .map_err(|e| PortError::Open(format!("{}: cannot set {name}: {e}", path.display())))
    };
    pin("DTR", settings.dtr, &|on| port.set_dtr(on))?;
    pin("RTS", settings.rts, &|on| port.set_rts(on))?;
    Ok(port)
}

/// The serial lines of this host.
pub fn present() -> Vec<PathBuf> {
    let mut ports = SerialPort::available_ports().unwrap_or_default();
    ports.sort();
    ports
}

fn no_open(path: &Path, e: &io::Error) -> PortError {
    let name = path.display();
    PortError::Open(match e.kind() {
        io::ErrorKind::NotFound => {
            let there: Vec<String> = present().iter().map(|p| p.display().to_string()).collect();
            match there.is_empty() {
                true => format!(
                    "there is no {name}, and no serial line on this host: plug the adapter in; `dmesg` says under which name it came"
                ),
                false => format!("there is no {name}; there are {}", there.join(", ")),
            }
        }
        io::ErrorKind::PermissionDenied => format!(
            "you may not open {name}: join its group ({}) with `sudo usermod -aG {} $USER`, and log in again",
            group_of(path),
            group_of(path)
        ),
        io::ErrorKind::ResourceBusy => return busy(path),
        _ => match e.raw_os_error() {
            // ENXIO, EIO, ENODEV: a name without hardware behind it.
            Some(5 | 6 | 19) => format!("{name} has no hardware behind it ({e})"),
            Some(25) => format!("{name} is no serial line ({e})"),
            _ => format!("cannot open {name}: {e}"),
        },
    })
}

/// The group that owns the device; on most distributions `dialout`.
fn group_of(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let gid = fs::metadata(path).map(|m| m.gid().to_string());
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let named = |gid: String| {
        groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == gid).then(|| name.to_owned())
        })
    };
    gid.ok()
        .and_then(named)
        .filter(|name| name != "root")
        .unwrap_or_else(|| "dialout".to_owned())
}

fn busy(path: &Path) -> PortError {
    let name = path.display();
    PortError::Open(match user_of(path) {
        Some(who) => format!("{name} is in use by {who}: end that first"),
        None => format!("{name} is in use by another program: `fuser {name}` names it"),
    })
}

/// `screen (1234)`: another process that has the device open.
fn user_of(path: &Path) -> Option<String> {
    let device = fs::canonicalize(path).ok()?;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let pid: u32 = match entry.file_name().to_string_lossy().parse() {
            Ok(pid) if pid != std::process::id() => pid,
            _ => continue,
        };
        let Ok(open) = fs::read_dir(entry.path().join("fd")) else {
            continue;
        };
        let mut links = open
            .flatten()
            .filter_map(|fd| fs::read_link(fd.path()).ok());
        if links.any(|link| link == device) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {pid})", name.trim()));
        }
    }
    None
}

/// The lock files of older programs (minicom, cu): `/var/lock/LCK..ttyUSB0`
/// holds the number of a process.
fn locked_by_name(path: &Path) -> Option<String> {
    let device = fs::canonicalize(path).ok()?;
    let name = device.file_name()?.to_string_lossy().into_owned();
    let lock = format!("/var/lock/LCK..{name}");
    let text = fs::read_to_string(&lock).ok()?;
    let pid: u32 = text.split_whitespace().next()?.parse().ok()?;
    let alive = Path::new("/proc").join(pid.to_string()).exists();
    (alive && pid != std::process::id()).then(|| {
        format!(
            "{} is locked by process {pid} ({lock}): end that first",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_written_as_people_do() {
        for text in ["8N1", "7E2", "5O1"] {
            assert_eq!(LineFormat::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(LineFormat::parse("8n1").unwrap(), LineFormat::default());
        assert_eq!(LineFormat::default().bits_per_byte(), 10);
        for text in ["", "9N1", "8X1", "8N3", "8N", "8N1 "] {
            assert!(LineFormat::parse(text).is_err(), "{text}");
        }
    }
}

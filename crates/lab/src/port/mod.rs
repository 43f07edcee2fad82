//! A console's other end: what capture and real boards are read from.
//!
//! ```text
//! /dev/ttyUSB0 · /dev/pts/4     a serial line or a pseudo terminal, at any rate
//! tcp:lab-7:2000                a port of ser2net (raw), QEMU's `-serial tcp:…`
//! unix:/run/board.sock          a Unix socket
//! -                             standard input
//! a command                     its output and its errors, through a terminal
//! ```
//!
//! [`Port::read`] does nothing but poll and read, and stamps what came with
//! the host's monotonic clock right after the read: a stamp is never earlier
//! than its bytes. A device that vanishes is an event and is opened again as
//! soon as it is back; [`Control`] writes from other threads meanwhile.

mod address;
mod exec;
mod line;
mod tty;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

pub use address::Address;
pub use tty::{Flow, LineFormat, Parity, present};

use line::{Line, Taken};

/// The first wait before a device that vanished is looked for again.
const BACKOFF_FIRST: Duration = Duration::from_millis(20);
/// The longest one: a device is seen at most this late.
const BACKOFF_MOST: Duration = Duration::from_millis(500);
/// How long a write may wait for a line that takes nothing.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The host's monotonic clock, ns: the clock of all stamps.
pub fn monotonic_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000) + now.tv_nsec
}

/// How a port is to be set up; what does not apply to it is left aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bits per second of a serial line.
    pub baud: u32,
    /// Data bits, parity, stop bits.
    pub format: LineFormat,
    /// Who holds whom back.
    pub flow: Flow,
    /// DTR once it is open; `None` leaves what the driver does.
    pub dtr: Option<bool>,
    /// RTS once it is open; `None` leaves what the driver does.
    pub rts: Option<bool>,
    /// How long to try to connect to a socket.
    pub connect: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            baud: 115_200,
            format: LineFormat::default(),
            flow: Flow::None,
            dtr: None,
            rts: None,
            connect: Duration::from_secs(5),
        }
    }
}

/// Why a port cannot be opened or used: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// What was typed is no port.
    #[error("{0}")]
    Address(String),
    /// It is not there, not ours, taken, or does not do what is asked.
    #[error("{0}")]
    Open(String),
    /// It broke while it was used.
    #[error("{port}: {source}")]
    Io {
        /// The port.
        port: String,
        /// What went wrong.
        source: io::Error,
    },
}

/// What a port told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// So many bytes are in the buffer; they were there at `ns`.
    Bytes {
        /// How many.
        len: usize,
        /// The monotonic clock right after the read.
        ns: i64,
    },
    /// The device vanished or the connection closed, and why. The port looks
    /// for it while it is read.
    Gone {
        /// When that was seen, on the monotonic clock.
        ns: i64,
        /// What the host says of it.
        why: String,
    },
    /// It is back, set up as before.
    Returned {
        /// When it was open again.
        ns: i64,
    },
    /// There will never be more: the input or the command ended, and how.
    Ended {
        /// When that was seen.
        ns: i64,
        /// How.
        why: String,
    },
    /// Nothing happened until the deadline.
    Deadline,
}

/// An open port.
pub struct Port {
    address: Address,
    settings: Settings,
    /// `None` while the device is gone.
    line: Option<Arc<Line>>,
    /// The same, for [`Control`].
    shared: Arc<Mutex<Option<Arc<Line>>>>,
    backoff: Duration,
    next_try: Instant,
    ended: Option<String>,
}

impl Port {
    /// Opens what `address` names.
    ///
    /// A command is killed when the thread that called this is gone, so open
    /// it on a thread that outlives the port.
    ///
    /// # Errors
    /// If that cannot be done, with what to do about it.
    pub fn open(address: &Address, settings: &Settings) -> Result<Self, PortError> {
        let line = Arc::new(Line::open(address, settings)?);
        Ok(Self {
            address: address.clone(),
            settings: settings.clone(),
            line: Some(line.clone()),
            shared: Arc::new(Mutex::new(Some(line))),
            backoff: BACKOFF_FIRST,
            next_try: Instant::now(),
            ended: None,
        })
    }

    /// What is open.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// A handle for writing and for the control lines.
    pub fn control(&self) -> Control {
        Control {
            name: self.address.to_string(),
            line: self.shared.clone(),
        }
    }

    /// Reads into `buffer` what has come, or waits for it until `deadline`.
    ///
    /// # Errors
    /// If the port broke in a way from which there is no return.
    pub fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<PortEvent, PortError> {
        if let Some(why) = &self.ended {
            let (ns, why) = (monotonic_ns(), why.clone());
            return Ok(PortEvent::Ended { ns, why });
        }
        let Some(line) = &self.line else {
            return self.look_for_it(deadline);
        };
        let taken = line.read(buffer, deadline).map_err(|e| self.failed(e))?;
        Ok(match taken {
            Taken::Bytes { len, ns } => PortEvent::Bytes { len, ns },
            Taken::Nothing => PortEvent::Deadline,
            Taken::Gone(why) if self.address.may_return() => {
                self.close();
                self.backoff = BACKOFF_FIRST;
                self.next_try = Instant::now() + BACKOFF_FIRST;
                let ns = monotonic_ns();
                PortEvent::Gone { ns, why }
            }
            Taken::Gone(why) | Taken::Ended(why) => {
                self.close();
                self.ended = Some(why.clone());
                let ns = monotonic_ns();
                PortEvent::Ended { ns, why }
            }
        })
    }

    /// The device is gone: tries to open it until `deadline`.
    fn look_for_it(&mut self, deadline: Instant) -> Result<PortEvent, PortError> {
        loop {
            let now = Instant::now();
            if self.next_try > deadline {
                std::thread::sleep(deadline.saturating_duration_since(now));
                return Ok(PortEvent::Deadline);
            }
            std::thread::sleep(self.next_try.saturating_duration_since(now));
            // Not there, not yet ours (udev sets the group a moment later), or
            // not yet listening: all of that may pass.
            if let Ok(line) = Line::open(&self.address, &self.settings) {
                let line = Arc::new(line);
                *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.clone());
                self.line = Some(line);
                let ns = monotonic_ns();
                return Ok(PortEvent::Returned { ns });
            }
            self.backoff = (self.backoff * 2).min(BACKOFF_MOST);
            self.next_try = Instant::now() + self.backoff;
        }
    }

    /// Closes at once: as long as a device is open, its name is not free.
    fn close(&mut self) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.line = None;
    }

    fn failed(&self, source: io::Error) -> PortError {
        let port = self.address.to_string();
        PortError::Io { port, source }
    }
}

/// Writes to a port and moves its control lines, from any thread.
#[derive(Clone)]
pub struct Control {
    name: String,
    line: Arc<Mutex<Option<Arc<Line>>>>,
}

impl Control {
    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// If the port cannot be written to, is gone, or takes nothing for 5 s.
    pub fn write(&self, bytes: &[u8]) -> Result<(), PortError> {
        let line = self.line()?;
        let deadline = Instant::now() + WRITE_TIMEOUT;
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = line.write(rest, deadline).map_err(|e| self.failed(e))?;
            rest = &rest[n..];
        }
        Ok(())
    }

    /// Sets DTR (`true`: active).
    ///
    /// # Errors
    /// If the port has no such line.
    pub fn dtr(&self, active: bool) -> Result<(), PortError> {
        self.line()?.dtr(active).map_err(|e| self.failed(e))
    }

    /// Sets RTS (`true`: active).
    ///
    /// # Errors
    /// If the port has no such line.
    pub fn rts(&self, active: bool) -> Result<(), PortError> {
        self.line()?.rts(active).map_err(|e| self.failed(e))
    }

    /// Holds the line at break for `how_long`.
    ///
    /// # Errors
    /// If the port cannot do that.
    pub fn send_break(&self, how_long: Duration) -> Result<(), PortError> {
        let line = self.line()?;
        let hold = |on| line.set_break(on).map_err(|e| self.failed(e));
        hold(true)?;
        std::thread::sleep(how_long);
        hold(false)
    }

    fn line(&self) -> Result<Arc<Line>, PortError> {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || self.failed(io::Error::new(io::ErrorKind::NotConnected, "it is gone"));
        line.clone().ok_or_else(gone)
    }

    fn failed(&self, source: io::Error) -> PortError {
        let port = self.name.clone();
        PortError::Io { port, source }
    }
}

/// Waits until `fd` is ready for `events`; `false` at the deadline.
fn wait(fd: impl std::os::fd::AsFd, events: PollFlags, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = rustix::event::Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [rustix::event::PollFd::new(&fd, events)];
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(e) => return Err(e.into()),
        }
    }
}

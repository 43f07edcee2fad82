//! One opened console: whatever it is, a file descriptor to poll.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use serial2::SerialPort;

use super::exec::Exec;
use super::{Address, PortError, Settings, monotonic_ns, tty, wait};

/// What is open.
pub(super) enum Line {
    Tty(SerialPort),
    Socket(OwnedFd),
    Exec(Exec),
    Stdin,
}

/// What one read gave.
pub(super) enum Taken {
    Bytes {
        len: usize,
        ns: i64,
    },
    /// Nothing until the deadline.
    Nothing,
    /// The other end is no longer there, and why.
    Gone(String),
    /// It has come to its end, and how.
    Ended(String),
}

impl Line {
    pub(super) fn open(address: &Address, settings: &Settings) -> Result<Self, PortError> {
        match address {
            Address::Tty(path) => tty::open(path, settings).map(Line::Tty),
            Address::Tcp { host, port } => tcp(host, *port, settings.connect).map(Line::Socket),
            Address::Unix(path) => unix(path).map(Line::Socket),
            Address::Exec(command) => Exec::start(command).map(Line::Exec),
            Address::Stdin => Ok(Line::Stdin),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Line::Tty(port) => port.as_fd(),
            Line::Socket(fd) => fd.as_fd(),
            Line::Exec(exec) => exec.fd(),
            Line::Stdin => rustix::stdio::stdin(),
        }
    }

    pub(super) fn read(&self, buffer: &mut [u8], deadline: Instant) -> io::Result<Taken> {
        loop {
            if !wait(self.fd(), PollFlags::IN, deadline)? {
                return Ok(Taken::Nothing);
            }
            let read = rustix::io::read(self.fd(), &mut *buffer);
            let ns = monotonic_ns();
            return match read {
                Ok(0) => Ok(self.over(None)),
                Ok(len) => Ok(Taken::Bytes { len, ns }),
                Err(Errno::INTR | Errno::AGAIN) => continue,
                // What a line says whose adapter was pulled or whose other
                // side is gone.
                Err(
                    e @ (Errno::IO
                    | Errno::NXIO
                    | Errno::NODEV
                    | Errno::CONNRESET
                    | Errno::TIMEDOUT
                    | Errno::PIPE
                    | Errno::HOSTUNREACH
                    | Errno::NETUNREACH),
                ) => Ok(self.over(Some(e))),
                Err(e) => Err(e.into()),
            };
        }
    }

    fn over(&self, e: Option<Errno>) -> Taken {
        match self {
            Line::Tty(_) => Taken::Gone("it was unplugged, or its other side closed".into()),
            Line::Socket(_) => Taken::Gone(match e {
                None => "the other side closed the connection".into(),
                Some(e) => format!("the connection broke: {}", io::Error::from(e)),
            }),
            Line::Exec(exec) => Taken::Ended(exec.how_it_ended()),
            Line::Stdin => Taken::Ended("the input ends here".into()),
        }
    }

    /// Writes a part of `bytes`; says how many.
    pub(super) fn write(&self, bytes: &[u8], deadline: Instant) -> io::Result<usize> {
        if let Line::Stdin = self {
            let why = "standard input cannot be written to: name the device";
            return Err(io::Error::other(why));
        }
        loop {
            if !wait(self.fd(), PollFlags::OUT, deadline)? {
                let why = "it takes no bytes: is flow control on, or the board off?";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            match rustix::io::write(self.fd(), bytes) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                written => return Ok(written?),
            }
        }
    }

    pub(super) fn dtr(&self, active: bool) -> io::Result<()> {
        self.serial("DTR")?.set_dtr(active)
    }

    pub(super) fn rts(&self, active: bool) -> io::Result<()> {
        self.serial("RTS")?.set_rts(active)
    }

    pub(super) fn set_break(&self, on: bool) -> io::Result<()> {
        self.serial("break")?.set_break(on)
    }

    fn serial(&self, what: &str) -> io::Result<&SerialPort> {
        match self {
            Line::Tty(port) => Ok(port),
            _ => Err(io::Error::other(format!(
                "only a serial line has {what}; for a port of ser2net set it there"
            ))),
        }
    }
}

fn tcp(host: &str, port: u16, patience: Duration) -> Result<OwnedFd, PortError> {
    let refused = |e: io::Error| {
        let what_now = match e.kind() {
            io::ErrorKind::ConnectionRefused => {
                "nothing listens there: is ser2net running, with this port as `tcp,PORT` (raw, not telnet)?"
            }
            io::ErrorKind::TimedOut => "it does not answer: is the host on, is a firewall between?",
            _ => "check the name and the network",
        };
        PortError::Open(format!("cannot connect to {host}:{port}: {e}; {what_now}"))
    };
    let addresses = (host, port).to_socket_addrs().map_err(refused)?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream
                    .set_nodelay(true)
                    .and_then(|()| stream.set_nonblocking(true))
                    .and_then(|()| keep_alive(&stream))
                    .map_err(refused)?;
                return Ok(stream.into());
            }
            Err(e) => last = e,
        }
    }
    Err(refused(last))
}

/// A terminal server that loses its power says nothing: ask it now and then.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(stream, 3)?;
    Ok(())
}

fn unix(path: &Path) -> Result<OwnedFd, PortError> {
    let refused = |e: io::Error| {
        let what_now = match e.kind() {
            io::ErrorKind::NotFound => "there is no such socket",
            io::ErrorKind::ConnectionRefused => {
                "nobody listens on it: is the other program running?"
            }
            io::ErrorKind::PermissionDenied => "its owner does not let you",
            _ => "is it a socket that takes connections?",
        };
        PortError::Open(format!(
            "cannot connect to {}: {e}; {what_now}",
            path.display()
        ))
    };
    let stream = UnixStream::connect(path).map_err(refused)?;
    stream.set_nonblocking(true).map_err(refused)?;
    Ok(stream.into())
}

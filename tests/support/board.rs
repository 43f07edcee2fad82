//! A board: one side of a pseudo terminal, written to by the test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

/// The board's side; the other is the device `name`.
pub(crate) struct Board {
    pub(crate) wire: File,
    pub(crate) name: PathBuf,
}

impl Board {
    pub(crate) fn new() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master: OwnedFd = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        // Raw from the start: what is said before anybody listens is not echoed.
        let mut raw = rustix::termios::tcgetattr(&master).unwrap();
        raw.make_raw();
        rustix::termios::tcsetattr(&master, OptionalActions::Now, &raw).unwrap();
        Self {
            wire: master.into(),
            name: std::ffi::OsStr::from_bytes(name.to_bytes()).into(),
        }
    }

    /// A board whose device is known under another name, as adapters are.
    pub(crate) fn known_as(link: &Path) -> Self {
        let board = Self::new();
        let _ = std::fs::remove_file(link);
        std::os::unix::fs::symlink(&board.name, link).unwrap();
        board
    }

    pub(crate) fn say(&mut self, text: impl AsRef<[u8]>) {
        self.wire.write_all(text.as_ref()).unwrap();
    }

    /// Waits for what somebody types.
    pub(crate) fn hears(&mut self, text: &[u8]) {
        let mut got = vec![0; text.len()];
        self.wire.read_exact(&mut got).unwrap();
        assert_eq!(got, text);
    }
}

/// Waits until something is so, for as long as any host may take.
pub(crate) fn wait_for(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

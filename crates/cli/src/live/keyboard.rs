//! What is typed goes to the board, key by key, as in any terminal program;
//! the board echoes it. Ctrl-C ends the capture.
//!
//! What is typed is not recorded: it may be a password.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios};

/// How often the thread looks whether it still has the terminal.
const LOOK: Duration = Duration::from_millis(100);

/// The keyboard of a terminal; gives the terminal back when it is dropped.
pub(crate) struct Keyboard {
    pub(crate) typed: Receiver<Vec<u8>>,
    before: Termios,
}

impl Keyboard {
    /// The keyboard, if there is a person: both sides of a terminal, in the
    /// foreground.
    pub(crate) fn take() -> Option<Self> {
        let stdin = rustix::stdio::stdin();
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() || !foreground() {
            return None;
        }
        let before = rustix::termios::tcgetattr(stdin).ok()?;
        let mut keys = before.clone();
        keys.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        // Enter is a carriage return, and Ctrl-S stops the screen as ever.
        keys.input_modes &= !InputModes::ICRNL;
        rustix::termios::tcsetattr(stdin, OptionalActions::Now, &keys).ok()?;
        let (send, typed) = channel();
        std::thread::spawn(move || {
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: LOOK.subsec_nanos().into(),
            };
            loop {
                // Reading in the background would stop the whole program.
                if !foreground() {
                    std::thread::sleep(LOOK);
                    continue;
                }
                let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
                if !matches!(poll(&mut fds, Some(&timeout)), Ok(1..)) {
                    continue;
                }
                let mut keys = [0; 256];
                let n = match rustix::io::read(stdin, &mut keys) {
                    Ok(n @ 1..) => n,
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                    // The terminal is gone.
                    Ok(_) | Err(_) => return,
                };
                if send.send(keys[..n].to_owned()).is_err() {
                    return;
                }
            }
        });
        Some(Self { typed, before })
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let stdin = rustix::stdio::stdin();
        let _ = rustix::termios::tcsetattr(stdin, OptionalActions::Now, &self.before);
    }
}

fn foreground() -> bool {
    let group = rustix::termios::tcgetpgrp(rustix::stdio::stdin());
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}

//! What is to be captured, from where, and until when.

use std::path::PathBuf;
use std::time::Duration;

use regex::bytes::Regex;

use crate::Manifest;
use crate::port::{Address, Settings};

/// What is to be captured.
#[derive(Clone)]
pub struct Plan {
    /// The console's other end.
    pub port: Address,
    /// How it is set up.
    pub settings: Settings,
    /// The line that is zero, and with more boots the line that begins one.
    pub from: Option<Regex>,
    /// What ends a boot; without it `ready` does.
    pub until: Option<Regex>,
    /// What means ready; without it `until` does.
    pub ready: Option<Regex>,
    /// Named moments.
    pub marks: Vec<(String, Regex)>,
    /// The longest that one boot is recorded.
    pub longest: Option<Duration>,
    /// A silence that ends it.
    pub idle: Option<Duration>,
    /// How long to wait for a device that vanished.
    pub patience: Duration,
    /// Switches the board on.
    pub power_cmd: Option<String>,
    /// Switches it off.
    pub power_off_cmd: Option<String>,
    /// How long it stays off between.
    pub off: Duration,
    /// What is done with DTR once the port is open.
    pub dtr: Option<Pin>,
    /// The same for RTS.
    pub rts: Option<Pin>,
    /// What is sent, once a boot each.
    pub send: Vec<Sending>,
    /// How many boots.
    pub boots: u32,
    /// The run's folder; with more boots the folder of the runs.
    pub dir: PathBuf,
    /// What is known before; the rest is filled in.
    pub manifest: Manifest,
}

/// What to do with a control line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Active from the start.
    On,
    /// Inactive from the start.
    Off,
    /// Active for 250 ms when a boot is to begin: on many boards that is reset.
    Pulse,
}

/// What is sent to the board.
#[derive(Clone, Debug)]
pub struct Sending {
    /// When this is met; without it when the boot begins.
    pub when: Option<Regex>,
    /// What.
    pub bytes: Vec<u8>,
}

impl Plan {
    /// Whether this program makes the board boot, so that a boot begins when
    /// it says so.
    pub(super) fn powers(&self) -> bool {
        let pulses = |pin: Option<Pin>| pin == Some(Pin::Pulse);
        self.power_cmd.is_some() || pulses(self.dtr) || pulses(self.rts)
    }

    /// The run's folder of a boot, counted from 1.
    pub(super) fn dir_of(&self, boot: u32) -> PathBuf {
        match self.boots {
            1 => self.dir.clone(),
            _ => self.dir.join(boot.to_string()),
        }
    }
}

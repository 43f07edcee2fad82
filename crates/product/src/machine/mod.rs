//! `[machine]` of a `target.toml`: as it is written, and what it means.
//!
//! One table serves all kinds of machines; which keys it may and must have
//! depends on the kind. So it is read as it stands and checked afterwards:
//! mistakes are told with the line of the key itself.

use serde::{Deserialize, Serialize};

use crate::mistake::{Mistake, pattern, wrong};

/// What boots a target.
#[derive(Clone, Debug)]
pub enum Machine {
    /// An emulated machine, which is given the target's parts.
    Qemu(Qemu),
    /// A real board, which has its parts on it.
    Board(Board),
}

/// An emulated machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Qemu {
    /// The QEMU program, found in `PATH` unless it has a slash.
    pub program: String,
    /// QEMU's `-M`.
    pub machine: String,
    /// QEMU's `-cpu`.
    pub cpu: String,
    /// Memory in MiB.
    pub memory_mb: u32,
    /// Number of processors.
    pub cpus: u32,
    /// Simulated time: an instruction lasts 2^shift ns.
    pub icount_shift: u32,
    /// In simulated and modelled time, whether the turns of a loop that only waits for
    /// a timer are left out: the guest's times are the same, the host's are shorter.
    pub skip_waits: bool,
    /// More arguments for QEMU; `{dir}` stands for the target's folder.
    pub args: Vec<String>,
}

/// A board: where its console is, and how it is switched.
#[derive(Clone, Debug)]
pub struct Board {
    /// Where its console is.
    pub console: Console,
    /// How it is switched.
    pub power: Power,
    /// What is typed, and after what.
    pub send: Vec<Send>,
    /// Give up after so many seconds without a byte.
    pub quiet_s: Option<u64>,
    /// Command that puts a changed target onto the board; see
    /// `docs/boards.md`.
    pub install: Option<String>,
}

/// Where a board's console is.
#[derive(Clone, Debug)]
pub enum Console {
    /// A serial port, `tcp:HOST:PORT` or `unix:PATH`.
    Serial {
        /// Which, as it is written; paths start from the target's folder.
        device: String,
        /// Bits per second; means something for a serial port only.
        baud: u32,
    },
    /// A program whose output it is, for `sh -c` in the target's folder.
    Command {
        /// What to run.
        run: String,
    },
}

/// Commands for `sh -c`, run in the target's folder, that switch a board.
#[derive(Clone, Debug)]
pub struct Power {
    /// How a boot begins.
    pub start: Start,
    /// Switches it off: before each boot that begins with [`Start::On`], and
    /// when all is done.
    pub off: Option<String>,
    /// Seconds that it stays off before it is switched on.
    pub settle_s: u64,
    /// Seconds that one of these commands may take.
    pub timeout_s: u64,
}

/// What makes a board boot.
#[derive(Clone, Debug)]
pub enum Start {
    /// It is off, and this switches it on.
    On(String),
    /// This switches it off and on again, or resets it.
    Cycle(String),
    /// The console's program is the board: it boots when that starts.
    Console,
}

/// Something to type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Send {
    /// Regular expression of the console line that it answers.
    pub after: String,
    /// What to type; `\n` is the return key.
    pub text: String,
}

/// `[machine]` as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineTable {
    kind: MachineKind,
    // Of qemu.
    program: Option<String>,
    machine: Option<String>,
    cpu: Option<String>,
    memory_mb: Option<u32>,
    cpus: Option<u32>,
    icount_shift: Option<u32>,
    skip_waits: Option<bool>,
    args: Option<Vec<String>>,
    // Of serial.
    device: Option<String>,
    baud: Option<u32>,
    // Of command.
    run: Option<String>,
    // Of both.
    power_on: Option<String>,
    power_off: Option<String>,
    power_cycle: Option<String>,
    settle_s: Option<u64>,
    power_timeout_s: Option<u64>,
    send: Option<Vec<Send>>,
    quiet_s: Option<u64>,
    install: Option<String>,
}

/// Kinds of machines that a target can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MachineKind {
    Qemu,
    Serial,
    Command,
}

impl MachineKind {
    fn name(self) -> &'static str {
        match self {
            MachineKind::Qemu => "qemu",
            MachineKind::Serial => "serial",
            MachineKind::Command => "command",
        }
    }
}

/// Options of QEMU that would take a boot out of bootlap's hands.
const RESERVED: [&str; 8] = [
    "-daemonize",
    "-serial",
    "-icount",
    "-S",
    "-qmp",
    "-mon",
    "-nographic",
    "-pidfile",
];

/// What nearly every console runs at.
const BAUD: u32 = 115_200;
/// Capacitors are empty after so many seconds, as a rule.
const SETTLE_S: u64 = 2;
/// A relay answers at once, a power strip in the network takes its time.
const POWER_TIMEOUT_S: u64 = 30;

impl MachineTable {
    /// Memory in MiB, if it says so.
    pub(crate) fn memory_mb(&self) -> Option<u32> {
        self.memory_mb
    }

    /// What it means, or the first mistake in it.
    pub(crate) fn machine(&self) -> Result<Machine, Mistake> {
        self.only_its_own()?;
        match self.kind {
            MachineKind::Qemu => self.qemu().map(Machine::Qemu),
            MachineKind::Serial => {
                let device = required("device", &self.device, "the port that its console is on")?;
                let console = Console::Serial {
                    device: checked_device(device)?,
                    baud: at_least_one("baud", self.baud.unwrap_or(BAUD))?,
                };
                self.board(console).map(Machine::Board)
            }
            MachineKind::Command => {
                let run = required("run", &self.run, "the program whose output is the console")?;
                let run = command("run", &run)?;
                self.board(Console::Command { run }).map(Machine::Board)
            }
        }
    }

    /// A key of another kind would be ignored, and its writer would wonder.
    fn only_its_own(&self) -> Result<(), Mistake> {
        use MachineKind::{Command, Qemu, Serial};
        const BOARD: &[MachineKind] = &[Serial, Command];
        let keys: [(&str, bool, &[MachineKind]); 19] = [
            ("program", self.program.is_some(), &[Qemu]),
            ("machine", self.machine.is_some(), &[Qemu]),
            ("cpu", self.cpu.is_some(), &[Qemu]),
            ("memory-mb", self.memory_mb.is_some(), &[Qemu]),
            ("cpus", self.cpus.is_some(), &[Qemu]),
            ("icount-shift", self.icount_shift.is_some(), &[Qemu]),
            ("skip-waits", self.skip_waits.is_some(), &[Qemu]),
            ("args", self.args.is_some(), &[Qemu]),
            ("device", self.device.is_some(), &[Serial]),
            ("baud", self.baud.is_some(), &[Serial]),
            ("run", self.run.is_some(), &[Command]),
            ("power-on", self.power_on.is_some(), BOARD),
            ("power-off", self.power_off.is_some(), BOARD),
            ("power-cycle", self.power_cycle.is_some(), BOARD),
            ("settle-s", self.settle_s.is_some(), BOARD),
            ("power-timeout-s", self.power_timeout_s.is_some(), BOARD),
            ("send", self.send.is_some(), BOARD),
            ("quiet-s", self.quiet_s.is_some(), BOARD),
            ("install", self.install.is_some(), BOARD),
        ];
        for (key, there, kinds) in keys {
            if there && !kinds.contains(&self.kind) {
                let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
                return wrong(
                    &format!("machine.{key}"),
                    format!(
                        "{key} is for machines of kind {}, and this one is of kind {}; remove \
                         it, or change the kind",
                        kinds.join(" or "),
                        self.kind.name()
                    ),
                );
            }
        }
        Ok(())
    }

    fn qemu(&self) -> Result<Qemu, Mistake> {
        let text = |key: &str, value: &Option<String>| match value {
            Some(value) => Ok(value.clone()),
            None => missing(key),
        };
        let qemu = Qemu {
            program: text("program", &self.program)?,
            machine: text("machine", &self.machine)?,
            cpu: text("cpu", &self.cpu)?,
            memory_mb: match self.memory_mb {
                Some(mb) => at_least_one("memory-mb", mb)?,
                None => return missing("memory-mb"),
            },
            cpus: at_least_one("cpus", self.cpus.unwrap_or(1))?,
            icount_shift: self.icount_shift.unwrap_or(1),
            skip_waits: self.skip_waits.unwrap_or(true),
            args: self.args.clone().unwrap_or_default(),
        };
        if qemu.icount_shift > 10 {
            return wrong(
                "machine.icount-shift",
                "icount-shift is a power of two of ns per instruction, from 0 to 10",
            );
        }
        let reserved = qemu.args.iter().find(|a| RESERVED.contains(&a.as_str()));
        match reserved {
            Some(arg) => wrong(
                "machine.args",
                format!("{arg} is bootlap's own business: console, control and time; remove it"),
            ),
            None => Ok(qemu),
        }
    }

    fn board(&self, console: Console) -> Result<Board, Mistake> {
        let send = self.send.clone().unwrap_or_default();
        for (i, each) in send.iter().enumerate() {
            pattern(&format!("machine.send.{i}.after"), &each.after)?;
        }
        if let Some(quiet) = self.quiet_s {
            at_least_one("quiet-s", quiet)?;
        }
        let start = self.start(&console)?;
        Ok(Board {
            console,
            power: Power {
                start,
                off: optional("power-off", &self.power_off)?,
                settle_s: self.settle_s.unwrap_or(SETTLE_S),
                timeout_s: at_least_one(
                    "power-timeout-s",
                    self.power_timeout_s.unwrap_or(POWER_TIMEOUT_S),
                )?,
            },
            send,
            quiet_s: self.quiet_s,
            install: optional("install", &self.install)?,
        })
    }

    /// How a boot begins; what leaves that open is a mistake.
    fn start(&self, console: &Console) -> Result<Start, Mistake> {
        let on = optional("power-on", &self.power_on)?;
        let cycle = optional("power-cycle", &self.power_cycle)?;
        match (on, cycle) {
            (Some(_), Some(_)) => wrong(
                "machine.power-cycle",
                "power-on and power-cycle both begin a boot; keep power-cycle if one command \
                 does it all, else power-off and power-on",
            ),
            (Some(_), None) if self.power_off.is_none() => wrong(
                "machine.power-on",
                "each boot begins with the board off, and nothing says how; add power-off, or \
                 call this command power-cycle if it switches off and on",
            ),
            (Some(on), None) => Ok(Start::On(on)),
            (None, Some(cycle)) => Ok(Start::Cycle(cycle)),
            (None, None) => match console {
                Console::Command { .. } => Ok(Start::Console),
                Console::Serial { .. } => wrong(
                    "machine",
                    "nothing says how the board is switched on; add power-on and power-off, or \
                     power-cycle; docs/boards.md has examples",
                ),
            },
        }
    }
}

fn missing<T>(key: &str) -> Result<T, Mistake> {
    wrong(
        &format!("machine.{key}"),
        format!("missing field `{key}`; add it; docs/targets.md explains every key"),
    )
}

fn required(key: &str, value: &Option<String>, what: &str) -> Result<String, Mistake> {
    match value {
        Some(value) => Ok(value.clone()),
        None => wrong(
            &format!("machine.{key}"),
            format!("missing field `{key}`, {what}; add it; docs/boards.md explains every key"),
        ),
    }
}

fn checked_device(device: String) -> Result<String, Mistake> {
    let names_something = match device.strip_prefix("tcp:") {
        Some(address) => address.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && matches!(port.parse(), Ok(1..=u16::MAX))
        }),
        None => !matches!(device.as_str(), "" | "unix:" | "-"),
    };
    if names_something {
        return Ok(device);
    }
    wrong(
        "machine.device",
        format!(
            "{device:?} names no device; write its path, such as /dev/ttyUSB0, tcp:HOST:PORT or \
             unix:PATH"
        ),
    )
}

fn optional(key: &str, value: &Option<String>) -> Result<Option<String>, Mistake> {
    value.as_ref().map(|v| command(key, v)).transpose()
}

/// The shell takes an empty command for a success.
fn command(key: &str, text: &str) -> Result<String, Mistake> {
    if text.trim().is_empty() || text.contains('\0') {
        return wrong(
            &format!("machine.{key}"),
            "that is no command; write what you would type into a shell, or remove the key",
        );
    }
    Ok(text.to_owned())
}

fn at_least_one<N: Copy + PartialEq + From<u8>>(key: &str, n: N) -> Result<N, Mistake> {
    if n == N::from(0) {
        let key = format!("machine.{key}");
        return wrong(&key, "0 is too little to boot with; write 1 or more");
    }
    Ok(n)
}

#[cfg(test)]
mod tests;

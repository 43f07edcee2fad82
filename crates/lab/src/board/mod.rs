//! The `serial` and `command` machines: a real board, switched by commands and
//! heard through a [`Port`].
//!
//! ```text
//! power-off, settle        unless it is known to be off (with power-cycle: neither)
//! open the console         or keep trying: some come with the board's power
//! t0                       what the console still held is thrown away before
//! power-on or power-cycle  the console is read while it runs
//! … bytes, answers …       until ready, a timeout, silence, or Ctrl-C
//! power-off                if the target says how
//! ```
//!
//! The clock is the host's monotonic one, zero right before the command that
//! switches on is started: all that happens between that and the first
//! instruction (the relay, the network, the supply) is in the first phase.

mod power;
mod typist;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bootlap_model::Stamp;
use bootlap_product::{Board as Spec, Console, Start};
use bootlap_wire::stamps::{Event, Header, Record, StampClock};
use serde_json::{Value, json};

use crate::port::{Address, Port, PortError, PortEvent, Settings, monotonic_ns};
use crate::{LabError, Machine, MachineEvent, MachineInfo};
use power::Command;
use typist::Typist;

/// How often Ctrl-C and the commands are looked after.
const TICK: Duration = Duration::from_millis(20);
/// A console that is not there so long after the board was switched on, or
/// after it went away, will not come.
const CONSOLE_PATIENCE: Duration = Duration::from_secs(15);
/// How long to wait before the console is tried again.
const RETRY: Duration = Duration::from_millis(50);
/// A board that is off says no more after so long.
const STALE: Duration = Duration::from_millis(300);
/// Bytes that are taken at once.
const BUFFER: usize = 64 << 10;

/// A board, for as many boots as wanted.
pub struct Board {
    spec: Spec,
    /// The target's folder: where commands run and relative paths start.
    dir: PathBuf,
    /// Set when the user wants to stop.
    stop: Arc<AtomicBool>,
    /// Since when it is off, if it is.
    off_since: Option<Instant>,
    /// Whether it was ever touched.
    begun: bool,
    /// The boot that goes on.
    boot: Option<Boot>,
    facts: Value,
    /// Why it could not be switched off.
    trouble: Option<LabError>,
}

/// What lasts for one boot.
struct Boot {
    port: Option<Port>,
    typist: Typist,
    /// The command that switched it on; held because of what it left running.
    power: Option<Command>,
    power_done: bool,
    t0: Instant,
    t0_ns: i64,
    last_byte: Instant,
    /// Since when the console is gone, if it is, and why.
    gone: Option<(Instant, String)>,
    buffer: Vec<u8>,
}

impl Boot {
    /// A moment of the monotonic clock, since the board was switched on.
    fn at(&self, ns: i64) -> Stamp {
        Stamp::new(ns.saturating_sub(self.t0_ns).max(0), 0)
    }

    /// What happened to the console itself.
    fn event(&self, ns: i64, event: Event) -> MachineEvent {
        let at = self.at(ns);
        MachineEvent::Console(vec![Record::Event { at, event }])
    }
}

impl Board {
    /// The board that `spec` describes, in the target's folder `dir`. Once
    /// `stop` is set, a boot that goes on ends as one that never got ready.
    pub fn new(spec: Spec, dir: PathBuf, stop: Arc<AtomicBool>) -> Self {
        let facts = facts(&spec);
        Self {
            spec,
            dir,
            stop,
            off_since: None,
            begun: false,
            boot: None,
            facts,
            trouble: None,
        }
    }

    /// Switches the board off for good, if the target says how.
    ///
    /// # Errors
    /// If that fails now, or failed after the last boot.
    pub fn finish(mut self) -> Result<(), LabError> {
        self.boot = None;
        match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => self.switch_off(),
        }
    }

    /// Whether it was switched on and not yet off again.
    fn may_be_on(&self) -> bool {
        self.off_since.is_none() && self.begun
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(self.spec.power.timeout_s)
    }

    /// Runs the power-off command, unless the board is off.
    fn switch_off(&mut self) -> Result<(), LabError> {
        if !self.may_be_on() {
            return Ok(());
        }
        let Some(off) = self.spec.power.off.clone() else {
            return Ok(());
        };
        // Once only, if it fails: it would fail again.
        self.off_since = Some(Instant::now());
        let done = Command::start("power-off", &off, &self.dir, self.timeout())?.wait()?;
        self.facts["power_off"] = done.facts;
        self.off_since = Some(Instant::now());
        Ok(())
    }

    /// Off, for as long as the target says.
    fn settle(&mut self) -> Result<(), LabError> {
        self.switch_off()?;
        let settled = self.off_since.unwrap_or_else(Instant::now)
            + Duration::from_secs(self.spec.power.settle_s);
        while Instant::now() < settled && !self.stopped() {
            std::thread::sleep(TICK.min(settled.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn open(&self) -> Result<Port, PortError> {
        let (address, settings) = match &self.spec.console {
            Console::Serial { device, baud } => {
                let settings = Settings {
                    baud: *baud,
                    ..Settings::default()
                };
                (self.address(device)?, settings)
            }
            Console::Command { run } => {
                // Ports know no folder of their own.
                let dir = shell_word(&self.dir.display().to_string());
                let command = format!("cd {dir} || exit\n{run}");
                (Address::Exec(command), Settings::default())
            }
        };
        Port::open(&address, &settings)
    }

    /// Relative paths start from the target's folder.
    fn address(&self, device: &str) -> Result<Address, PortError> {
        Ok(match Address::parse(device)? {
            Address::Tty(path) => Address::Tty(self.dir.join(path)),
            Address::Unix(path) => Address::Unix(self.dir.join(path)),
            other => other,
        })
    }

    fn start(&mut self) -> Result<(), LabError> {
        self.facts = facts(&self.spec);
        self.begun = true;
        if let Start::On(_) = self.spec.power.start {
            self.settle()?;
        }
        if self.stopped() {
            return Ok(());
        }
        let typist = Typist::new(&self.spec.send);
        // The console's program may be the board, so its start is t0 then.
        let early = !matches!(self.spec.power.start, Start::Console);
        let mut port = None;
        if early {
            // What cannot be opened now may come with the power: see `console`.
            port = self.open().ok();
            if let Some(port) = &mut port {
                let stale = drain(port)?;
                self.facts["stale_bytes"] = json!(stale);
            }
        }
        let (t0, t0_ns) = (Instant::now(), monotonic_ns());
        let power = match &self.spec.power.start {
            Start::On(text) => Some(("power-on", text)),
            Start::Cycle(text) => Some(("power-cycle", text)),
            Start::Console => None,
        };
        let power = power
            .map(|(key, text)| Command::start(key, text, &self.dir, self.timeout()))
            .transpose()?;
        self.off_since = None;
        if !early {
            port = Some(self.open()?);
        }
        self.boot = Some(Boot {
            port,
            typist,
            power_done: power.is_none(),
            power,
            t0,
            t0_ns,
            last_byte: t0,
            gone: None,
            buffer: vec![0; BUFFER],
        });
        Ok(())
    }

    /// One look at everything, for a tick or until a byte comes.
    fn look(&mut self, deadline: Instant) -> Result<Option<MachineEvent>, LabError> {
        let stopped = |why: String| Ok(Some(MachineEvent::Stopped(why)));
        if self.stopped() {
            return stopped("it was interrupted".into());
        }
        let Some(boot) = &mut self.boot else {
            return stopped("it is switched off".into());
        };
        if let Some(power) = boot.power.as_mut().filter(|_| !boot.power_done) {
            let ended = power.poll();
            boot.power_done = !matches!(ended, Ok(None));
            if let Some(done) = ended? {
                self.facts["power"] = done.facts;
            }
        }
        if boot.port.is_none() {
            self.console(deadline)?;
            return Ok(None);
        }
        let now = Instant::now();
        if let Some(quiet_s) = self.spec.quiet_s
            && now.duration_since(boot.last_byte) >= Duration::from_secs(quiet_s)
        {
            return stopped(format!("the console said nothing for {quiet_s} s"));
        }
        let Some(port) = &mut boot.port else {
            return Ok(None);
        };
        match port.read(&mut boot.buffer, deadline.min(now + TICK))? {
            PortEvent::Bytes { len, ns } => {
                boot.last_byte = Instant::now();
                let control = port.control();
                let bytes = &boot.buffer[..len];
                for text in boot.typist.hears(bytes) {
                    control.write(text.as_bytes())?;
                }
                let at = boot.at(ns);
                let byte = |&byte| Record::Byte { at, byte };
                let records = bytes.iter().map(byte).collect();
                Ok(Some(MachineEvent::Console(records)))
            }
            PortEvent::Ended { why, .. } => stopped(why),
            PortEvent::Gone { ns, why } => {
                boot.gone = Some((Instant::now(), why));
                let gone = self.facts["console_gone"].as_u64().unwrap_or(0);
                self.facts["console_gone"] = json!(gone + 1);
                Ok(Some(boot.event(ns, Event::Gone)))
            }
            PortEvent::Returned { ns } => {
                boot.gone = None;
                Ok(Some(boot.event(ns, Event::Returned)))
            }
            PortEvent::Deadline => match &boot.gone {
                Some((since, why)) if since.elapsed() >= CONSOLE_PATIENCE => {
                    let why = format!("the console went away and did not come back: {why}");
                    Ok(Some(MachineEvent::Stopped(why)))
                }
                _ => Ok(None),
            },
        }
    }

    /// Tries to open a console that comes with the board's power.
    fn console(&mut self, deadline: Instant) -> Result<(), LabError> {
        let opened = self.open();
        let Some(boot) = &mut self.boot else {
            return Ok(());
        };
        match opened {
            Ok(port) => {
                boot.port = Some(port);
                let late = i64::try_from(boot.t0.elapsed().as_millis()).unwrap_or(i64::MAX);
                self.facts["console_opened_after_ms"] = json!(late);
            }
            Err(e) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let late = boot.power_done && boot.t0.elapsed() >= CONSOLE_PATIENCE;
                if late || left.is_zero() {
                    return Err(e.into());
                }
                std::thread::sleep(RETRY.min(left));
            }
        }
        Ok(())
    }
}

impl Machine for Board {
    fn power_on(&mut self) -> Result<MachineInfo, LabError> {
        self.start()?;
        let clock = StampClock::Host;
        Ok(MachineInfo {
            clock: Header { clock },
            facts: self.facts.clone(),
        })
    }

    fn next(&mut self, deadline: Instant) -> Result<MachineEvent, LabError> {
        loop {
            if let Some(event) = self.look(deadline)? {
                return Ok(event);
            }
            if Instant::now() >= deadline {
                if self.boot.as_ref().is_some_and(|b| b.port.is_none()) {
                    // Then that is what is wrong.
                    self.console(deadline)?;
                }
                return Ok(MachineEvent::Deadline);
            }
        }
    }

    fn power_off(&mut self) {
        let Some(mut boot) = self.boot.take() else {
            return;
        };
        // A board that is up before its command has ended: let it end, and
        // leave the switch as it wants it.
        if !boot.power_done
            && let Some(power) = &mut boot.power
        {
            match power.wait() {
                Ok(done) => self.facts["power"] = done.facts,
                Err(e) => self.trouble = Some(e),
            }
        }
        if !self.spec.send.is_empty() {
            self.facts["sent"] = boot.typist.sent();
        }
        drop(boot);
        if let Start::On(_) | Start::Console = self.spec.power.start
            && let Err(e) = self.switch_off()
        {
            self.trouble.get_or_insert(e);
        }
    }

    fn facts(&self) -> Option<Value> {
        Some(self.facts.clone())
    }

    fn answers(&self) -> bool {
        !self.spec.send.is_empty()
    }

    fn trouble(&mut self) -> Option<LabError> {
        self.trouble.take()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.power_off();
        let _ = self.switch_off();
    }
}

/// What the manifest says of a board before it is switched on.
fn facts(spec: &Spec) -> Value {
    match &spec.console {
        Console::Serial { device, baud } => json!({
            "kind": "serial",
            "device": device,
            "baud": baud,
        }),
        Console::Command { run } => json!({
            "kind": "command",
            "run": run,
        }),
    }
}

/// Throws away what the port still held of an earlier boot; how many bytes.
fn drain(port: &mut Port) -> Result<usize, LabError> {
    let (mut buffer, mut stale) = (vec![0; BUFFER], 0);
    let until = Instant::now() + STALE;
    while Instant::now() < until {
        match port.read(&mut buffer, Instant::now())? {
            PortEvent::Bytes { len, .. } => stale += len,
            _ => break,
        }
    }
    Ok(stale)
}

/// Text as one word of a shell's command.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

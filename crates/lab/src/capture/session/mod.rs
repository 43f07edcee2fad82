//! One capture on its way: whose boot a byte is, what it means, when it ends.

mod boots;
mod power;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use bootlap_sources::{Began, BootWatch};
use bootlap_wire::stamps::{Event, Zero};
use regex::bytes::Regex;

use super::garbage::{Garbage, other_rates};
use super::line::Line;
use super::{CaptureEvent, Heard, Plan, Recorded};
use crate::port::{Address, Control, monotonic_ns};
use crate::recorder::Position;
use crate::{Fault, LabError, Recorder, Run, Split};

/// Of a board that does nothing but fall over.
const MOST_FAULTS: usize = 1000;

/// See the module.
pub(super) struct Session<'p> {
    plan: &'p Plan,
    control: Control,
    stop: Arc<AtomicBool>,
    on_event: &'p mut dyn FnMut(CaptureEvent<'_>),
    recorder: Option<Recorder>,
    runs: Vec<Run>,
    failed: Option<String>,
    boot: Boot,
    /// The line that is being said, and where it begins in the run.
    line: Line,
    line_at: Position,
    /// The unfinished line was looked at as far as this.
    looked_at: usize,
    /// The line that is zero, or another boot's, was seen in this line.
    began_here: bool,
    gone_since: Option<Instant>,
    power: Option<Receiver<Result<Duration, String>>>,
}

/// What is known of the boot that is being recorded.
struct Boot {
    number: u32,
    /// Zero on the monotonic clock.
    zero: Option<i64>,
    /// Whether the line that is zero is still to come.
    awaits_from: bool,
    /// What is still looked for.
    wanted: Vec<Wanted>,
    /// Which of the plan's texts were sent.
    sent: Vec<bool>,
    ready_ns: Option<i64>,
    splits: Vec<Split>,
    watch: BootWatch,
    garbage: Garbage,
    began: Instant,
    last_heard: Instant,
    over: bool,
}

struct Wanted {
    name: String,
    pattern: Regex,
    is_ready: bool,
    ends: bool,
}

impl<'p> Session<'p> {
    pub(super) fn new(
        plan: &'p Plan,
        control: Control,
        stop: Arc<AtomicBool>,
        on_event: &'p mut dyn FnMut(CaptureEvent<'_>),
    ) -> Self {
        Self {
            plan,
            control,
            stop,
            on_event,
            recorder: None,
            runs: Vec::new(),
            failed: None,
            boot: Boot::new(plan, 1),
            line: Line::new(),
            line_at: Position::default(),
            looked_at: 0,
            began_here: false,
            gone_since: None,
            power: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.boot.over
    }

    pub(super) fn into_recorded(self) -> Recorded {
        Recorded {
            runs: self.runs,
            failed: self.failed,
        }
    }

    /// Begins the first boot.
    pub(super) fn start(&mut self) -> Result<(), LabError> {
        self.open_run()?;
        self.switch_on()
    }

    /// Sends what waits for nothing.
    fn send_first(&mut self) -> Result<(), LabError> {
        for (i, sending) in self.plan.send.iter().enumerate() {
            if sending.when.is_none() {
                self.send(i)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, i: usize) -> Result<(), LabError> {
        let bytes = &self.plan.send[i].bytes;
        self.boot.sent[i] = true;
        let ns = monotonic_ns();
        match self.control.write(bytes) {
            Ok(()) => {
                let text = bytes.escape_ascii().to_string();
                if let (Some(recorder), Some(zero)) = (&mut self.recorder, self.boot.zero) {
                    recorder.event(ns - zero, Event::Sent, &text)?;
                }
                (self.on_event)(CaptureEvent::Sent(bytes));
            }
            Err(e) => self.fault(ns, "send", &e.to_string()),
        }
        Ok(())
    }

    /// Sends what a person typed.
    pub(super) fn typed(&mut self, keys: &[u8]) {
        if let Err(e) = self.control.write(keys) {
            self.fault(monotonic_ns(), "send", &e.to_string());
        }
    }

    /// Takes what the reader handed over.
    pub(super) fn hear(&mut self, heard: Heard) -> Result<(), LabError> {
        match heard {
            Heard::Bytes { ns, bytes } => {
                self.boot.last_heard = Instant::now();
                for part in bytes.split_inclusive(|b| *b == b'\n') {
                    self.part_of_line(ns, part)?;
                }
                if self.boot.garbage.look(&bytes) {
                    self.wrong_rate(ns)?;
                }
            }
            Heard::Gone { ns, why } => {
                self.gone_since = Some(Instant::now());
                self.happened(ns, Event::Gone, "gone", &why)?;
            }
            Heard::Returned { ns } => {
                let gone = self
                    .gone_since
                    .take()
                    .map_or(0.0, |g| g.elapsed().as_secs_f64());
                let text = format!("after {gone:.1} s");
                self.boot.last_heard = Instant::now();
                self.happened(ns, Event::Returned, "returned", &text)?;
            }
            Heard::Stalled { ns, for_ns } => {
                let text = format!(
                    "nothing was read for {} ms, because the disk or the screen did not keep up",
                    for_ns / 1_000_000
                );
                self.happened(ns, Event::Lost, "stalled", &text)?;
            }
            Heard::Ended { why } => self.port_ended(why)?,
            Heard::Failed(e) => {
                self.failed = Some(e.to_string());
                self.port_ended(e.to_string())?;
            }
        }
        Ok(())
    }

    /// Takes bytes of one line.
    fn part_of_line(&mut self, ns: i64, part: &[u8]) -> Result<(), LabError> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        if !recorder.has_begun() {
            self.set_zero(ns, Zero::FirstByte)?;
        }
        let (Some(recorder), Some(zero)) = (&mut self.recorder, self.boot.zero) else {
            return Ok(());
        };
        if ns < zero {
            // Its dying words, said before the power command.
            recorder.before(part)?;
            (self.on_event)(CaptureEvent::Bytes { ns, bytes: part });
            return Ok(());
        }
        if self.line.first_ns.is_none() {
            self.line_at = recorder.position();
        }
        recorder.chunk(ns - zero, part)?;
        self.line.push(ns, part);
        (self.on_event)(CaptureEvent::Bytes { ns, bytes: part });
        if part.ends_with(b"\n") {
            self.look_at_line(true)?;
            self.next_line();
        }
        Ok(())
    }

    /// Prompts have no line end.
    pub(super) fn look_at_unfinished_line(&mut self) -> Result<(), LabError> {
        let len = self.line.text().len();
        if self.line.first_ns.is_some() && len != self.looked_at {
            self.looked_at = len;
            self.look_at_line(false)?;
        }
        Ok(())
    }

    /// Looks for what the plan describes.
    fn look_at_line(&mut self, whole: bool) -> Result<(), LabError> {
        let from = self.plan.from.as_ref();
        let met = from.is_some_and(|from| self.line.completed(from).is_some());
        let began = match whole {
            true => self.boot.watch.line(self.line.text()),
            false => Began::No,
        };
        let begins = match (from, self.boot.awaits_from) {
            (Some(_), _) => met && !self.began_here,
            (None, true) => began != Began::No,
            (None, false) => began == Began::Again,
        };
        if begins {
            self.began_here = true;
            if self.boot.awaits_from {
                self.begins_here()?;
            } else {
                self.boots_again()?;
            }
        } else if self.boot.awaits_from {
            return Ok(());
        }
        for (i, sending) in self.plan.send.iter().enumerate() {
            let when = sending.when.as_ref().filter(|_| !self.boot.sent[i]);
            if when.is_some_and(|when| self.line.completed(when).is_some()) {
                self.send(i)?;
            }
        }
        self.look_for_splits()
    }

    fn next_line(&mut self) {
        self.line.clear();
        self.looked_at = 0;
        self.began_here = false;
    }

    fn look_for_splits(&mut self) -> Result<(), LabError> {
        let Some(zero) = self.boot.zero else {
            return Ok(());
        };
        let mut met = Vec::new();
        let line = &self.line;
        self.boot
            .wanted
            .retain(|wanted| match line.completed(&wanted.pattern) {
                Some(ns) => {
                    met.push((wanted.name.clone(), ns - zero, wanted.is_ready, wanted.ends));
                    false
                }
                None => true,
            });
        met.sort_by_key(|m| m.1);
        let mut ends = false;
        for (name, ns, is_ready, ending) in met {
            let split = Split { name, ns };
            (self.on_event)(CaptureEvent::Split(&split));
            self.boot.splits.push(split);
            if is_ready {
                self.boot.ready_ns = Some(ns);
            }
            ends |= ending;
        }
        if ends {
            self.end_boot("its end was met")?;
        }
        Ok(())
    }

    fn wrong_rate(&mut self, ns: i64) -> Result<(), LabError> {
        let settings = &self.plan.settings;
        let text = match self.plan.port {
            Address::Tty(_) => format!(
                "this looks like the wrong rate ({}); try --baud {}",
                settings.baud,
                other_rates(settings.baud)
            ),
            Address::Tcp { .. } => "this looks like the wrong rate, or like telnet; set the rate, and `tcp` (raw), in ser2net".to_owned(),
            _ => "this looks like the wrong rate".to_owned(),
        };
        self.happened(ns, Event::WrongRate, "wrong-rate", &text)
    }

    /// Records what happened to the recording.
    fn happened(&mut self, ns: i64, event: Event, kind: &str, text: &str) -> Result<(), LabError> {
        if let (Some(recorder), Some(zero)) = (&mut self.recorder, self.boot.zero) {
            recorder.event(ns - zero, event, text)?;
        }
        self.fault(ns, kind, text);
        Ok(())
    }

    fn fault(&mut self, ns: i64, kind: &str, text: &str) {
        let fault = Fault {
            ns: self.boot.zero.map_or(0, |zero| ns - zero),
            kind: kind.to_owned(),
            text: text.to_owned(),
        };
        (self.on_event)(CaptureEvent::Fault(&fault));
        if let Some(recorder) = &mut self.recorder {
            let faults = &mut recorder.manifest_mut().faults;
            if faults.len() < MOST_FAULTS {
                faults.push(fault);
            }
        }
    }

    pub(super) fn port_ended(&mut self, why: String) -> Result<(), LabError> {
        if self.boot.over {
            return Ok(());
        }
        self.look_at_unfinished_line()?;
        self.finish_all(&why)
    }

    pub(super) fn flush(&mut self) -> Result<(), LabError> {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush()?;
        }
        Ok(())
    }

    /// When something is to be decided, if nothing comes before.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let longest = self.plan.longest.map(|d| self.boot.began + d);
        let idle = self.plan.idle.map(|d| self.boot.last_heard + d);
        [longest, idle].into_iter().flatten().min()
    }

    /// Ends what has lasted long enough.
    pub(super) fn look_at_the_time(&mut self, stop: bool) -> Result<(), LabError> {
        (self.on_event)(CaptureEvent::Tick { ns: monotonic_ns() });
        self.look_at_power()?;
        if self.boot.over {
            return Ok(());
        }
        if stop {
            return self.finish_all("it was stopped");
        }
        let now = Instant::now();
        let patience = self.plan.patience;
        if self.gone_since.is_some_and(|gone| now >= gone + patience) {
            let why = format!(
                "{} did not come back within {} s",
                self.plan.port,
                patience.as_secs()
            );
            self.failed = Some(why.clone());
            return self.finish_all(&why);
        }
        if let Some(d) = self.plan.longest.filter(|d| now >= self.boot.began + *d) {
            return self.end_boot(&format!("{} s were over", d.as_secs_f64()));
        }
        let powering = self.power.is_some();
        let idle = self
            .plan
            .idle
            .filter(|_| !powering && self.gone_since.is_none());
        if let Some(d) = idle.filter(|d| now >= self.boot.last_heard + *d) {
            return self.end_boot(&format!("the console was silent for {} s", d.as_secs_f64()));
        }
        Ok(())
    }

    /// A run could not be written: keeps what is there.
    pub(super) fn abandon(&mut self, e: &LabError) {
        self.fault(monotonic_ns(), "disk", &e.to_string());
        if let Some(recorder) = self.recorder.take() {
            recorder.abandon();
        }
        if let Some(command) = self.plan.power_off_cmd.clone() {
            self.switch_off(&command);
        }
    }
}

impl Boot {
    fn new(plan: &Plan, number: u32) -> Self {
        let wanted = |name: &str, pattern: &Regex, is_ready, ends| Wanted {
            name: name.to_owned(),
            pattern: pattern.clone(),
            is_ready,
            ends,
        };
        let mut all: Vec<Wanted> = plan
            .marks
            .iter()
            .map(|(name, pattern)| wanted(name, pattern, false, false))
            .collect();
        match (&plan.ready, &plan.until) {
            (Some(ready), Some(until)) => {
                all.push(wanted("ready", ready, true, false));
                all.push(wanted("until", until, false, true));
            }
            (Some(end), None) | (None, Some(end)) => all.push(wanted("ready", end, true, true)),
            (None, None) => {}
        }
        let now = Instant::now();
        Self {
            number,
            zero: None,
            awaits_from: plan.from.is_some(),
            wanted: all,
            sent: vec![false; plan.send.len()],
            ready_ns: None,
            splits: Vec::new(),
            watch: BootWatch::default(),
            garbage: Garbage::default(),
            began: now,
            last_heard: now,
            over: false,
        }
    }
}

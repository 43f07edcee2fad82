//! Where one boot ends and the next begins, and the runs that they become.

use std::time::Instant;

use bootlap_wire::stamps::Zero;
use regex::bytes::Regex;
use serde_json::json;

use super::{Boot, Line, Session};
use crate::capture::CaptureEvent;
use crate::port::{Address, monotonic_ns};
use crate::{Captured, LabError, Outcome, ReadyAt, Recorder};

impl Session<'_> {
    pub(super) fn open_run(&mut self) -> Result<(), LabError> {
        let plan = self.plan;
        let number = self.boot.number;
        let dir = plan.dir_of(number);
        let mut manifest = plan.manifest.clone();
        let text = |pattern: &Option<Regex>| pattern.as_ref().map(|p| p.as_str().to_owned());
        manifest.machine = json!({
            "kind": "capture",
            "program": "bootlap capture",
            "version": plan.port.to_string(),
        });
        manifest.capture = Some(Captured {
            port: plan.port.to_string(),
            baud: matches!(plan.port, Address::Tty(_)).then_some(plan.settings.baud),
            from: text(&plan.from),
            until: text(&plan.until),
            power_cmd: plan.power_cmd.clone(),
            boot: number,
            ..Captured::default()
        });
        self.recorder = Some(Recorder::create(&dir, manifest)?);
        (self.on_event)(CaptureEvent::Begins {
            boot: number,
            dir: &dir,
        });
        Ok(())
    }

    /// Times count from `ns`; begins the evidence.
    pub(super) fn set_zero(&mut self, ns: i64, zero: Zero) -> Result<(), LabError> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        let wall = crate::clock::now();
        let ago = jiff::SignedDuration::from_nanos(monotonic_ns().saturating_sub(ns));
        let wall = wall.checked_sub(ago).unwrap_or(wall);
        if let Some(captured) = &mut recorder.manifest_mut().capture {
            captured.zero = zero_name(zero).to_owned();
            captured.zero_wall = format!("{wall:.9}");
            captured.zero_monotonic_ns = ns;
        }
        if recorder.has_begun() {
            recorder.set_aside(zero)?;
        } else {
            let machine = recorder.manifest_mut().machine.take();
            recorder.begin_chunks(machine, zero)?;
        }
        self.boot.zero = Some(ns);
        (self.on_event)(CaptureEvent::Zero { ns });
        Ok(())
    }

    /// The line that is zero has come: what was recorded came before it.
    pub(super) fn begins_here(&mut self) -> Result<(), LabError> {
        self.boot.awaits_from = false;
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        recorder.cut_back(self.line_at)?;
        let ns = self.line.first_ns.unwrap_or_else(monotonic_ns);
        self.set_zero(ns, Zero::Pattern)?;
        self.boot.began = Instant::now();
        self.replay_line()
    }

    /// Puts the current line at the beginning of the evidence.
    pub(super) fn replay_line(&mut self) -> Result<(), LabError> {
        let (Some(recorder), Some(zero)) = (&mut self.recorder, self.boot.zero) else {
            return Ok(());
        };
        self.line_at = recorder.position();
        for (ns, bytes) in &self.line.raw {
            recorder.chunk(ns - zero, bytes)?;
        }
        Ok(())
    }

    /// The board begins to boot after a boot that had begun.
    pub(super) fn boots_again(&mut self) -> Result<(), LabError> {
        let ns = self.line.first_ns.unwrap_or_else(monotonic_ns);
        self.fault(ns, "restarted", "the board boots again");
        if self.boot.number >= self.plan.boots || self.plan.powers() {
            return Ok(());
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.cut_back(self.line_at)?;
        }
        let mut line = std::mem::replace(&mut self.line, Line::new());
        self.end_boot("the board booted again")?;
        std::mem::swap(&mut self.line, &mut line);
        self.began_here = true;
        self.boot.awaits_from = false;
        // The watch of the new boot has to know how it began.
        self.boot.watch.line(self.line.text());
        self.set_zero(ns, Zero::Pattern)?;
        self.replay_line()
    }

    /// This boot is recorded; the next one begins, or all is over.
    pub(super) fn end_boot(&mut self, why: &str) -> Result<(), LabError> {
        let next = self.boot.number + 1;
        if next > self.plan.boots {
            return self.finish_all(why);
        }
        self.finish_run(why)?;
        self.boot = Boot::new(self.plan, next);
        // Without a power command, a boot begins when the board says so.
        self.boot.awaits_from |= !self.plan.powers();
        self.next_line();
        self.open_run()?;
        self.switch_on()
    }

    pub(super) fn finish_all(&mut self, why: &str) -> Result<(), LabError> {
        self.boot.over = true;
        self.finish_run(why)?;
        if let Some(command) = self.plan.power_off_cmd.clone() {
            self.switch_off(&command);
        }
        Ok(())
    }

    pub(super) fn finish_run(&mut self, why: &str) -> Result<(), LabError> {
        self.wait_for_power();
        let Some(mut recorder) = self.recorder.take() else {
            return Ok(());
        };
        if !recorder.has_begun() {
            // Nothing ever came: an empty console is evidence, too.
            let machine = recorder.manifest_mut().machine.take();
            recorder.begin_chunks(machine, Zero::FirstByte)?;
        }
        if let Some(captured) = &mut recorder.manifest_mut().capture {
            captured.splits = std::mem::take(&mut self.boot.splits);
        }
        let awaited = self.plan.ready.is_some() || self.plan.until.is_some();
        let outcome = match self.boot.ready_ns {
            Some(ns) => Outcome::Ready(ReadyAt {
                ns,
                instructions: None,
            }),
            None if awaited => Outcome::NeverReady(why.to_owned()),
            None => Outcome::Recorded(why.to_owned()),
        };
        let run = recorder.finish(outcome)?;
        (self.on_event)(CaptureEvent::Ends(&run));
        self.runs.push(run);
        Ok(())
    }
}

fn zero_name(zero: Zero) -> &'static str {
    match zero {
        Zero::PowerOn => "power-on",
        Zero::Pattern => "pattern",
        Zero::FirstByte => "first-byte",
    }
}

//! Switching the board on and off.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use bootlap_wire::stamps::Zero;

use super::Session;
use crate::capture::Pin;
use crate::port::{Control, monotonic_ns};
use crate::{LabError, shell};

/// How long a reset line is held.
const PULSE: Duration = Duration::from_millis(250);
/// How long a power command may take.
const POWER_TIMEOUT: Duration = Duration::from_secs(120);

impl Session<'_> {
    /// Makes the board boot, if that is ours to do.
    pub(super) fn switch_on(&mut self) -> Result<(), LabError> {
        let plan = self.plan;
        if !plan.powers() {
            return self.send_first();
        }
        if let Some(command) = &plan.power_off_cmd {
            self.switch_off(command);
            let until = Instant::now() + plan.off;
            while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20).min(plan.off));
            }
        }
        self.set_zero(monotonic_ns(), Zero::PowerOn)?;
        self.boot.began = Instant::now();
        self.boot.last_heard = Instant::now();
        if let Some(command) = plan.power_cmd.clone() {
            let (send, receive) = std::sync::mpsc::channel();
            let stop = self.stop.clone();
            std::thread::spawn(move || {
                let _ = send.send(shell::run(&command, POWER_TIMEOUT, &stop));
            });
            self.power = Some(receive);
        }
        for (pin, set) in [
            (plan.dtr, Control::dtr as fn(&Control, bool) -> _),
            (plan.rts, Control::rts),
        ] {
            if pin == Some(Pin::Pulse) {
                set(&self.control, true)?;
                std::thread::sleep(PULSE);
                set(&self.control, false)?;
            }
        }
        self.send_first()
    }

    pub(super) fn switch_off(&mut self, command: &str) {
        if let Err(why) = shell::run(command, POWER_TIMEOUT, &AtomicBool::new(false)) {
            self.fault(monotonic_ns(), "power", &why);
        }
    }

    pub(super) fn look_at_power(&mut self) -> Result<(), LabError> {
        let result = self.power.as_ref().and_then(|p| p.try_recv().ok());
        match result.and_then(|result| self.power_was_given(result)) {
            Some(why) => self.finish_all(&why),
            None => Ok(()),
        }
    }

    /// The power command has ended; says why, if it failed.
    pub(super) fn power_was_given(&mut self, result: Result<Duration, String>) -> Option<String> {
        self.power = None;
        self.boot.last_heard = Instant::now();
        match result {
            Ok(took) => {
                let recorder = self.recorder.as_mut();
                let captured = recorder.and_then(|r| r.manifest_mut().capture.as_mut());
                if let Some(captured) = captured {
                    captured.power_cmd_ns = i64::try_from(took.as_nanos()).ok();
                }
                None
            }
            Err(_) if self.stop.load(Ordering::Relaxed) => None,
            Err(why) => {
                self.fault(monotonic_ns(), "power", &why);
                self.failed = Some(why.clone());
                Some(why)
            }
        }
    }

    /// A board may be ready before the command that switched it on has ended;
    /// it is not switched off before that.
    pub(super) fn wait_for_power(&mut self) {
        while let Some(power) = &self.power {
            match power.recv_timeout(Duration::from_millis(50)) {
                Ok(result) => {
                    self.power_was_given(result);
                }
                Err(RecvTimeoutError::Timeout) if !self.stop.load(Ordering::Relaxed) => {}
                Err(_) => self.power = None,
            }
        }
    }
}

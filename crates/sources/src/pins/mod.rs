//! Pins that an analyser watched: levels over time, whatever file has them.
//!
//! The readers of [`crate::vcd`] and [`crate::logic`] hand each change to
//! [`Pins`], which keeps no more than that; at the end
//!
//! - a pin that carries a serial console is decoded ([`uart`]), and its text
//!   read like any console's, on the analyser's clock;
//! - a pin that changes now and then (power, reset, LED, a GPIO that the
//!   application sets) becomes spans and marks ([`show`]);
//! - a pin that changes all the time (a bus, a clock) becomes the spans in
//!   which it was busy;
//! - voltages become counters.
//!
//! A pin called `power`, `vcc`, `3V3` … says when the board was switched on, one
//! called `reset` when it was let go, one called `ready` when it was ready.

mod edges;
mod show;
mod uart;
pub(crate) mod units;

use std::collections::HashMap;

use bootlap_model::{ClockId, Evidence, Severity, Stamp};

use self::edges::Edges;
pub(crate) use self::edges::Level;
use crate::Hints;
use crate::text::Import;

/// More pins are not kept: a file of a simulation can have 10⁵ signals.
const MAX_PINS: usize = 1024;
/// More changes of all pins are not kept.
const MAX_CHANGES: usize = 16 << 20;
/// More samples of a quantity are thinned out.
const MAX_SAMPLES: usize = 1 << 16;

/// A pin of [`Pins`]; `None` stands for one that is not kept.
pub(crate) type PinId = Option<usize>;

/// One pin.
struct Pin {
    name: String,
    /// Where the file names it.
    at: Evidence,
    what: What,
}

enum What {
    Bit(Edges),
    /// Several bits as one value: when it changed, to what, and where.
    Word(Vec<(i64, String, Evidence)>, Edges),
    /// `(ns, value)`, every `stride`th.
    Quantity {
        unit: String,
        samples: Vec<(i64, f64)>,
        stride: usize,
        seen: usize,
    },
}

/// What a recording has shown so far.
#[derive(Default)]
pub(crate) struct Pins {
    pins: Vec<Pin>,
    names: HashMap<String, usize>,
    changes: usize,
    full: bool,
    /// The first and the last moment that the file tells of.
    extent: Option<(i64, i64)>,
}

/// What a recording is, for its events.
pub(crate) struct Recording<'r> {
    /// What people call the file.
    pub(crate) label: &'r str,
    /// The source that reads it.
    pub(crate) source: &'static str,
    /// What the user looks for.
    pub(crate) hints: &'r Hints,
    /// How far apart samples are.
    pub(crate) resolution_ns: u32,
}

impl Recording<'_> {
    fn stamp(&self, ns: i64) -> Stamp {
        Stamp::new(ns, self.resolution_ns)
    }
}

impl Pins {
    /// A pin of one bit.
    pub(crate) fn bit(&mut self, name: &str, at: Evidence, import: &mut Import<'_>) -> PinId {
        self.add(name, at, What::Bit(Edges::default()), import)
    }

    /// A pin of several bits.
    pub(crate) fn word(&mut self, name: &str, at: Evidence, import: &mut Import<'_>) -> PinId {
        let what = What::Word(Vec::new(), Edges::default());
        self.add(name, at, what, import)
    }

    /// A voltage, or another quantity.
    pub(crate) fn quantity(
        &mut self,
        name: &str,
        unit: &str,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> PinId {
        let what = What::Quantity {
            unit: unit.to_owned(),
            samples: Vec::new(),
            stride: 1,
            seen: 0,
        };
        self.add(name, at, what, import)
    }

    fn add(&mut self, name: &str, at: Evidence, what: What, import: &mut Import<'_>) -> PinId {
        if self.pins.len() >= MAX_PINS {
            import.notice(
                "too-many-pins",
                Severity::DataLoss,
                at,
                "only the first 1024 signals were read: record the pins of the board only",
            );
            return None;
        }
        let mut name = name.trim().to_owned();
        if name.is_empty() || self.names.contains_key(&name) {
            name = format!("{name} #{}", self.pins.len()).trim().to_owned();
        }
        self.names.insert(name.clone(), self.pins.len());
        self.pins.push(Pin { name, at, what });
        Some(self.pins.len() - 1)
    }

    /// A pin has another name too: the one that says what it is, is taken.
    pub(crate) fn also_called(&mut self, pin: PinId, name: &str) {
        let Some(pin) = pin.and_then(|pin| self.pins.get_mut(pin)) else {
            return;
        };
        if !show::tells_role(&pin.name) && show::tells_role(name) {
            name.clone_into(&mut pin.name);
        }
    }

    /// A moment that the file tells of, with or without changes.
    pub(crate) fn seen(&mut self, ns: i64) {
        let (first, last) = self.extent.unwrap_or((ns, ns));
        self.extent = Some((first.min(ns), last.max(ns)));
    }

    /// A bit has this level from `ns` on; moments come in order.
    pub(crate) fn level(&mut self, pin: PinId, ns: i64, level: Level, at: Evidence) {
        let Some(Pin { what, .. }) = pin.and_then(|pin| self.pins.get_mut(pin)) else {
            return;
        };
        if let What::Bit(edges) = what {
            let room = self.changes < MAX_CHANGES;
            self.changes += usize::from(edges.push(ns, level, at, room));
            self.full |= !room;
        }
    }

    /// A word has this value from `ns` on.
    pub(crate) fn value(&mut self, pin: PinId, ns: i64, value: &str, at: Evidence) {
        let Some(Pin { what, .. }) = pin.and_then(|pin| self.pins.get_mut(pin)) else {
            return;
        };
        if let What::Word(values, edges) = what {
            if values.last().is_some_and(|(_, last, _)| last == value) {
                return;
            }
            edges.busy(ns, at);
            if values.len() <= edges::MAX_SPANS {
                let value = value.chars().take(200).collect();
                values.push((ns, value, at));
            }
        }
    }

    /// A quantity at `ns`.
    pub(crate) fn sample(&mut self, pin: PinId, ns: i64, value: f64) {
        let Some(Pin { what, .. }) = pin.and_then(|pin| self.pins.get_mut(pin)) else {
            return;
        };
        if let What::Quantity {
            samples,
            stride,
            seen,
            ..
        } = what
            && value.is_finite()
        {
            if seen.is_multiple_of(*stride) {
                samples.push((ns, value));
            }
            *seen += 1;
            if samples.len() > MAX_SAMPLES {
                let mut at = 0;
                samples.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                *stride *= 2;
            }
        }
    }

    /// Adds all events.
    pub(crate) fn finish(self, recording: &Recording<'_>, clock: ClockId, import: &mut Import<'_>) {
        let Some(extent) = self.extent else { return };
        if self.full {
            import.notice(
                "too-many-changes",
                Severity::DataLoss,
                self.pins[0].at,
                "only the first 16 million changes of these pins were read: leave buses and clocks out of the recording",
            );
        }
        let mut consoles = Vec::new();
        let mut bits = Vec::new();
        for (i, pin) in self.pins.iter().enumerate() {
            match &pin.what {
                What::Bit(edges) => match uart::find(edges, recording.resolution_ns) {
                    Some(uart) => consoles.push((i, uart.decode(edges, extent.1))),
                    None => bits.push((pin, edges)),
                },
                What::Word(values, edges) => {
                    show::word(&pin.name, values, edges, recording, clock, import);
                }
                What::Quantity {
                    unit,
                    samples,
                    stride,
                    ..
                } => {
                    show::quantity(pin, unit, samples, *stride, clock, import);
                }
            }
        }
        show::bits(&bits, extent, recording, clock, import);
        // The console of a board says more than what somebody types to it.
        consoles.sort_by_key(|(i, heard)| (std::cmp::Reverse(heard.bytes.len()), *i));
        if let Some((i, _)) = consoles.first() {
            let found = consoles.iter().map(|(i, heard)| heard.text(&self.pins[*i]));
            let found: Vec<String> = found.take(8).collect();
            let text = format!("serial text was decoded: {}", found.join("; "));
            import.notice("serial-text", Severity::Info, self.pins[*i].at, &text);
        }
        for (nth, (i, heard)) in consoles.iter().enumerate() {
            let pin = &self.pins[*i];
            heard.tell(pin, import);
            if nth == 0 {
                heard.read(&pin.name, recording, clock, import);
            } else {
                heard.show(pin, recording, clock, import);
            }
        }
    }
}

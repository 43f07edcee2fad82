//! What text costs on a serial line: ten bit times for each character, and whoever
//! prints waits.
//!
//! Where the times in a kernel's log show it (`bootlap_sources` has given the lines their
//! ends), it is of this boot, and so it is in modelled time, where stamps show it. Where
//! the bytes were recorded on a wire, it is predicted for the board: an emulated console
//! takes no time. Text of which neither is known may never have been on a serial line, and
//! costs nothing here.

use bootlap_model::{BAUD_RATES, BITS_PER_BYTE, Span, TrackKind};

use crate::boot::Found;
use crate::lines::{Line, Sent};
use crate::rules::ms;
use crate::{Boot, Finding, Printer, SavingKind};

/// What some text costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) bytes: u64,
    /// What that took, ns, where this boot shows it.
    pub(crate) seen_ns: Option<i64>,
}

impl Cost {
    /// Of these lines. What was recorded on a wire is the whole of it.
    pub(crate) fn of<'l, 'a: 'l>(lines: impl IntoIterator<Item = &'l Line<'a>>) -> Self {
        let (mut recorded, mut timed, mut ns) = (0_u64, 0_u64, 0_i64);
        for line in lines {
            let bytes = line.bytes;
            match line.sent {
                Sent::Recorded => recorded = recorded.saturating_add(bytes),
                Sent::Timed => {
                    timed = timed.saturating_add(bytes);
                    ns = ns.saturating_add(line.printed[1].saturating_sub(line.printed[0]));
                }
                Sent::Unknown => {}
            }
        }
        match recorded {
            0 if timed > 0 => Self {
                bytes: timed,
                seen_ns: Some(ns),
            },
            bytes => Self {
                bytes,
                seen_ns: None,
            },
        }
    }

    /// With what a flush cost, where this boot shows what printing takes.
    pub(crate) fn with(self, flushed: Cost) -> Self {
        match self.seen_ns.zip(flushed.seen_ns) {
            Some((own, more)) => Self {
                bytes: self.bytes.saturating_add(flushed.bytes),
                seen_ns: Some(own.saturating_add(more)),
            },
            None => self,
        }
    }

    /// `part` of `whole` of it.
    pub(crate) fn share(self, part: u64, whole: u64) -> Self {
        let share = |n: i128| n * i128::from(part) / i128::from(whole.max(1));
        let ns = |ns: i64| i64::try_from(share(ns.into())).unwrap_or(ns);
        Self {
            bytes: u64::try_from(share(self.bytes.into())).unwrap_or(self.bytes),
            seen_ns: self.seen_ns.map(ns),
        }
    }

    /// What it takes: as it was seen, or on the board's console.
    pub(crate) fn ns(&self, boot: &Boot<'_>) -> i64 {
        self.seen_ns
            .unwrap_or_else(|| boot.on_the_line_ns(self.bytes))
    }
}

impl Finding {
    /// All that this text of somebody costs.
    pub(crate) fn saves_printing(self, boot: &Boot<'_>, whose: Printer, cost: Cost) -> Self {
        self.saves_part_of(boot, whose, cost, cost.ns(boot))
    }

    /// What a serial console took of its interval is the console's.
    pub(crate) fn without_printing(&mut self, boot: &Boot<'_>) {
        if self.saving.printed.is_some() {
            return;
        }
        if let (Some(at), SavingKind::ThisBoot) = (self.at_ns, self.saving.kind) {
            let printing_ns = boot.printing_ns(at);
            // `why` tells the whole interval: say where the rest of it went.
            if printing_ns > self.saving.ns / 20 {
                let console = ms(printing_ns);
                let basis = &mut self.saving.basis;
                *basis = format!("{basis}; without the {console} that the console took");
            }
            self.saving.ns = self.saving.ns.saturating_sub(printing_ns).max(0);
        }
    }

    /// `ns` of what this text costs.
    pub(crate) fn saves_part_of(
        self,
        boot: &Boot<'_>,
        whose: Printer,
        cost: Cost,
        ns: i64,
    ) -> Self {
        let bytes = cost.bytes;
        let mut finding = match cost.seen_ns {
            Some(_) => self.saves(
                ns,
                format!("the times of this boot show what these {bytes} bytes took"),
            ),
            None => self.saves_on_board(
                ns,
                format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
            ),
        };
        finding.saving.printed = Some(whose);
        finding
    }
}

/// Consoles that printed what was logged before they were enabled.
impl<'a> Boot<'a> {
    /// The speed of the serial console, as the times in the kernel's log show it: the
    /// common one next above, because there is always some work besides.
    pub(crate) fn measured_baud(&self) -> Option<u64> {
        let timed = self.lines().iter().filter(|l| l.sent == Sent::Timed);
        let cost = Cost::of(timed);
        let ns = u128::from(cost.seen_ns.filter(|ns| *ns > 0)?.unsigned_abs());
        let bits = u128::from(cost.bytes) * u128::from(BITS_PER_BYTE) * 1_000_000_000;
        let seen = u64::try_from(bits / ns).ok()?;
        let mut rates = BAUD_RATES.into_iter().map(u64::from);
        let above = rates.find(|rate| *rate >= seen / 100 * 98);
        Some(above.unwrap_or(seen))
    }

    /// When something was printed, as far as the log's times show it; in no order.
    pub(crate) fn all_printing(&self) -> Vec<[i64; 2]> {
        let timed = self.lines().iter().filter(|l| l.sent == Sent::Timed);
        let lines = timed.map(|l| l.printed);
        lines.chain(self.flushes().iter().map(Found::at)).collect()
    }

    /// How much of this stretch went into printing, by the times in the kernel's log, ns.
    pub(crate) fn printing_ns(&self, [start, end]: [i64; 2]) -> i64 {
        let shared = |[from, to]: &[i64; 2]| to.min(&end).saturating_sub(*from.max(&start)).max(0);
        let all = self.printing().iter();
        all.fold(0, |sum, stretch| sum.saturating_add(shared(stretch)))
    }

    /// All flushes.
    pub(crate) fn flushes(&self) -> Vec<Found<'a>> {
        self.spans(TrackKind::Kernel, Span::LOG_FLUSH)
    }

    /// When the first of them was.
    pub(crate) fn flush_at(&self) -> Option<[i64; 2]> {
        self.flushes().first().map(Found::at)
    }

    /// What they printed and how long that took, until `end_ns`.
    pub(crate) fn flushed(&self, end_ns: i64) -> Cost {
        let mut cost = Cost::default();
        for flush in self.flushes() {
            if flush.start_ns < end_ns {
                let bytes = flush.arg("bytes").and_then(|b| b.parse().ok());
                cost.bytes = cost.bytes.saturating_add(bytes.unwrap_or(0));
                cost.seen_ns = Some(cost.seen_ns.unwrap_or(0).saturating_add(flush.ns()));
            }
        }
        cost
    }
}

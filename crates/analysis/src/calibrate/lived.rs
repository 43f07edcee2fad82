//! A boot in the time of the board that was found, against the log: arithmetic does not know
//! what runs while a line is sent, nor what caches miss.

use bootlap_model::Timeline;
use schemars::JsonSchema;
use serde::Serialize;

use super::stretch::{self, Stretch};
use super::{Calibration, FittedSpeed, NotCalibrated};
use crate::extent::length_ns;
use crate::view::View;

/// What the stretches that a board's speed rests on took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LivedJson")]
pub struct Lived {
    /// On the board, ns.
    #[serde(rename = "measured_ns")]
    pub board_ns: i64,
    /// In modelled time, ns.
    pub modelled_ns: i64,
}

impl Lived {
    /// How far the modelled boot is off, as a share of the board's.
    pub fn off(self) -> f64 {
        self.modelled_ns.abs_diff(self.board_ns) as f64 / self.board_ns.max(1) as f64
    }
}

impl Calibration {
    /// Compares a boot in the time of this calibration with the log it was made from. What
    /// each stretch took there is what the model predicts from now on.
    ///
    /// # Errors
    /// If the two have nothing in common.
    pub fn lived(&mut self, modelled: &Timeline, board: &Timeline) -> Result<Lived, NotCalibrated> {
        let (modelled, board) = (View::of(modelled), View::of(board));
        for stretch in &mut self.stretches {
            stretch.lived = false;
        }
        for pair in &stretch::pairs(&modelled, &board)? {
            let [from, to] = &pair.ours;
            let mut open = self.stretches.iter_mut().filter(|s| !s.lived);
            if let Some(same) = open.find(|s| s.from == from.text && s.to == to.text) {
                same.predicted_ns = length_ns(&from.at, &to.at);
                same.lived = true;
            }
        }
        let mut kept = self.kept().peekable();
        if kept.peek().is_none() {
            return Err(NotCalibrated::NothingInCommon);
        }
        let none = Lived {
            board_ns: 0,
            modelled_ns: 0,
        };
        // A log's times can be anything.
        Ok(kept.fold(none, |sum, one| Lived {
            board_ns: sum.board_ns.saturating_add(one.board_ns),
            modelled_ns: sum.modelled_ns.saturating_add(one.predicted_ns),
        }))
    }

    /// Mends the speed of each phase by what the boot that was [`Calibration::lived`] took too
    /// long or too short there.
    pub fn mend(&mut self) {
        let mended: Vec<Option<f64>> = self.speeds.iter().map(|s| self.mended(s)).collect();
        for (speed, mended) in self.speeds.iter_mut().zip(mended) {
            speed.insns_per_s = mended.unwrap_or(speed.insns_per_s);
        }
    }

    /// Instructions per second.
    fn mended(&self, speed: &FittedSpeed) -> Option<f64> {
        let own = || self.kept().filter(|s| s.phase == speed.phase);
        let insns: u64 = own().map(|s| s.instructions).sum();
        let too_short = own().map(|s| s.board_ns as f64 - s.predicted_ns as f64);
        let ns_per_insn = 1e9 / speed.insns_per_s;
        let mended = ns_per_insn + too_short.sum::<f64>() / insns.max(1) as f64;
        // What is off by more than that is no matter of speed.
        let sane = (ns_per_insn / 4.0..ns_per_insn * 4.0).contains(&mended);
        (insns > 0 && sane).then_some(1e9 / mended)
    }

    /// The stretches that the speeds rest on, and that the modelled boot had.
    fn kept(&self) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(|s| s.lived && !s.left_out)
    }
}

//! A boot in the time of the board that was found, against the log: arithmetic does not know
//! what runs while a line is sent, nor what caches miss.

use bootlap_model::Timeline;
use schemars::JsonSchema;
use serde::Serialize;

use super::stretch::{self, Line, Pair, Stretch};
use super::{Calibration, NotCalibrated};
use crate::view::{View, length_ns};

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
    /// Compares a boot in the time of this calibration with the log it was made from.
    ///
    /// # Errors
    /// If the two have nothing in common.
    pub fn lived(&self, modelled: &Timeline, board: &Timeline) -> Result<Lived, NotCalibrated> {
        let kept = self.kept(modelled, board)?;
        let none = Lived {
            board_ns: 0,
            modelled_ns: 0,
        };
        // A log's times can be anything.
        Ok(kept.iter().fold(none, |sum, (_, one)| Lived {
            board_ns: sum.board_ns.saturating_add(one.board_ns),
            modelled_ns: sum.modelled_ns.saturating_add(one.modelled_ns),
        }))
    }

    /// Mends the speed of each phase by what such a boot took too long or too short there.
    ///
    /// # Errors
    /// As [`Calibration::lived`].
    pub fn mend(&mut self, modelled: &Timeline, board: &Timeline) -> Result<(), NotCalibrated> {
        let kept = self.kept(modelled, board)?;
        for speed in &mut self.speeds {
            let own = || kept.iter().filter(|(s, _)| s.phase == speed.phase);
            let insns: u64 = own().map(|(s, _)| s.instructions).sum();
            let too_short = own().map(|(_, l)| l.board_ns as f64 - l.modelled_ns as f64);
            let ns_per_insn = 1e9 / speed.insns_per_s;
            let mended = ns_per_insn + too_short.sum::<f64>() / insns.max(1) as f64;
            // What is off by more than that is no matter of speed.
            if insns > 0 && (ns_per_insn / 4.0..ns_per_insn * 4.0).contains(&mended) {
                speed.insns_per_s = 1e9 / mended;
            }
        }
        Ok(())
    }

    /// The stretches that the speeds rest on, as such a boot and the board had them.
    fn kept(
        &self,
        modelled: &Timeline,
        board: &Timeline,
    ) -> Result<Vec<(Stretch, Lived)>, NotCalibrated> {
        let (modelled, board) = (View::of(modelled), View::of(board));
        let found = |pair: &Pair| {
            let [from, to] = &pair.ours;
            let same = |s: &&Stretch| s.from == from.text && s.to == to.text;
            let stretch = self.stretches.iter().find(same)?;
            let took = |ends: &[Line; 2]| length_ns(&ends[0].at, &ends[1].at);
            let lived = Lived {
                board_ns: took(&pair.theirs),
                modelled_ns: took(&pair.ours),
            };
            (!stretch.left_out).then(|| (stretch.clone(), lived))
        };
        let pairs = stretch::pairs(&modelled, &board)?;
        let kept: Vec<_> = pairs.iter().filter_map(found).collect();
        match kept.is_empty() {
            true => Err(NotCalibrated::NothingInCommon),
            false => Ok(kept),
        }
    }
}

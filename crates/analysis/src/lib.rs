//! Answers from a timeline: phases, gaps, costs, comparison, statistics.
//!
//! Pure functions of immutable inputs; the same timeline gives the same
//! answer, byte for byte.

pub mod accesses;
mod answers;
pub mod budget;
pub mod calibrate;
pub mod changes;
pub mod compare;
pub mod cost;
pub mod disks;
pub mod ends;
pub mod experiment;
pub mod extent;
pub mod functions;
pub mod gap;
pub mod groups;
pub mod history;
pub mod overview;
pub mod path;
pub mod phase;
pub mod predict;
pub mod processes;
mod read_before;
pub mod reduce;
pub mod series;
pub mod stats;
pub mod totals;
pub mod tune;
pub mod unit;
pub mod work;

mod as_ns;
#[cfg(test)]
mod build;
mod flatten;
mod known;
mod message;
#[cfg(test)]
mod tests;
mod view;

pub use accesses::{Accesses, FileAccess, Search, accesses, is_of_kernel};
pub use answers::Answers;
pub use calibrate::{Calibration, calibrate};
pub use compare::{Comparison, Delta, Moved, compare};
pub use cost::{Cost, costs};
pub use disks::{Disks, disks};
pub use ends::{extent, ready_ns};
pub use experiment::{Trial, trial};
pub use extent::{Ends, Extent};
pub use functions::{CallStats, MaxSub, folded, functions};
pub use gap::{Gap, gaps};
pub use groups::{Groups, groups};
pub use overview::{Overview, overview};
pub use path::{CriticalPath, Step, critical_path, links};
pub use phase::{Part, Phase, PhaseName, phases};
pub use predict::{Board, Predicted, Prediction, Speed, predict, predicted_saving};
pub use processes::{Hidden, Process, Processes, processes};
pub use read_before::ReadBefore;
pub use series::{Lap, Series, Spread, laps, series};
pub use stats::{Effect, Question, Shape, Stage, Verdict, effect, effect_of_pairs};
pub use totals::{Total, totals};
pub use unit::{After, UnitStart, units};
pub use work::{Meter, ns_per_insn};

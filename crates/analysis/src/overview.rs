//! Where the time of one boot goes, in one go: to put a long log's events in order costs
//! more than any of the answers.

use std::cell::OnceCell;

use bootlap_model::Timeline;

use crate::cost::{Cost, costs_in, least_silence_ns};
use crate::disks::{Disks, disks_in};
use crate::extent::Extent;
use crate::gap::{Gap, Silence, gaps_in, silences};
use crate::phase::{Phase, phases_in};
use crate::view::View;

/// The answers that each report begins with.
pub struct Overview {
    /// See [`phases`](crate::phases()).
    pub phases: Vec<Phase>,
    /// See [`gaps`](crate::gaps()).
    pub gaps: Vec<Gap>,
    /// See [`costs`](crate::costs()).
    pub costs: Vec<Cost>,
    /// See [`Disks`].
    pub disks: Option<Disks>,
}

/// The phases, the silences of at least `gap_ns`, and the `costs` largest costs, of a boot whose
/// [`extent`](crate::extent()) is known.
pub fn overview(
    timeline: &Timeline,
    extent: Option<Extent>,
    gap_ns: i64,
    costs: usize,
) -> Overview {
    let mut view = View::of(timeline);
    view.extent = OnceCell::from(extent);
    let phases = phases_in(&view);
    // A long log has as many as lines: they are gone through once, and few are kept.
    let least_ns = extent.as_ref().map_or(0, least_silence_ns);
    let mut long: Vec<Silence> = Vec::new();
    let keep_long = |s: &Silence<'_>| s.length_ns() >= least_ns;
    let silences = silences(&view).inspect(|s| long.extend(Some(*s).filter(keep_long)));
    let gaps = gaps_in(&view, &phases, silences, gap_ns);
    Overview {
        disks: disks_in(&view, &phases),
        gaps,
        costs: costs_in(&view, &phases, &long, costs),
        phases,
    }
}

//! What the user says of how clocks lie.

use bootlap_model::{ClockEdge, ClockId, FileId, How, Stamp, Timeline};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was given, or the end of its path.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A relation of two clocks by the user's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declared {
    /// The events of two lines are one moment: `--align a.log:12=b.log:7`.
    SameMoment(Place, Place),
    /// What to add to the times of a file to get those of the first file that
    /// was given: `--offset b.log=-1.5`.
    Offset {
        /// The file.
        file: String,
        /// ns.
        ns: i64,
    },
}

/// Adds the edges; says which files now lie as the user wants.
pub(super) fn apply(timeline: &mut Timeline, all: &[Declared]) -> Result<Vec<FileId>, String> {
    let mut fixed = Vec::new();
    for declared in all {
        let (edge, file) = match declared {
            Declared::SameMoment(a, b) => {
                let (clock_a, at_a) = moment(timeline, a)?;
                let (clock_b, at_b) = moment(timeline, b)?;
                let offset_ns = at_a.ns.saturating_sub(at_b.ns);
                let err_ns = at_a.err_ns.saturating_add(at_b.err_ns);
                let edge = ClockEdge::offset(clock_b, clock_a, offset_ns, err_ns, How::Declared);
                (edge.because("--align", None), timeline.clock(clock_b).file)
            }
            Declared::Offset { file, ns } => {
                let of = file_named(timeline, file)?;
                let clock = first_clock(timeline, of)
                    .ok_or_else(|| format!("{file}: nothing in it has a time to add to"))?;
                let to = timeline.clock_ids().find(|c| timeline.clock(*c).file != of);
                let to = to.ok_or_else(|| {
                    format!("{file}: --offset needs another file to be offset against")
                })?;
                let edge = ClockEdge::offset(clock, to, *ns, 0, How::Declared);
                (edge.because("--offset", None), of)
            }
        };
        timeline.edges.push(edge);
        fixed.push(file);
    }
    Ok(fixed)
}

fn first_clock(timeline: &Timeline, file: FileId) -> Option<ClockId> {
    timeline
        .clock_ids()
        .find(|c| timeline.clock(*c).file == file)
}

fn file_named(timeline: &Timeline, name: &str) -> Result<FileId, String> {
    let is_it = |id: &FileId| {
        let known = &timeline.file(*id).name;
        let ending = known.strip_suffix(name);
        ending.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    timeline.file_ids().find(is_it).ok_or_else(|| {
        let known: Vec<&str> = timeline.files.iter().map(|f| f.name.as_str()).collect();
        format!(
            "{name} is none of the files that were read: {}",
            known.join(", ")
        )
    })
}

/// The first event on a line.
fn moment(timeline: &Timeline, place: &Place) -> Result<(ClockId, Stamp), String> {
    let file = file_named(timeline, &place.file)?;
    let here = |e: &bootlap_model::Evidence| e.file == file && e.line == place.line;
    let mark = timeline.marks.iter().find(|m| here(&m.evidence));
    let span = timeline.spans.iter().find(|s| here(&s.evidence));
    mark.map(|m| (m.clock, m.at))
        .or(span.map(|s| (s.clock, s.start)))
        .ok_or_else(|| {
            format!(
                "{}:{}: nothing on this line has a time; choose a line that `bootlap show` lists",
                place.file, place.line
            )
        })
}

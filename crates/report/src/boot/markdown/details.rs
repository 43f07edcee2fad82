//! What the numbers rest on, folded away: evidence, clocks, notices.

use bootlap_model::{Axis, ClockId, Evidence, How, Notice, Severity, TimeKind, Timeline};

use crate::Report;
use crate::format::{count, duration};
use crate::markdown::{code, prose};

/// How many files, clocks and notices are listed.
const SHOWN: usize = 20;

pub(crate) fn blocks(report: &Report<'_>) -> Vec<String> {
    let timeline = report.timeline;
    let axis = Axis::of(timeline);
    let warnings = timeline.notices.iter();
    let warnings = warnings.filter(|n| n.severity >= Severity::Notice).count();
    let mut blocks = Vec::new();
    let files: Vec<String> = timeline.files.iter().map(file).collect();
    if !files.is_empty() {
        blocks.push(folded("Evidence", &files));
    }
    let clocks: Vec<String> = timeline
        .clock_ids()
        .map(|id| clock(timeline, &axis, id))
        .collect();
    if !clocks.is_empty() {
        blocks.push(folded("Clocks", &clocks));
    }
    if !timeline.notices.is_empty() {
        let mut notices: Vec<&Notice> = timeline.notices.iter().collect();
        // The worst first; a stable sort keeps the sources' order otherwise.
        notices.sort_by_key(|n| std::cmp::Reverse(n.severity));
        let lines: Vec<String> = notices.iter().map(|n| notice(timeline, n)).collect();
        let title = match warnings {
            0 => "Notices".to_owned(),
            n => format!("Notices ({n} to look at)"),
        };
        blocks.push(folded(&title, &lines));
    }
    blocks
}

/// A list that opens when its title is clicked. The empty lines make the forge read
/// what is inside as Markdown.
fn folded(title: &str, lines: &[String]) -> String {
    let mut list: Vec<String> = lines.iter().take(SHOWN).map(|l| format!("- {l}")).collect();
    if lines.len() > SHOWN {
        list.push(format!("- and {} more", lines.len() - SHOWN));
    }
    let list = list.join("\n");
    format!("<details><summary>{title}</summary>\n\n{list}\n\n</details>")
}

fn file(file: &bootlap_model::EvidenceFile) -> String {
    let usage = file.usage;
    let skipped = match usage.skipped {
        0 => String::new(),
        n => format!(", {} skipped", count(n)),
    };
    format!(
        "{} ({}): {} of {} lines used{skipped}",
        code(&file.name),
        code(&file.source),
        count(usage.used),
        count(usage.total)
    )
}

fn clock(timeline: &Timeline, axis: &Axis, id: ClockId) -> String {
    let clock = timeline.clock(id);
    let kind = clock.kind.text();
    let kind = match clock.time {
        TimeKind::Measured => kind.to_owned(),
        time => format!("{kind} ({})", time.word()),
    };
    let of = code(&timeline.file(clock.file).name);
    if axis.reference() == Some(id) {
        return format!("{kind} of {of}: all times are on it");
    }
    let how = match axis.how(id) {
        Some(How::Measured) => "measured",
        Some(How::SharedEvent) => "known from shared events",
        Some(How::Declared) => "declared by the user",
        Some(How::Assumed) => "**assumed, not known**",
        None => return format!("{kind} of {of}: nothing relates it to the others"),
    };
    let error = axis.err_ns(id).map_or(0, i64::from);
    let why = timeline.edges.iter().find(|e| e.from == id);
    let why = why.filter(|e| !e.why.is_empty());
    let why = why.map_or(String::new(), |e| format!(", {}", code(&e.why)));
    format!("{kind} of {of}: {how}, ± {}{why}", duration(error))
}

fn notice(timeline: &Timeline, notice: &Notice) -> String {
    let place = |at: &Evidence| code(&format!("{}:{}", timeline.file(at.file).name, at.line));
    let places: Vec<String> = notice.first.iter().map(place).collect();
    let places = match places.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    let times = match notice.count {
        0 | 1 => String::new(),
        n => format!("{} times: ", count(n)),
    };
    let (code, remedy) = (code(&notice.code), prose(&notice.remedy));
    format!("{code}: {times}{remedy}{places}")
}

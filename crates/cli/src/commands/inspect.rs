//! `bootlap inspect`: what each file is, and how much of it is understood.

use bootlap_engine::evidence;
use bootlap_engine::{Exit, Failure};
use bootlap_report::inspect::{self, Inspected, Verdict};
use bootlap_sources::ingest::{Format, Taken};
use bootlap_sources::{Sniff, named};

use crate::args::Inspect;
use crate::ui::Ui;

pub(crate) fn run(args: &Inspect, ui: &Ui) -> Result<Exit, Failure> {
    let found = evidence::find(&args.inputs, &args.evidence.options())?;
    let inspected: Vec<Inspected> = found.taken.iter().map(inspected).collect();
    let timeline = &found.timeline;
    ui.show(
        args.json,
        || inspect::json(&inspected, timeline),
        |style| inspect::text(&inspected, timeline, style),
    )?;
    let usable = found.is_usable();
    // The program ends here: giving back millions of events would take longer
    // than leaving them.
    std::mem::forget(found);
    Ok(if usable {
        Exit::Ok
    } else {
        Exit::NothingUsable
    })
}

fn inspected(taken: &Taken) -> Inspected {
    let nearest = |(source, sniff): &(&'static str, Sniff)| {
        let looks_like = named(source).map_or("", |s| s.looks_like);
        (*source, sniff.as_percent(), looks_like)
    };
    let verdict = match &taken.format {
        Format::Known { source, confidence } => Verdict::Known {
            source,
            title: named(source).map_or("", |s| s.title),
            percent: confidence.as_percent(),
        },
        Format::Unknown {
            timeless: Some(kind),
            ..
        } => Verdict::Timeless {
            what: kind.what,
            remedy: kind.remedy,
        },
        Format::Unknown { nearest: list, .. } => Verdict::Unknown {
            nearest: list.iter().map(nearest).collect(),
            looked_for: bootlap_sources::all().iter().map(|s| s.name).collect(),
        },
        Format::Unreadable { why } => Verdict::Unreadable { why: why.clone() },
        Format::Empty => Verdict::Empty,
    };
    Inspected {
        path: taken.name.clone(),
        parts: taken.parts.clone(),
        files: taken.files.clone(),
        verdict,
    }
}

//! A trace for Perfetto: opens in ui.perfetto.dev, and in any program that is
//! built on its trace processor.
//!
//! Times are those of the reference clock. Perfetto knows no time before zero,
//! so a boot with one is moved by whole seconds, and its track and its event
//! "about this boot" say by how much. A boot that this one is compared with is
//! in the same file, beside it on one axis: the first milestone that both
//! passed (mostly power-on) is at the same time.
//!
//! Packets go out one by one; what is kept in memory is the order of the
//! events, some 60 bytes for each span.

mod events;
mod lanes;
mod links;
mod pack;
mod packets;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use bootlap_model::{MarkKind, Milestone, Stamp, TimeKind};
use bootlap_report::{Report, Sink, buffered};

use events::Writer;
use lanes::Boot;
use links::Flows;
use pack::{End, Step};
use packets::Packets;
use schema::{TYPE_COUNTER, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TrackEvent};

const SECOND: i128 = 1_000_000_000;

/// The format.
pub const PERFETTO: Sink = Sink {
    name: "perfetto",
    title: "a trace that opens in ui.perfetto.dev",
    extensions: &["pftrace", "perfetto-trace"],
    choices: &[],
    write: |report, _, out| buffered(out, |out| Ok(write(report, out)?)),
};

/// Writes `report` as a Perfetto trace.
fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut boots = vec![boot(report, report.before.as_ref().map(|_| "after"), 1)];
    if let Some(before) = report.before.as_deref() {
        boots.push(boot(before, Some("before"), boots[0].end()));
    }
    let offsets = offsets(&boots);
    let mut flow = 1;
    for ((number, boot), offset) in (0..).zip(&boots).zip(offsets) {
        let packets = Packets::new(out, number);
        write_boot(boot, offset, flow, packets)?;
        flow += boot.report.timeline.links.len() as u64;
    }
    Ok(())
}

/// The tracks of a boot under its name.
fn boot<'r>(report: &'r Report<'r>, side: Option<&str>, first: u64) -> Boot<'r> {
    let about = &report.about;
    let name = [&about.target, &about.run];
    let name = name.into_iter().find(|name| !name.is_empty());
    // A path is in the event "about this boot".
    let name = name.and_then(|name| name.rsplit('/').find(|part| !part.is_empty()));
    let name = name.unwrap_or("boot");
    let time = match (about.time.as_str(), report.timeline.time()) {
        ("", TimeKind::Measured) => String::new(),
        ("", time) => format!(" ({} time)", time.word()),
        (time, _) => format!(" ({time} time)"),
    };
    let side = side.map(|side| format!("{side}: ")).unwrap_or_default();
    Boot::of(report, &format!("{side}{name}{time}"), first)
}

/// What to add to the times of each boot, so that they are aligned and none is
/// negative.
fn offsets(boots: &[Boot<'_>]) -> Vec<i128> {
    let aligned: Vec<i128> = match boots {
        [after, before] => aligned(after, before).map(i128::from).to_vec(),
        _ => vec![0; boots.len()],
    };
    let firsts = boots.iter().zip(&aligned).filter_map(|(boot, zero)| {
        let first = boot.first_ns()?;
        Some(i128::from(first) - zero)
    });
    let first = firsts.min().unwrap_or(0).min(0);
    let moved = (-first + SECOND - 1) / SECOND * SECOND;
    aligned.into_iter().map(|zero| moved - zero).collect()
}

/// The moments of two boots that are shown at the same time: the first
/// milestone that both passed, else where each begins.
fn aligned(a: &Boot<'_>, b: &Boot<'_>) -> [i64; 2] {
    let passed = |boot: &Boot<'_>| -> Vec<(Milestone, i64)> {
        let marks = boot.report.timeline.marks.iter();
        let known = marks.filter_map(|mark| match mark.kind {
            MarkKind::Milestone(milestone) => Some((milestone, boot.axis.mark(mark)?.ns)),
            MarkKind::Named => None,
        });
        known.collect()
    };
    let (in_a, in_b) = (passed(a), passed(b));
    let both = in_a.iter().filter_map(|(milestone, at)| {
        let (_, other) = in_b.iter().find(|(m, _)| m == milestone)?;
        Some((milestone, [*at, *other]))
    });
    let first = both.min_by_key(|(milestone, _)| **milestone);
    let start = |boot: &Boot<'_>| boot.report.answers.extent().map_or(0, |e| e.start.ns);
    first.map_or_else(|| [start(a), start(b)], |(_, at)| at)
}

/// A time of the trace. Those beyond what a trace can hold (292 years) are at
/// its end.
fn moved(ns: i64, offset: i128) -> u64 {
    (i128::from(ns) + offset).clamp(0, i64::MAX.into()) as u64
}

fn write_boot(
    boot: &Boot<'_>,
    offset: i128,
    first_flow: u64,
    mut packets: Packets<'_>,
) -> io::Result<()> {
    let timeline = boot.report.timeline;
    for track in &boot.tracks {
        let mut track = track.clone();
        if track.uuid == Some(boot.root) && offset != 0 {
            let seconds = offset as f64 / SECOND as f64;
            track.description = Some(format!(
                "Time 0 of this boot is at {seconds} s of the trace."
            ));
        }
        packets.descriptor(track)?;
    }
    let mut flows = Flows::of(timeline, &boot.lanes, first_flow);
    let first = boot.first_ns().unwrap_or(0);
    let offset_ns = offset.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let mut writer = Writer {
        boot,
        flows: &flows,
        names: &mut packets.names,
    };
    let about = writer.about(offset_ns);
    packets.event(moved(first, offset), about)?;
    let mut number = 0;
    for lane in &boot.lanes {
        for (track, steps) in &lane.tracks {
            for step in steps {
                let (start, end) = lane.times[step.item()];
                let mut event = match step {
                    Step::End(_) => TrackEvent::default(),
                    Step::Begin(_) | Step::Instant(_) => Writer {
                        boot,
                        flows: &flows,
                        names: &mut packets.names,
                    }
                    .begin(lane, lane.what[step.item()]),
                };
                let (kind, at) = match (step, end) {
                    (Step::End(_), End::At(end)) => (TYPE_SLICE_END, end),
                    (Step::End(_), _) => (TYPE_SLICE_END, start),
                    (Step::Begin(_), _) => (TYPE_SLICE_BEGIN, start),
                    (Step::Instant(_), _) => (TYPE_INSTANT, start),
                };
                event.r#type = Some(kind);
                event.track_uuid = Some(*track);
                (event.flow_ids, event.terminating_flow_ids) = flows.take(number);
                number += 1;
                packets.event(moved(at, offset), event)?;
            }
        }
    }
    for (track, counter) in &boot.counters {
        for (ns, value) in &counter.samples {
            let at = boot.axis.at(counter.clock, Stamp::new(*ns, 0));
            let Some(at) = at.filter(|_| value.is_finite()) else {
                continue;
            };
            let event = TrackEvent {
                r#type: Some(TYPE_COUNTER),
                track_uuid: Some(*track),
                double_counter_value: Some(*value),
                ..TrackEvent::default()
            };
            packets.event(moved(at.ns, offset), event)?;
        }
    }
    Ok(())
}

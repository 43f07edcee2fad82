//! A timeline as text, for people to review in a diff.

use std::fmt::Write;

use bootlap_model::{
    ClockId, Evidence, Notice, Span, SpanEnd, Stamp, TimeKind, Timeline, TrackId, TrackKind,
};

/// How many spans of a track are shown in full.
const SHOWN: usize = 90;

/// All of `timeline`; without `places`, nothing that depends on line ends.
pub(crate) fn dump(timeline: &Timeline, places: bool) -> String {
    let mut out = String::new();
    for file in &timeline.files {
        let u = file.usage;
        let _ = writeln!(
            out,
            "file {}: {} lines, {} used, {} skipped",
            file.source, u.total, u.used, u.skipped
        );
    }
    for (i, clock) in timeline.clocks.iter().enumerate() {
        let time = match clock.time {
            TimeKind::Measured => String::new(),
            time => format!(" {}", time.word()),
        };
        let _ = writeln!(out, "clock {i}: {:?}{time}", clock.kind);
    }
    for e in &timeline.edges {
        let _ = write!(
            out,
            "edge {} -> {}: {:+} ns, err {} ns, {:?}",
            clock(e.from),
            clock(e.to),
            e.offset_ns,
            e.err_ns,
            e.how
        );
        let drift = match e.drift_ppm {
            0.0 => String::new(),
            ppm => format!(", drift {ppm} ppm at {} ns", e.pivot_ns),
        };
        let at = e.evidence.filter(|_| places).map(place).unwrap_or_default();
        let _ = writeln!(out, "{drift}: {}{at}", e.why);
    }
    for m in &timeline.marks {
        let _ = write!(out, "mark {} {}: ", clock(m.clock), stamp(m.at));
        let at = if places {
            place(m.evidence)
        } else {
            String::new()
        };
        let _ = writeln!(out, "{:?} {:?}{at}", m.kind, timeline.text(m.name));
    }
    tracks(timeline, places, &mut out);
    counters(timeline, places, &mut out);
    links(timeline, &mut out);
    anchors(timeline, &mut out);
    uses(timeline, places, &mut out);
    for notice in &timeline.notices {
        notices(notice, places, &mut out);
    }
    out
}

fn tracks(timeline: &Timeline, places: bool, out: &mut String) {
    let mut ids: Vec<TrackId> = Vec::new();
    for span in &timeline.spans {
        if !ids.contains(&span.track) {
            ids.push(span.track);
        }
    }
    for id in ids {
        let of_track: Vec<&Span> = timeline.spans.iter().filter(|s| s.track == id).collect();
        let kind = timeline.kind_of(of_track[0]);
        let name = timeline.text(timeline.track_of(of_track[0]).name);
        let _ = writeln!(out, "\n{kind:?} {name:?}: {} spans", of_track.len());
        let lines: Vec<String> = of_track
            .iter()
            .map(|s| span_line(timeline, s, kind, places))
            .collect();
        if lines.len() <= SHOWN {
            out.extend(lines);
            continue;
        }
        let (first, last) = (SHOWN * 2 / 3, lines.len() - SHOWN / 3);
        out.extend(lines[..first].iter().cloned());
        let _ = writeln!(
            out,
            "  … {} more, of hash {:016x} …",
            last - first,
            hash(&lines[first..last])
        );
        out.extend(lines[last..].iter().cloned());
    }
    out.push('\n');
}

/// All samples, if they are few.
fn counters(timeline: &Timeline, places: bool, out: &mut String) {
    for c in &timeline.counters {
        let (name, unit) = (timeline.text(c.name), timeline.text(c.unit));
        let at = if places {
            place(c.evidence)
        } else {
            String::new()
        };
        let _ = write!(out, "counter {} {name:?} in {unit}:", clock(c.clock));
        for (ns, value) in c.samples.iter().take(6) {
            let _ = write!(out, " {ns}:{value:.3}");
        }
        let lines: Vec<String> = c.samples.iter().map(|s| format!("{s:?}")).collect();
        let _ = writeln!(out, " x{} of hash {:016x}{at}", lines.len(), hash(&lines));
    }
}

fn links(timeline: &Timeline, out: &mut String) {
    let name = |id| timeline.text(timeline.span(id).name);
    let lines: Vec<String> = timeline
        .links
        .iter()
        .map(|l| format!("link {} {:?} {}\n", name(l.from), l.kind, name(l.to)))
        .collect();
    out.extend(lines.iter().take(SHOWN).cloned());
    if lines.len() > SHOWN {
        let rest = &lines[SHOWN..];
        let _ = writeln!(out, "… {} more, of hash {:016x} …", rest.len(), hash(rest));
    }
}

/// Who did what with which file.
fn uses(timeline: &Timeline, places: bool, out: &mut String) {
    let lines = timeline.file_uses.iter().map(|row| {
        let at = if places { place(row.evidence) } else { String::new() };
        format!(
            "{} {} {:?}: {} opened, {} missing, {} looked at, {} reads of {} bytes, {} mapped, {} ns; {} {}{at}",
            timeline.text(row.program), row.pid, timeline.text(row.path), row.opens, row.missing,
            row.looks, row.reads, row.bytes, row.maps, row.took_ns, clock(row.clock), stamp(row.first),
        )
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nfiles used x{}", lines.len());
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(out, "  {line}");
    }
    if lines.len() > SHOWN {
        let rest = &lines[SHOWN..];
        let _ = writeln!(out, "… {} more, of hash {:016x} …", rest.len(), hash(rest));
    }
}

/// Keys are hashes: how many, and where the first and last are.
fn anchors(timeline: &Timeline, out: &mut String) {
    let (Some(first), Some(last)) = (timeline.anchors.first(), timeline.anchors.last()) else {
        return;
    };
    let of = |a: &bootlap_model::Anchor| format!("{} {}", clock(a.clock), stamp(a.at));
    let n = timeline.anchors.len();
    let _ = writeln!(out, "anchors x{n}: {} … {}", of(first), of(last));
}

fn span_line(timeline: &Timeline, span: &Span, kind: TrackKind, places: bool) -> String {
    let (length, insns) = match span.end {
        SpanEnd::At(end) => {
            let insns = span.start.insns_until(&end);
            let insns = insns.map(|n| format!(" {n} insns")).unwrap_or_default();
            (format!("+{}", end.ns - span.start.ns), insns)
        }
        other => (format!("{other:?}"), String::new()),
    };
    let err = match span.start.err_ns {
        0 | 1000 => String::new(),
        err => format!("±{err} "),
    };
    let mut line = format!(
        "  {} {:>13} {err}{length:>12}{insns}",
        clock(span.clock),
        span.start.ns
    );
    let name = timeline.text(span.name);
    let _ = match kind {
        TrackKind::Console => write!(line, " |{name}|"),
        _ => write!(line, " {name}"),
    };
    for (key, value) in &span.args {
        let _ = write!(line, " {}={}", timeline.text(*key), timeline.text(*value));
    }
    if places && kind != TrackKind::Console {
        line.push_str(&place(span.evidence));
    }
    line.push('\n');
    line
}

fn notices(notice: &Notice, places: bool, out: &mut String) {
    let _ = write!(
        out,
        "notice {} {:?} x{}",
        notice.code, notice.severity, notice.count
    );
    if places {
        notice.first.iter().for_each(|e| out.push_str(&place(*e)));
    }
    let _ = writeln!(out, "\n    {}", notice.remedy);
}

fn clock(id: ClockId) -> String {
    format!("{id:?}").replace("ClockId(", "c").replace(')', "")
}

fn stamp(at: Stamp) -> String {
    let insns = at.insns.map(|n| format!(" {n} insns")).unwrap_or_default();
    match at.err_ns {
        0 => format!("{} ns{insns}", at.ns),
        err => format!("{}±{err} ns{insns}", at.ns),
    }
}

fn place(e: Evidence) -> String {
    format!("  @{}:{}..{}", e.line, e.start, e.end)
}

fn hash(lines: &[String]) -> u64 {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    lines
        .iter()
        .flat_map(|l| l.bytes())
        .fold(0xcbf2_9ce4_8422_2325, step)
}

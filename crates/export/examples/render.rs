//! Renders stamped consoles, for looking at a sink while working on it:
//!
//! ```text
//! cargo run -p bootlap-export --example render -- after.stamps [before.stamps] out.html
//! ```
//!
//! Beside each `x.stamps` lies the raw console, `x.console`.

use std::error::Error;
use std::path::Path;

use bootlap_analysis::{costs, gaps, phases, ready_ns};
use bootlap_export::sink_for;
use bootlap_model::Timeline;
use bootlap_report::{About, Report, Texts};
use bootlap_sources::{Hints, Input, detect};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<_> = std::env::args().skip(1).collect();
    let out = paths.pop().ok_or("no output file was named")?;
    let boots = paths
        .iter()
        .map(|path| load(path))
        .collect::<Result<Vec<_>, _>>()?;
    let [after, rest @ ..] = &boots[..] else {
        return Err("no stamps were named".into());
    };
    let mut report = self::report(after);
    if let Some(before) = rest.first() {
        report = report.against(self::report(before));
    }
    let extension = Path::new(&out).extension().and_then(|e| e.to_str());
    let sink = extension
        .and_then(sink_for)
        .ok_or("no sink has this extension")?;
    sink.write(&report, &mut std::fs::File::create(&out)?)?;
    Ok(())
}

struct Boot {
    path: String,
    timeline: Timeline,
    texts: Texts,
}

fn load(path: &str) -> Result<Boot, Box<dyn Error>> {
    let stamps = std::fs::read(path)?;
    let console = std::fs::read(Path::new(path).with_extension("console"))?;
    let source = detect(&stamps).ok_or("no source knows this file")?;
    let hints = Hints {
        ready: Some(regex::bytes::Regex::new("APP_READY")?),
        ..Hints::default()
    };
    let mut timeline = Timeline::default();
    let mut bytes = &stamps[..];
    let input = Input {
        label: "console.log",
        bytes: &mut bytes,
        hints: &hints,
    };
    source.read(input, &mut timeline)?;
    let texts = timeline
        .file_ids()
        .map(|id| (id, console.clone()))
        .collect();
    Ok(Boot {
        path: path.to_owned(),
        timeline,
        texts,
    })
}

fn report(boot: &Boot) -> Report<'_> {
    let timeline = &boot.timeline;
    let ready_ns = ready_ns(timeline);
    let about = About {
        path: String::new(),
        target: "kiosk".to_owned(),
        run: boot.path.clone(),
        machine: "QEMU 7.2 virt, cortex-a57, 2 ns per instruction".to_owned(),
        mode: "sim".to_owned(),
        time: "simulated".to_owned(),
        identical: Some(true),
        ready_ns,
        instructions: ready_ns.map(|ns| ns.unsigned_abs() / 2),
        console_sha256: "0".repeat(64),
        tool: "bootlap 0.1.0".to_owned(),
    };
    Report {
        phases: phases(timeline),
        gaps: gaps(timeline, 10_000_000),
        costs: costs(timeline, 10),
        ..Report::new(about, timeline, &boot.texts)
    }
}

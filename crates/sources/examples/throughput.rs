//! How fast sources read: `throughput FILE… [--as SOURCE]` prints lines/s, the
//! best of five reads on one thread, and what is kept.
#![allow(clippy::print_stdout, reason = "a program")]

use std::time::Instant;

use bootlap_model::{Span, Timeline};
use bootlap_sources::{HEAD_LEN, Hints, Input, detect, named};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let by_name = match files.iter().position(|a| a == "--as") {
        Some(i) if i + 1 < files.len() => {
            let name = files.remove(i + 1);
            files.remove(i);
            Some(named(&name).ok_or("no such source")?)
        }
        _ => None,
    };
    for file in files {
        let bytes = std::fs::read(&file)?;
        let head = &bytes[..bytes.len().min(HEAD_LEN)];
        let source = by_name.or_else(|| detect(head)).ok_or("nothing known")?;
        let hints = Hints::default();
        let (mut best, mut first) = (f64::INFINITY, None);
        let mut timeline = Timeline::default();
        for _ in 0..5 {
            timeline = Timeline::default();
            let began = Instant::now();
            let input = Input {
                label: &file,
                bytes: &mut &bytes[..],
                hints: &hints,
            };
            source.read(input, &mut timeline)?;
            let took = began.elapsed().as_secs_f64();
            first.get_or_insert(took);
            best = best.min(took);
        }
        let lines = timeline.files[0].usage.total;
        println!(
            "{file}: {}: {lines} lines in {:.1} ms (the first time {:.1}): {:.2} M lines/s, {:.0} MB/s; {} spans ({} B each), {} anchors",
            source.info().name,
            best * 1e3,
            first.unwrap_or(best) * 1e3,
            lines as f64 / best / 1e6,
            bytes.len() as f64 / best / 1e6,
            timeline.spans.len(),
            size_of::<Span>(),
            timeline.anchors.len(),
        );
    }
    Ok(())
}

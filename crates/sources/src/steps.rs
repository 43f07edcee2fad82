//! Tables of moments: firmware writes down when it got to each point.
//!
//! A moment gives a mark, and each but the first a span from the one before
//! it: what the `Delta` or `Elapsed` column of such a table counts. Its name has both
//! ends, `start of romstage → loading FSP-M`: by the second alone, the time *before*
//! something would be called that something.

use bootlap_model::{ClockId, Evidence, SpanEnd, Stamp, TrackKind};

use crate::text::Import;

/// One row.
pub(crate) struct Step {
    /// When.
    pub(crate) ns: i64,
    /// What was reached.
    pub(crate) name: String,
    /// The number that the firmware knows it by, as printed.
    pub(crate) id: String,
    /// Where it is.
    pub(crate) at: Evidence,
}

/// Writes down steps that are in order of time, each known to `err_ns`.
pub(crate) fn write(
    import: &mut Import<'_>,
    clock: ClockId,
    track: (TrackKind, &str),
    err_ns: u32,
    steps: &[Step],
) {
    for step in steps {
        import.mark(clock, Stamp::new(step.ns, err_ns), &step.name, step.at);
    }
    lengths(import, clock, track, err_ns, steps);
}

/// The same without the moments themselves.
pub(crate) fn lengths(
    import: &mut Import<'_>,
    clock: ClockId,
    track: (TrackKind, &str),
    err_ns: u32,
    steps: &[Step],
) {
    for (before, step) in steps.iter().zip(steps.iter().skip(1)) {
        let stamp = |step: &Step| Stamp::new(step.ns, err_ns);
        let ends = (stamp(before), SpanEnd::At(stamp(step)));
        let id = [("id", &step.id[..])];
        let id = id.into_iter().filter(|(_, id)| !id.is_empty());
        let args: Vec<_> = id.chain([("from", &before.name[..])]).collect();
        let name = between(&before.name, &step.name);
        import.span(clock, track, &name, ends, &args, step.at);
    }
}

/// What to call the time from one moment to the next: a call that returns has one name.
pub(crate) fn between(from: &str, to: &str) -> String {
    let pairs = [
        ("calling ", "returning from "),
        ("starting to ", "finished "),
        ("starting ", "finished "),
        ("start of ", "end of "),
    ];
    let called = pairs.iter().find_map(|(begins, ends)| {
        let what = from.strip_prefix(begins)?;
        (to.strip_prefix(ends)? == what).then_some(what)
    });
    called.map_or_else(|| format!("{from} → {to}"), str::to_owned)
}

/// A number in groups of three: `1,043,362`.
pub(crate) fn grouped(text: &str) -> Option<u64> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut digits = text.bytes().filter(|b| *b != b',');
    digits.try_fold(0u64, |n, b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn a_stretch_has_the_names_of_both_ends() {
        assert_eq!(
            between("start of romstage", "loading FSP-M"),
            "start of romstage → loading FSP-M"
        );
        assert_eq!(
            between("calling FspMemoryInit", "returning from FspMemoryInit"),
            "FspMemoryInit"
        );
        assert_eq!(between("start of postcar", "end of postcar"), "postcar");
        assert_eq!(
            between("calling a", "returning from b"),
            "calling a → returning from b"
        );
    }
}

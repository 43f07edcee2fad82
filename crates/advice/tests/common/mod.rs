//! Boots and targets made by hand.

use bootlap_advice::{Boot, Finding, advise};
use bootlap_model::{
    ClockId, ClockKind, Evidence, FileId, Milestone, SpanEnd, Stamp, TimeKind, Timeline, TrackKind,
};
use bootlap_product::{Cache, Parts, Target};

pub(crate) const MS: i64 = 1_000_000;

/// A timeline on one clock.
pub(crate) struct Builder {
    pub(crate) timeline: Timeline,
    clock: ClockId,
    file: FileId,
    at: u64,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "stamps");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Simulated, file);
        Self {
            timeline,
            clock,
            file,
            at: 0,
        }
    }

    /// A span from `start` to `end` ns.
    pub(crate) fn span(self, kind: TrackKind, name: &str, start: i64, end: i64) -> Self {
        self.with_args(kind, name, (start, SpanEnd::At(Stamp::new(end, 0))), &[])
    }

    pub(crate) fn with_args(
        mut self,
        kind: TrackKind,
        name: &str,
        (start, end): (i64, SpanEnd),
        args: &[(&str, &str)],
    ) -> Self {
        let evidence = self.evidence(name.len() as u64);
        let times = (Stamp::new(start, 0), end);
        self.timeline
            .add_named(self.clock, (kind, "track"), name, times, args, evidence);
        self
    }

    /// `bytes` of text on the console.
    pub(crate) fn printed(self, bytes: usize, at: i64) -> Self {
        self.span(TrackKind::Console, &"x".repeat(bytes), at, at)
    }

    /// The same, by U-Boot.
    pub(crate) fn says_uboot(self, bytes: usize, at: i64) -> Self {
        let mut text = "U-Boot".repeat(bytes / 6 + 1);
        text.truncate(bytes);
        self.span(TrackKind::Console, &text, at, at)
    }

    pub(crate) fn milestone(mut self, milestone: Milestone, at: i64) -> Self {
        let (at, evidence) = (Stamp::new(at, 0), self.evidence(0));
        self.timeline
            .add_milestone(self.clock, at, milestone, evidence);
        self
    }

    fn evidence(&mut self, bytes: u64) -> Evidence {
        let start = self.at;
        self.at += bytes;
        Evidence {
            file: self.file,
            start,
            end: self.at,
            line: 1,
        }
    }

    /// What is advised without a target.
    pub(crate) fn advice(&self) -> Vec<Finding> {
        self.advice_for(None)
    }

    pub(crate) fn advice_for(&self, target: Option<(&Target, &Parts)>) -> Vec<Finding> {
        let boot = Boot::new(&self.timeline);
        match target {
            Some((target, parts)) => advise(&boot.of(target, parts)),
            None => advise(&boot),
        }
    }
}

/// The one finding of `rule`, if there is one.
pub(crate) fn found<'a>(findings: &'a [Finding], rule: &str) -> Option<&'a Finding> {
    let mut of_rule = findings.iter().filter(|f| f.rule == rule);
    let first = of_rule.next();
    assert!(of_rule.next().is_none(), "{rule} more than once");
    first
}

/// Bytes of the kernel and of the initramfs's one file.
pub(crate) const KERNEL_BYTES: usize = 1_000_000;
pub(crate) const INIT_BYTES: usize = 500_000;

/// A target with everything that recipes change.
pub(crate) fn target() -> (Target, Parts) {
    target_with(&[])
}

/// The same with some text replaced.
pub(crate) fn target_with(changes: &[(&str, &str)]) -> (Target, Parts) {
    let mut text = r#"format = 1
name = "t"
ready.pattern = "READY"
[machine]
kind = "qemu"
program = "qemu"
machine = "virt"
cpu = "max"
memory-mb = 64
[bootloader]
image = "u-boot"
environment.bootdelay = "2"
[flash]
bank-size = 0x1000000
environment-offset = 0
environment-size = 0x1000
fit-offset = 0x1000
[fit]
hash = "crc32"
load-address = 0
[kernel]
image = "Image"
compression = "gzip"
cmdline = "console=ttyS0,9600n8"
[initramfs]
compression = "gzip"
files."/init" = "init"
"#
    .to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("target.toml", text.as_bytes());
    write("u-boot", b"U-Boot\0silent\0");
    let kernel = vec![0; KERNEL_BYTES];
    let gzip = bootlap_artefact::compress::Compression::Gzip;
    write("Image", &kernel);
    write("Image.gz", &gzip.compress(&kernel).unwrap());
    write("init", &vec![0; INIT_BYTES]);
    let target = Target::load(dir.path()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let parts = target.parts(&cache, &|_| {}).unwrap();
    (target, parts)
}

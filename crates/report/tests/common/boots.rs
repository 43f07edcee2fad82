//! The example target's boot, before and after.

use bootlap_analysis::{Cost, Gap, Part, Phase, PhaseName, Verdict};
use bootlap_model::{
    ClockEdge, ClockKind, Evidence, FileId, How, Mark, MarkKind, Milestone, Severity, Span,
    SpanEnd, Stamp, TimeKind, Timeline, TrackKind,
};
use bootlap_report::{About, Texts};

use super::{Boot, MS, finding, moved, place, trial};

/// 2 ns per instruction, as QEMU counts with shift=1.
fn at(ms: i64) -> Stamp {
    Stamp::counted(ms * MS, (ms * MS / 2).unsigned_abs())
}

/// A boot under construction.
pub(crate) struct Maker {
    pub(crate) timeline: Timeline,
    pub(crate) console: Vec<u8>,
    pub(crate) file: FileId,
    clock: bootlap_model::ClockId,
    line: u32,
    last: Evidence,
}

impl Maker {
    pub(crate) fn new() -> Self {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console.log", "stamps");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Simulated, file);
        let last = Evidence::whole(file, 0);
        Self {
            timeline,
            console: Vec::new(),
            file,
            clock,
            line: 0,
            last,
        }
    }

    /// A console line, sent within a millisecond.
    pub(crate) fn line(&mut self, ms: i64, text: &str) -> &mut Self {
        let start = self.console.len() as u64;
        self.console.extend(text.as_bytes());
        self.console.push(b'\n');
        self.line += 1;
        self.last = Evidence {
            file: self.file,
            start,
            end: self.console.len() as u64,
            line: self.line,
        };
        let usage = self.timeline.usage_mut(self.file);
        usage.total += 1;
        usage.used += 1;
        self.span(TrackKind::Console, "console", text, [ms, ms])
    }

    /// A span that the last line tells of.
    pub(crate) fn span(
        &mut self,
        kind: TrackKind,
        lane: &str,
        name: &str,
        ms: [i64; 2],
    ) -> &mut Self {
        let [start, end] = ms.map(at);
        let times = (start, SpanEnd::At(end));
        self.timeline
            .add_named(self.clock, (kind, lane), name, times, &[], self.last);
        self
    }

    fn uboot(&mut self, name: &str, ms: [i64; 2]) -> &mut Self {
        self.span(TrackKind::Bootloader, "boot loader", name, ms)
    }

    fn initcall(&mut self, name: &str, ms: [i64; 2]) -> &mut Self {
        self.span(TrackKind::Initcall, "initcalls", name, ms)
    }

    /// An argument of the last span.
    pub(crate) fn arg(&mut self, key: &str, value: &str) -> &mut Self {
        let (key, value) = (
            self.timeline.symbols.intern(key),
            self.timeline.symbols.intern(value),
        );
        if let Some(span) = self.timeline.spans.last_mut() {
            span.args.push((key, value));
        }
        self
    }

    pub(crate) fn mark(&mut self, milestone: Milestone, ms: i64) -> &mut Self {
        self.timeline
            .add_milestone(self.clock, at(ms), milestone, self.last);
        self
    }

    /// The kernel's log clock, zero at `ms`.
    pub(crate) fn kernel_clock(&mut self, ms: i64, how: How) -> &mut Self {
        let kind = ClockKind::KernelPrintk;
        let from = self
            .timeline
            .add_lab_clock(kind, TimeKind::Simulated, self.file);
        let edge = ClockEdge::offset(from, self.clock, ms * MS, 500, how);
        let edge = edge.because("a kernel line", Some(self.last));
        self.timeline.edges.push(edge);
        self
    }
}

pub(crate) fn phase(name: PhaseName, ms: [i64; 2], parts: &[(&str, i64, i64)]) -> Phase {
    let part = |&(name, start, end): &(&str, i64, i64)| Part {
        name: name.to_owned(),
        start: at(start),
        end: at(end),
    };
    Phase {
        name,
        start: at(ms[0]),
        end: at(ms[1]),
        parts: parts.iter().map(part).collect(),
    }
}

pub(crate) fn cost(
    name: &str,
    phase: PhaseName,
    ms: [i64; 2],
    why: &str,
    idle: Option<f64>,
) -> Cost {
    Cost {
        name: name.to_owned(),
        phase: Some(phase),
        placed: true,
        start: at(ms[0]),
        end: at(ms[1]),
        duration_ns: (ms[1] - ms[0]) * MS,
        why: why.to_owned(),
        idle_share: idle,
        evidence: vec![place(ms)],
    }
}

pub(crate) fn gap(
    phase: PhaseName,
    ms: [i64; 2],
    before: &str,
    after: &str,
    idle: Option<f64>,
) -> Gap {
    Gap {
        start: at(ms[0]),
        end: at(ms[1]),
        phase: Some(phase),
        before: before.to_owned(),
        after: after.to_owned(),
        idle_share: idle,
    }
}

fn about(ready_ms: i64, run: &str) -> About {
    About {
        path: String::new(),
        target: "kiosk".to_owned(),
        run: run.to_owned(),
        machine: "QEMU 7.2 virt, cortex-a57, 2 ns per instruction".to_owned(),
        mode: "sim".to_owned(),
        time: "simulated".to_owned(),
        model: None,
        identical: Some(true),
        ready_ns: Some(ready_ms * MS),
        instructions: Some((ready_ms * MS / 2).unsigned_abs()),
        console_sha256: "5f".repeat(32),
        tool: "bootlap 0.1.0".to_owned(),
    }
}

/// As it comes: 5.177 s.
pub(crate) fn stock() -> Boot {
    use PhaseName::{Bootloader, Firmware, Kernel, Userspace};
    let maker = stock_events();
    let unpack = [3_140, 3_520];
    Boot {
        about: about(5_177, "runs/kiosk-stock"),
        phases: vec![
            phase(Firmware, [0, 8], &[]),
            phase(
                Bootloader,
                [8, 3_520],
                &[
                    ("autoboot wait", 985, 2_985),
                    ("check kernel", 2_985, 3_100),
                    ("uncompress kernel", unpack[0], unpack[1]),
                ],
            ),
            phase(
                Kernel,
                [3_520, 5_170],
                &[
                    ("before its clock", 3_520, 3_540),
                    ("X.509 certificates", 3_987, 4_168),
                    ("self-tests of cryptography", 4_173, 5_173 - 3),
                ],
            ),
            phase(Userspace, [5_170, 5_177], &[]),
        ],
        gaps: vec![
            gap(
                Bootloader,
                [1_985, 2_985],
                "Hit any key to stop autoboot:  1",
                "Hit any key to stop autoboot:  0",
                Some(0.0),
            ),
            gap(
                Kernel,
                [4_173, 5_170],
                "[    0.633703] evm: HMAC attrs: 0x1",
                "[    1.633179] clk: Disabling unused clocks",
                Some(0.62),
            ),
            gap(
                Bootloader,
                [3_140, 3_520],
                "   Uncompressing Kernel Image",
                "   Loading Ramdisk to 5dcc0000",
                None,
            ),
        ],
        costs: vec![
            cost(
                "autoboot wait",
                Bootloader,
                [985, 2_985],
                "U-Boot counts down before it boots, in case somebody wants its prompt.",
                Some(0.0),
            ),
            cost(
                "self-tests of cryptography",
                Kernel,
                [4_173, 5_170],
                "The kernel tests its ciphers before it uses them.",
                Some(0.62),
            ),
            cost(
                "environment from flash",
                Bootloader,
                [8, 985],
                "U-Boot reads its environment and looks for devices.",
                None,
            ),
            cost(
                "uncompress kernel",
                Bootloader,
                unpack,
                "U-Boot unpacks the kernel image (gzip, 10.7 MiB).",
                Some(0.0),
            ),
            cost(
                "X.509 certificates",
                Kernel,
                [3_987, 4_168],
                "The kernel loads the certificates it was built with, and checks their signatures.",
                None,
            ),
        ],
        findings: vec![
            finding(
                "uboot-bootdelay",
                "U-Boot waits 2 s for a key that nobody presses",
                Some("uboot-bootdelay"),
                [985, 2_985],
                2_000,
            ),
            finding(
                "kernel-crypto-tests",
                "The kernel tests its ciphers at every boot",
                Some("kernel-crypto-notests"),
                [4_173, 5_170],
                997,
            ),
            finding(
                "uboot-compression",
                "The kernel image is compressed with gzip",
                None,
                unpack,
                210,
            ),
            finding(
                "uboot-verify",
                "U-Boot checks the kernel's hash",
                Some("uboot-verify"),
                [2_985, 3_100],
                115,
            ),
        ],
        trials: vec![
            trial("uboot-bootdelay", -2_000, 0, Verdict::Faster),
            {
                let mut trial = trial("kernel-crypto-notests", -990, 12, Verdict::Faster);
                trial.moved = vec![moved(
                    "self-tests of cryptography",
                    "clk: Disabling unused clocks",
                    997,
                    7,
                )];
                trial
            },
            trial("kernel-quiet", 0, 1, Verdict::Equivalent),
            trial("kernel-lz4", 140, 30, Verdict::Slower),
        ],
        texts: Texts::from([(maker.file, maker.console)]),
        timeline: maker.timeline,
    }
}

fn stock_events() -> Maker {
    let mut m = Maker::new();
    m.mark(Milestone::PowerOn, 0)
        .line(
            8,
            "U-Boot 2023.01+dfsg-2+deb12u3 (Jun 22 2026 - 08:38:07 +0000)",
        )
        .mark(Milestone::BootloaderStart, 8)
        .line(985, "Hit any key to stop autoboot:  2  1  0 ")
        .uboot("autoboot wait", [985, 2_985])
        .arg("seconds", "2")
        .line(2_985, "## Loading kernel from FIT Image at 04100000 ...")
        .uboot("check kernel", [2_985, 3_100])
        .arg("algorithm", "crc32")
        .line(3_140, "   Uncompressing Kernel Image")
        .uboot("uncompress kernel", [3_140, 3_520])
        .line(3_520, "Starting kernel ...")
        .mark(Milestone::BootloaderHandover, 3_520)
        .mark(Milestone::KernelEntry, 3_520)
        .line(
            3_540,
            "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x411fd070]",
        )
        .kernel_clock(3_540, How::SharedEvent)
        .line(
            3_987,
            "[    0.447423] Loading compiled-in X.509 certificates",
        )
        .initcall("load_system_certificate_list", [3_987, 4_168])
        .initcall("x509_key_init", [3_990, 4_010])
        .line(4_173, "[    0.633703] evm: HMAC attrs: 0x1")
        .initcall("crypto_algapi_init", [4_173, 5_170])
        .line(5_170, "[    1.633179] clk: Disabling unused clocks")
        .line(5_171, "[    1.665361] Run /init as init process")
        .mark(Milestone::InitStart, 5_170)
        .line(5_177, "APP_READY")
        .mark(Milestone::Ready, 5_177);
    m.timeline.notice(
        "initcall-without-return",
        Severity::Notice,
        None,
        "an initcall never returned; its end is unknown",
    );
    m
}

/// With what the trials showed to help: 1.043 s.
pub(crate) fn tuned() -> Boot {
    use PhaseName::{Bootloader, Firmware, Kernel, Userspace};
    let mut m = Maker::new();
    m.mark(Milestone::PowerOn, 0)
        .line(
            8,
            "U-Boot 2023.01+dfsg-2+deb12u3 (Jun 22 2026 - 08:38:07 +0000)",
        )
        .mark(Milestone::BootloaderStart, 8)
        .line(120, "## Loading kernel from FIT Image at 04100000 ...")
        .line(130, "   Uncompressing Kernel Image")
        .uboot("uncompress kernel", [130, 390])
        .line(390, "Starting kernel ...")
        .mark(Milestone::BootloaderHandover, 390)
        .mark(Milestone::KernelEntry, 390)
        .line(
            410,
            "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x411fd070]",
        )
        .line(857, "[    0.447423] Loading compiled-in X.509 certificates")
        .line(1_020, "[    0.633703] evm: HMAC attrs: 0x1")
        .line(1_030, "[    0.665361] Run /init as init process")
        .mark(Milestone::InitStart, 1_030)
        .line(1_043, "APP_READY")
        .mark(Milestone::Ready, 1_043);
    Boot {
        about: about(1_043, "runs/kiosk-tuned"),
        phases: vec![
            phase(Firmware, [0, 8], &[]),
            phase(Bootloader, [8, 390], &[("uncompress kernel", 130, 390)]),
            phase(Kernel, [390, 1_030], &[("X.509 certificates", 857, 1_020)]),
            phase(Userspace, [1_030, 1_043], &[]),
        ],
        gaps: vec![gap(
            Kernel,
            [410, 857],
            "Booting Linux",
            "Loading compiled-in X.509 certificates",
            None,
        )],
        costs: vec![cost(
            "uncompress kernel",
            Bootloader,
            [130, 390],
            "U-Boot unpacks the kernel image (lz4, 14.1 MiB).",
            None,
        )],
        findings: Vec::new(),
        trials: Vec::new(),
        texts: Texts::from([(m.file, m.console)]),
        timeline: m.timeline,
    }
}

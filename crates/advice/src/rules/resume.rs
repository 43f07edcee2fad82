//! Starting from an image of the running system, instead of booting.

use bootlap_model::Milestone;

use super::checks;
use crate::lines::{Line, number_after};
use crate::{Boot, Finding};

checks! {
    "resume-image" => image,
}

/// File systems that nobody writes to: an image knows its roots as they were.
const READ_ONLY: [&str; 4] = ["squashfs", "erofs", "romfs", "cramfs"];
/// What a kernel says when it mounts one that is mostly written to, and whose superblock does not
/// tell the agent whether it was.
const WRITTEN: [&str; 5] = [
    "F2FS-fs (",
    "UBIFS (",
    "XFS (",
    "BTRFS info",
    "jffs2: version",
];
/// From less nobody would notice, ns.
const WORTH_NS: i64 = 3_000_000_000;
/// All of the boot has to be over in so much of the time: what an image asks of a product is a lot.
const TIMES: i64 = 3;
/// Instructions that unpacking takes for each byte of memory, and handing it to the kernel.
const INSTRUCTIONS: i64 = 9;
/// Bytes of memory that LZ4 makes a byte of.
const PACKED: i64 = 3;
/// Bytes a second of storage that nobody has told the speed of.
const CARD: i64 = 20_000_000;
const EMMC: i64 = 140_000_000;
/// Instructions a second of such a CPU.
const CPU: i64 = 1_000_000_000;

fn image(boot: &Boot<'_>) -> Option<Finding> {
    let (root, is_read_only) = root(boot)?;
    if boot.parameter("nohibernate").is_some() {
        return None;
    }
    let start = boot.moment(&[Milestone::InitStart, Milestone::UserEntry])?;
    let end = boot.moment(&[Milestone::Ready, Milestone::StartupFinished])?;
    let ns = end.checked_sub(start).filter(|ns| *ns >= WORTH_NS)?;
    let (memory, how) = memory(boot)?;
    let board = Board::of(boot);
    let pays = |speed: &i64| start + board.image_ns(memory, *speed) <= end / TIMES;
    let speed = board.speeds.iter().copied().find(pays)?;
    let image_ns = board.image_ns(memory, speed);
    let caution = match is_read_only {
        true => "",
        false => "; the kernel does not say whether somebody writes to it: nobody must",
    };
    let finding = Finding::new()
        .why(format!(
            "user space takes {} ms of {}; an image of {how}{} MB of memory would be \
             read from {} MB/s, and unpacked, in about {} ms{caution}",
            ns / 1_000_000,
            end / 1_000_000,
            memory / 1_000_000,
            speed / 1_000_000,
            image_ns / 1_000_000,
        ))
        .at(Some([start, end]))
        .seen([root.evidence]);
    let basis = "estimated: a third of the memory is read, and 9 instructions a byte unpack it; \
                 what else is saved of user space, this does not save any more";
    Some(match board.is_known {
        true => finding.saves(ns - image_ns, basis),
        false => finding.saves_unknown(format!(
            "{basis}; {} million instructions a second are assumed",
            CPU / 1_000_000
        )),
    })
}

/// The line that mounts a root which an image can know, and whether it says that nobody writes to
/// it; none if something is mounted that is written to.
fn root<'a>(boot: &Boot<'a>) -> Option<(Line<'a>, bool)> {
    let lines = boot.lines();
    if lines.has(WRITTEN) || boot.parameter("rw").is_some() {
        return None;
    }
    let mounts = lines.all(("EXT4-fs (", |text: &str| text.contains("mounted")));
    let mounts: Vec<_> = mounts.copied().collect();
    let is_read = |line: &Line<'_>| line.text.contains(" ro with") || line.text.contains(" ro.");
    let is_written = |line: &Line<'_>| {
        line.text.contains(" r/w") || (line.text.contains("re-mounted") && !is_read(line))
    };
    if mounts.iter().any(is_written) {
        return None;
    }
    let all_read = mounts.iter().all(is_read);
    let Some(root) = lines.find("VFS: Mounted root (").copied() else {
        // Before Linux 6.2 the line does not say which; of one such disk, a finding can.
        let first = mounts.first().filter(|_| all_read || mounts.len() == 1);
        return first.map(|line| (*line, all_read));
    };
    let is = |name: &&str| root.text.contains(&format!("({name} filesystem) readonly"));
    let is_known = match is(&"ext4") {
        true => mounts.len() <= 1 || all_read,
        false => READ_ONLY.iter().any(is) && all_read,
    };
    is_known.then_some((root, true))
}

/// Bytes of memory that an image would hold, and how they are known: what was in use last, without
/// what can be read again; or else half of it all, more than which the kernel does not copy.
fn memory(boot: &Boot<'_>) -> Option<(i64, &'static str)> {
    let line = boot.line(("available", |text: &str| text.starts_with("Memory: ")));
    // With what the kernel never gives away, which is in an image, and not in `MemTotal`.
    let all: Option<i64> = line.and_then(|line| number_after(line.text, "/")?.parse().ok());
    let kib = |name: &str| boot.counted_last(&format!("memory {name}"));
    let unused = || Some(kib("free")? + kib("buffers")? + kib("cached")?);
    let used = unused().and_then(|unused| all.map(|all| all - unused as i64));
    match used.filter(|used| *used > 0) {
        Some(used) => Some((used.checked_mul(1024)?, "")),
        None => Some((all?.checked_mul(1024)? / 2, "at most ")),
    }
}

/// How fast an image is read and unpacked.
struct Board {
    /// Bytes a second of its storage; several where it is not known.
    speeds: Vec<i64>,
    instructions_per_second: i64,
    is_known: bool,
}

impl Board {
    fn of(boot: &Boot<'_>) -> Self {
        let model = boot.target().and_then(|(target, _)| target.board.as_ref());
        let known = model.and_then(|model| {
            let storage = model.storage_bandwidth.of("userspace")?;
            let cpu = model.instructions_per_second.of("userspace")?;
            Some((storage as i64, cpu as i64))
        });
        match known {
            Some((storage, cpu)) => Self {
                speeds: vec![storage.max(1)],
                instructions_per_second: cpu.max(1),
                is_known: true,
            },
            None => Self {
                speeds: vec![CARD, EMMC],
                instructions_per_second: CPU,
                is_known: false,
            },
        }
    }

    /// What stands in user space's place, ns: reading and unpacking, as if neither could be done
    /// meanwhile.
    fn image_ns(&self, memory: i64, speed: i64) -> i64 {
        let ns = |amount: i64, per_second: i64| {
            let ns = i128::from(amount) * 1_000_000_000 / i128::from(per_second);
            i64::try_from(ns).unwrap_or(i64::MAX)
        };
        let read = ns(memory / PACKED, speed);
        read.saturating_add(ns(
            memory.saturating_mul(INSTRUCTIONS),
            self.instructions_per_second,
        ))
    }
}

//! A board's time, as the probe lives it: how fast instructions are, and what its
//! serial line takes.

use bootlap_product::{BoardModel, ByPhase, CacheSize, MemoryModel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PS_PER_S: f64 = 1e12;

/// What the probe's model is told of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// What an instruction takes in the boot loader, in the kernel and in user space, ps.
    pub ps_per_insn: [i64; 3],
    /// Bits per second of the console, where the guest programs no other; 0 if it takes no time.
    pub baud: u32,
    /// What the boot loader reads from memory-mapped flash takes, ps for a line of
    /// 64 bytes; `None` if that takes no time.
    pub flash_ps: Option<i64>,
    /// What requests to disks and cards take; `None` if that takes no time.
    pub disk: Option<DiskModel>,
    /// What memory takes; `None` if that is no time.
    pub caches: Option<Caches>,
}

/// Caches and memory, as `struct cache_board` in `probe/caches.h` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caches {
    /// L1 of instructions, L1 of data, L2: bytes and ways; 0 bytes: there is none.
    pub sizes: [[u32; 2]; 3],
    /// Bytes of a line.
    pub line: u32,
    /// What L2 takes, ps.
    pub l2_ps: i64,
    /// What memory takes, ps.
    pub memory_ps: i64,
    /// Whether the boot loader's data is never cached.
    pub off_in_bootloader: bool,
}

impl Caches {
    fn of(memory: &MemoryModel) -> Self {
        let size = |cache: Option<CacheSize>| cache.map_or([0, 1], |c| [c.bytes, c.ways]);
        let ps = |seconds: f64| (seconds * PS_PER_S).round() as i64;
        Self {
            sizes: [memory.l1_instructions, memory.l1_data, memory.l2].map(size),
            line: memory.line,
            l2_ps: ps(memory.l2_latency_s),
            memory_ps: ps(memory.latency_s),
            off_in_bootloader: memory.off_in_bootloader,
        }
    }

    /// The probe's option.
    fn option(&self) -> String {
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .map(|[bytes, ways]| format!("{bytes}:{ways}"))
            .collect();
        format!(
            ",caches={}:{}:{}:{}:{}:0:0",
            sizes.join(":"),
            self.line,
            self.l2_ps,
            self.memory_ps,
            u8::from(self.off_in_bootloader)
        )
    }
}

/// What a request to a disk or card takes, ps, by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskModel {
    /// Before its first byte.
    pub latency_ps: [i64; 3],
    /// For 4096 bytes that are read.
    pub read_ps: [i64; 3],
    /// For 4096 bytes that are written.
    pub write_ps: [i64; 3],
    /// Until all is written that was sent.
    pub flush_ps: i64,
}

impl DiskModel {
    fn of(board: &BoardModel) -> Option<Self> {
        let ps = |seconds: f64| (seconds * PS_PER_S).round() as i64;
        let unit =
            |rate: &ByPhase| STAGES.map(|stage| rate.of(stage).map_or(0, |rate| ps(UNIT / rate)));
        let read_ps = unit(&board.storage_bandwidth);
        let model = Self {
            latency_ps: STAGES.map(|stage| ps(board.storage_latency.of(stage).unwrap_or(0.0))),
            read_ps,
            write_ps: match board.storage_write_bandwidth.is_empty() {
                true => read_ps,
                false => unit(&board.storage_write_bandwidth),
            },
            flush_ps: ps(board.storage_flush_s),
        };
        let free = Self {
            latency_ps: [0; 3],
            read_ps: [0; 3],
            write_ps: [0; 3],
            flush_ps: 0,
        };
        Some(model).filter(|model| *model != free)
    }

    /// The probe's option: the numbers of `struct disk_board` in `probe/disk.h`.
    fn option(&self) -> String {
        let stages = [self.latency_ps, self.read_ps, self.write_ps]
            .into_iter()
            .flatten();
        let all: Vec<String> = stages
            .chain([self.flush_ps])
            .map(|ps| ps.to_string())
            .collect();
        format!(",disk={}", all.join(":"))
    }
}

/// What the probe tells apart of a boot.
const STAGES: [&str; 3] = ["bootloader", "kernel", "userspace"];

/// Bytes that a disk's times are for (`DISK_UNIT` in `probe/disk.h`).
const UNIT: f64 = 4096.0;

/// Bytes that flash is read by (`NOR_LINE` in `probe/nor.h`).
const LINE: f64 = 64.0;

impl Model {
    /// The part of a target's board that can be lived.
    pub fn of(board: &BoardModel) -> Self {
        let ps = |phase| {
            let speed = board.instructions_per_second.of(phase).unwrap_or(1e9);
            (PS_PER_S / speed).round() as i64
        };
        Self {
            ps_per_insn: STAGES.map(ps),
            baud: board.baud,
            flash_ps: board
                .storage_bandwidth
                .of("bootloader")
                .map(|bytes_per_s| (LINE / bytes_per_s * PS_PER_S).round() as i64),
            disk: DiskModel::of(board),
            caches: board.memory.as_ref().map(Caches::of),
        }
    }

    /// The same with a console that takes no time.
    #[must_use]
    pub fn with_fast_console(self) -> Self {
        Self { baud: 0, ..self }
    }

    /// QEMU's own rate below the model's: it counts 2^shift ns for an instruction, and
    /// plans by that how many may run until the next timer.
    pub(super) fn shift(&self) -> u32 {
        let least_ns = self.ps_per_insn.into_iter().min().unwrap_or(0) / 1000;
        let shift = u64::try_from(least_ns).unwrap_or(0).checked_ilog2();
        shift.unwrap_or(0).min(MOST_SHIFT)
    }

    /// What reading images of so many bytes takes before the first instruction, ps:
    /// the machine has them in memory at once, and a board reads them from somewhere.
    fn load_ps(&self, images: &[u64]) -> i64 {
        let line = |bytes: u64| bytes.div_ceil(LINE as u64);
        let lines: u64 = images.iter().map(|bytes| line(*bytes)).sum();
        let lines = i64::try_from(lines).unwrap_or(i64::MAX);
        let latency = self.disk.map_or(0, |disk| disk.latency_ps[0]);
        let reads = latency.saturating_mul(images.len() as i64);
        lines
            .saturating_mul(self.flash_ps.unwrap_or(0))
            .saturating_add(reads)
    }

    /// The probe's options, for a machine that has memory-mapped flash there, whose UART
    /// divides a clock of so many Hz, and that starts with images of so many bytes in
    /// memory.
    pub(super) fn options(
        &self,
        flash: Option<[u64; 2]>,
        uart_hz: Option<u64>,
        images: &[u64],
    ) -> String {
        let [bootloader, kernel, userspace] = self.ps_per_insn;
        let baud = self.baud;
        let mut options = format!("speed={bootloader}:{kernel}:{userspace},baud={baud}");
        if let Some(hz) = uart_hz {
            options += &format!(",uartclk={hz}");
        }
        if let (Some([first, last]), Some(ps)) = (flash, self.flash_ps) {
            options += &format!(",nor={first:x}:{last:x}:{ps}");
        }
        if let Some(disk) = &self.disk {
            options += &disk.option();
        }
        let load_ps = self.load_ps(images);
        if load_ps > 0 {
            let bytes: u64 = images.iter().sum();
            options += &format!(",load={load_ps}:{bytes}");
        }
        if let Some(caches) = &self.caches {
            options += &caches.option();
        }
        options
    }
}

/// What the probe said, for the manifest: `uart baud=115246 bits=10` becomes a table
/// `uart` of texts. What it said last of a thing counts; `rates` are all bauds in turn.
pub(super) fn facts(said: &str) -> Value {
    let fact = |line: &str| {
        let mut words = line.split_whitespace();
        let subject = words.next()?.to_owned();
        let pairs = words.map(|w| w.split_once('=').unwrap_or((w, "yes")));
        let pairs: Map<String, Value> = pairs.map(|(k, v)| (k.to_owned(), v.into())).collect();
        Some((subject, Value::from(pairs)))
    };
    let mut all = Map::new();
    let mut rates: Vec<Value> = Vec::new();
    for (subject, mut said) in said.lines().filter_map(fact) {
        if let Some(baud) = said.get("baud").cloned() {
            if rates.last() != Some(&baud) && rates.len() < MOST_RATES {
                rates.push(baud);
            }
            said["rates"] = rates.clone().into();
        }
        all.insert(subject, said);
    }
    all.into()
}

/// A guest that programs its UART in a loop is told of only so far.
const MOST_RATES: usize = 8;

/// The model of a boot in a few words, by the facts in its manifest; empty if there
/// was none.
pub fn words(facts: &Value) -> String {
    let number = |of: &str, key: &str| facts[of][key].as_str()?.parse::<f64>().ok();
    let stages = |of: &str, key: &str| -> Option<[f64; 3]> {
        let numbers = facts[of][key].as_str()?.split(':');
        let numbers: Result<Vec<f64>, _> = numbers.map(str::parse).collect();
        numbers.ok()?.try_into().ok()
    };
    let clock = STAGES.map(|stage| number("clock", stage));
    let [Some(loader), Some(kernel), Some(programs)] = clock else {
        return String::new();
    };
    let speed = |ps: f64| format!("{:.0}", PS_PER_S / ps.max(1.0) / 1e6);
    let speeds = all_or_each([loader, kernel, programs].map(speed));
    let rates = facts["uart"]["rates"].as_array();
    let rates: Option<Vec<&str>> = rates.map(|all| all.iter().filter_map(Value::as_str).collect());
    let console = match rates {
        Some(rates) => format!("console at {} baud", rates.join(", then ")),
        None => "its console takes no time".to_owned(),
    };
    let mut storage = Vec::new();
    if let (Some(bytes), Some(ps)) = (number("flash", "bytes"), number("flash", "ps")) {
        storage.push(format!("flash at {}", rate(bytes, ps)));
    }
    if let (Some(bytes), Some(ps)) = (number("load", "bytes"), number("load", "ps")) {
        storage.push(format!("images read at {}", rate(bytes, ps)));
    }
    if let (Some(latency), Some(read)) = (stages("disks", "latency"), stages("disks", "read")) {
        let latency = latency.map(|ps| format!("{:.3}", ps / 1e9));
        let latency = all_or_each(latency.map(|ms| trimmed(&ms)));
        let read = all_or_each(read.map(|ps| match ps > 0.0 {
            true => rate(UNIT, ps),
            false => "no time".to_owned(),
        }));
        storage.push(format!("disks at {read} after {latency} ms"));
    }
    if storage.is_empty() {
        storage.push("storage takes no time".to_owned());
    }
    let storage = storage.join(", ");
    let memory = match facts["caches"].is_null() {
        true => String::new(),
        false => memory_words(&facts["caches"]),
    };
    format!("{speeds} M instructions/s, {console}, {storage}{memory}")
}

/// Caches and memory in a few words, by what the probe said of them.
fn memory_words(said: &Value) -> String {
    let text = |key: &str| said[key].as_str().unwrap_or_default();
    let ns = |key: &str| text(key).parse::<f64>().unwrap_or(0.0) / 1e3;
    let caches = [("l1i", "L1I"), ("l1d", "L1D"), ("l2", "L2")]
        .iter()
        .filter_map(|(key, name)| {
            let bytes: u64 = text(key).split(':').next()?.parse().ok()?;
            (bytes > 0).then(|| format!("{name} {} KiB", bytes >> 10))
        });
    let mut parts: Vec<String> = caches.collect();
    parts.push(format!("memory {:.0} ns", ns("memory_ps")));
    if text("off").starts_with('1') {
        parts.push("data uncached in the boot loader".to_owned());
    }
    format!(", {}", parts.join(", "))
}

/// Bytes that took so many ps, as people write it.
fn rate(bytes: f64, ps: f64) -> String {
    format!("{:.1} MB/s", bytes / ps.max(1.0) * PS_PER_S / 1e6)
}

/// A number without the zeros behind its point.
fn trimmed(number: &str) -> String {
    number
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// One text for all stages, or that of each.
fn all_or_each(stages: [String; 3]) -> String {
    match stages.iter().all(|s| *s == stages[0]) {
        true => stages[0].clone(),
        false => stages.join(", "),
    }
}

/// QEMU takes no more.
const MOST_SHIFT: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_probe_said_last_counts() {
        let said = "clock bootloader=12500 kernel=2000 userspace=2000\nuart baud=9600\n\
                    uart baud=115246 bits=10\nflash lines=9 bytes=64 ps=3200000\n";
        let said = words(&facts(said));
        assert_eq!(
            said,
            "80, 500, 500 M instructions/s, console at 9600, then 115246 baud, flash at \
             20.0 MB/s"
        );
        let disks = words(&facts(
            "clock bootloader=2000 kernel=2000 userspace=2000\nuart baud=9600\n\
             disks n=1 latency=0:1500000000:1500000000 read=204800000:204800000:204800000 \
             write=0:0:0 flush=0",
        ));
        assert!(
            disks.ends_with("9600 baud, disks at 20.0 MB/s after 0, 1.5, 1.5 ms"),
            "{disks}"
        );
        let none = words(&facts(
            "clock bootloader=2000 kernel=2000 userspace=2000\nuart none",
        ));
        assert!(
            none.ends_with("its console takes no time, storage takes no time"),
            "{none}"
        );
        assert_eq!(words(&Value::Null), "");
    }

    #[test]
    fn qemu_counts_at_the_next_lower_power_of_two() {
        let shift = |ps| {
            let ps_per_insn = [ps, 2 * ps, 3 * ps];
            Model {
                ps_per_insn,
                baud: 9600,
                flash_ps: None,
                disk: None,
                caches: None,
            }
            .shift()
        };
        let cases = [
            (100, 0),
            (1_000, 0),
            (2_000, 1),
            (12_500, 3),
            (999_999_999, 10),
        ];
        for (ps, wanted) in cases {
            assert_eq!(shift(ps), wanted, "{ps} ps");
        }
    }
}

//! A board's time, as the probe lives it: how fast instructions are, and what its
//! serial line takes.

use bootlap_product::BoardModel;
use serde_json::{Map, Value};

const PS_PER_S: f64 = 1e12;

/// What the probe's model is told of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What an instruction takes in the boot loader, in the kernel and in user space, ps.
    pub ps_per_insn: [i64; 3],
    /// Bits per second of the console, where the guest programs no other.
    pub baud: u32,
    /// What the boot loader reads from memory-mapped flash takes, ps for a line of
    /// 64 bytes; `None` if that takes no time.
    pub flash_ps: Option<i64>,
}

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
            ps_per_insn: ["bootloader", "kernel", "userspace"].map(ps),
            baud: board.baud,
            flash_ps: board
                .storage_bandwidth
                .of("bootloader")
                .map(|bytes_per_s| (LINE / bytes_per_s * PS_PER_S).round() as i64),
        }
    }

    /// QEMU's own rate below the model's: it counts 2^shift ns for an instruction, and
    /// plans by that how many may run until the next timer.
    pub(super) fn shift(&self) -> u32 {
        let least_ns = self.ps_per_insn.into_iter().min().unwrap_or(0) / 1000;
        let shift = u64::try_from(least_ns).unwrap_or(0).checked_ilog2();
        shift.unwrap_or(0).min(MOST_SHIFT)
    }

    /// The probe's options, for a machine that has memory-mapped flash there, and whose
    /// UART divides a clock of so many Hz.
    pub(super) fn options(&self, flash: Option<[u64; 2]>, uart_hz: Option<u64>) -> String {
        let [bootloader, kernel, userspace] = self.ps_per_insn;
        let baud = self.baud;
        let mut options = format!("speed={bootloader}:{kernel}:{userspace},baud={baud}");
        if let Some(hz) = uart_hz {
            options += &format!(",uartclk={hz}");
        }
        if let (Some([first, last]), Some(ps)) = (flash, self.flash_ps) {
            options += &format!(",nor={first:x}:{last:x}:{ps}");
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
    let clock = ["bootloader", "kernel", "userspace"].map(|stage| number("clock", stage));
    let [Some(loader), Some(kernel), Some(programs)] = clock else {
        return String::new();
    };
    let speed = |ps: f64| format!("{:.0}", PS_PER_S / ps.max(1.0) / 1e6);
    let speeds = match loader == kernel && kernel == programs {
        true => speed(loader),
        false => [loader, kernel, programs].map(speed).join(", "),
    };
    let rates = facts["uart"]["rates"].as_array();
    let rates: Option<Vec<&str>> = rates.map(|all| all.iter().filter_map(Value::as_str).collect());
    let console = match rates {
        Some(rates) => format!("console at {} baud", rates.join(", then ")),
        None => "its console takes no time".to_owned(),
    };
    let flash = match (number("flash", "bytes"), number("flash", "ps")) {
        (Some(bytes), Some(ps)) => {
            let rate = bytes / ps.max(1.0) * PS_PER_S / 1e6;
            format!("flash at {rate:.1} MB/s")
        }
        _ => "storage takes no time".to_owned(),
    };
    format!("modelled: {speeds} M instructions/s, {console}, {flash}")
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
            "modelled: 80, 500, 500 M instructions/s, console at 9600, then 115246 baud, flash at \
             20.0 MB/s"
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

//! How fast each CPU runs, from `power:cpu_frequency`: the new frequency, in kHz, where it changes.
//!
//! ```text
//! cpu_frequency: state=1800000 cpu_id=0
//! ```

use std::collections::BTreeMap;

use bootlap_model::{ClockId, Evidence};

use super::event::Moment;
use crate::text::Import;

const MOST_CPUS: usize = 8_192;
/// What no CPU reaches is no frequency: the kernel has -1 for none.
const HIGHEST_KHZ: u32 = 20_000_000;

/// The frequencies of one recording, by CPU.
#[derive(Default)]
pub(super) struct Frequencies {
    cpus: BTreeMap<u32, Cpu>,
}

struct Cpu {
    clock: ClockId,
    first: Evidence,
    /// ns and MHz.
    samples: Vec<(i64, f64)>,
}

impl Frequencies {
    /// `cpu` has this frequency from now on.
    pub(super) fn add(&mut self, cpu: u32, khz: u32, now: &Moment) {
        let known = self.cpus.len() < MOST_CPUS || self.cpus.contains_key(&cpu);
        if !known || khz > HIGHEST_KHZ {
            return;
        }
        let cpu = self.cpus.entry(cpu).or_insert_with(|| Cpu {
            clock: now.clock,
            first: now.evidence,
            samples: Vec::new(),
        });
        cpu.samples.push((now.at.ns, f64::from(khz) / 1_000.0));
    }

    /// There are no more.
    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        for (number, cpu) in std::mem::take(&mut self.cpus) {
            let name = format!("cpu {number} frequency");
            import.counter(cpu.clock, (&name, "MHz"), cpu.samples, cpu.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::Timeline;

    use crate::tried;

    /// The names of the counters, and their samples: ns and MHz.
    fn counters(text: &str) -> Vec<(String, Vec<(i64, f64)>)> {
        let timeline: Timeline = tried::read(crate::named("ftrace").unwrap(), text.as_bytes());
        let all = timeline.counters.iter();
        let all = all.map(|c| (timeline.text(c.name).to_owned(), c.samples.clone()));
        all.collect()
    }

    #[test]
    fn each_cpu_has_a_counter_of_its_frequencies() {
        let text = "# tracer: nop\n\
            kworker/0:1-20    [000] .....     1.500000: cpu_frequency: state=1800000 cpu_id=4\n\
            kworker/0:1-20    [000] .....     1.600000: cpu_frequency: state=600000 cpu_id=0\n\
            kworker/0:1-20    [000] .....     1.700000: cpu_frequency: state=4294967295 cpu_id=0\n\
            kworker/0:1-20    [000] .....     2.000000: cpu_frequency: state=300000 cpu_id=4\n";
        let of = |number: u32, samples: &[(i64, f64)]| {
            (format!("cpu {number} frequency"), samples.to_vec())
        };
        assert_eq!(
            counters(text),
            [
                of(0, &[(1_600_000_000, 600.0)]),
                of(4, &[(1_500_000_000, 1800.0), (2_000_000_000, 300.0)]),
            ]
        );
    }
}

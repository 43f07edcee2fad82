//! What `grab-boot-data.sh` collects for the boot-time special interest
//! group: a description of the machine, and its kernel log.
//!
//! ```text
//! === Machine Info ==============================
//! == UPTIME ==
//!  10:15:03 up 2 min,  1 user,  load average: 0.52, 0.31, 0.12
//!
//! == GRAB-BOOT-DATA INFO ==
//! GBD_ARGS="-x -l mylab -m beagleplay"
//! GBD_VERSION="1.5"
//!
//! == KERNEL MESSAGES ==
//! [    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd034]
//! ```
//!
//! Sections between lines of `== NAME ==`. Times are in two of them: SYSTEMD
//! INFO (`systemd-analyze`, a rule, `systemd-analyze blame`) and KERNEL
//! MESSAGES (`dmesg`); each is read as such a file of its own would be
//! ([`reader_of`]). The others describe the machine ([`Machine`]).
//!
//! | version | quirk |
//! | --- | --- |
//! | 1.0 | `ARGS=` in place of `GBD_ARGS=`, no lab and machine |
//! | 1.3 | `ps` without `-A` |
//! | 1.4 | SYSTEMD INFO, after the kernel's messages; since 1.5 before them |
//! | older and newer | MODULES, INTERRUPTS; an END |

use bootlap_model::{ClockKind, Evidence, Severity, Timeline};

use crate::dmesg::DmesgReader;
use crate::sections::Sections;
use crate::systemd::SystemdReader;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "boot-data",
    title: "what grab-boot-data.sh collected",
    looks_like: "`=== Machine Info`, then sections of `== NAME ==`",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    let told =
        |l: &[u8]| l.starts_with(b"=== Machine Info ===") || l == b"== GRAB-BOOT-DATA INFO ==";
    match text::count_lines(head, 2000, told) {
        (0, _) => Sniff::NO,
        _ => Sniff::percent(98),
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut report = BootData {
        hints: input.hints,
        name: String::new(),
        sections: Sections::default(),
        machine: Machine::default(),
        clocks_before: out.clocks.len(),
    };
    text::read(input, &SOURCE, out, &mut report)
}

/// Who reads a section that has times in it.
fn reader_of<'h>(section: &str, hints: &'h Hints) -> Option<Box<dyn Reader + 'h>> {
    match section {
        "KERNEL MESSAGES" => Some(Box::new(DmesgReader::new(hints))),
        "SYSTEMD INFO" => Some(Box::new(SystemdReader::default())),
        _ => None,
    }
}

/// The name of a section that begins.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix("== ")?.trim_end().strip_suffix(" ==")?;
    (!name.is_empty() && !name.contains('=')).then_some(name)
}

struct BootData<'h> {
    hints: &'h Hints,
    /// The section that is being read.
    name: String,
    sections: Sections<'h>,
    machine: Machine,
    clocks_before: usize,
}

impl Reader for BootData<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(name) = section(line.str()) {
            self.sections.begin(reader_of(name, self.hints), import);
            name.clone_into(&mut self.name);
            return Ok(());
        }
        let read = self.sections.line(line, import);
        read.unwrap_or_else(|| self.machine.line(&self.name, line, import))
    }

    fn blank(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        self.sections.blank(line, import);
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.sections.begin(None, import);
        self.machine.write(self.clocks_before, import);
    }
}

/// Sections that describe the machine: all their lines are understood, and
/// few are needed.
const OF_MACHINE: [&str; 15] = [
    "",
    "UPTIME",
    "GRAB-BOOT-DATA INFO",
    "Kernel Info",
    "OS",
    "MEMORY",
    "DISK USAGE",
    "MOUNTS",
    "PROCESSES",
    "INTERRUPTS",
    "MODULES",
    "CORES",
    "CONFIG",
    "END",
    "NOTES",
];

/// What is known of the machine.
#[derive(Default)]
struct Machine {
    memory_kb: Option<(u64, Evidence)>,
    cpus: u32,
    bogomips: f64,
    cores_at: Option<Evidence>,
}

impl Machine {
    fn line(
        &mut self,
        section: &str,
        line: &Line<'_>,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let text = line.str();
        match section {
            "Kernel Info" => command_line(text, line.at, import),
            "CONFIG" => config(text, line.at, import),
            "MEMORY" => self.memory(text, line.at),
            "CORES" => self.core(text, line.at),
            "SYSTEMD INFO" if text.starts_with("NOTE: systemd-analyze is not present") => {}
            known if OF_MACHINE.contains(&known) => {}
            _ => {
                return Err(Skip {
                    code: "section-without-reader",
                    severity: Severity::Notice,
                    remedy: "nothing reads these sections: put one into a file of its own if it has times",
                });
            }
        }
        Ok(())
    }

    /// `Mem:       32504388     2978444 …` in kB.
    fn memory(&mut self, text: &str, at: Evidence) {
        let mut words = text.split_whitespace();
        if words.next() == Some("Mem:")
            && let Some(kb) = words.next().and_then(|w| w.parse().ok())
        {
            self.memory_kb.get_or_insert((kb, at));
        }
    }

    /// `/proc/cpuinfo`: `processor : 0`, `BogoMIPS : 200.00`.
    fn core(&mut self, text: &str, at: Evidence) {
        let Some((key, value)) = text.split_once(':') else {
            return;
        };
        match key.trim() {
            "processor" => {
                self.cpus = self.cpus.saturating_add(1);
                self.cores_at.get_or_insert(at);
            }
            "BogoMIPS" | "bogomips" => {
                let value: f64 = value.trim().parse().unwrap_or(0.0);
                self.bogomips += if value.is_finite() { value } else { 0.0 };
            }
            _ => {}
        }
    }

    /// What is true of all of the boot goes onto the clock of its kernel log.
    fn write(&self, clocks_before: usize, import: &mut Import<'_>) {
        let mut clocks = import.timeline.clock_ids().skip(clocks_before);
        let is_log = |c: &_| import.timeline.clock(*c).kind == ClockKind::KernelPrintk;
        let Some(clock) = clocks.find(is_log) else {
            return;
        };
        if let Some((kb, at)) = self.memory_kb {
            import.counter(clock, ("memory in all", "kB"), vec![(0, kb as f64)], at);
        }
        let Some(at) = self.cores_at else { return };
        let cpus = vec![(0, f64::from(self.cpus))];
        import.counter(clock, ("CPUs", "CPUs"), cpus, at);
        if self.bogomips > 0.0 {
            let samples = vec![(0, self.bogomips)];
            import.counter(clock, ("speed of all CPUs", "BogoMIPS"), samples, at);
        }
    }
}

/// Says what the command line left out.
fn command_line(text: &str, at: Evidence, import: &mut Import<'_>) {
    if let Some(line) = text.strip_prefix("KERNEL_CMDLINE=")
        && !line.contains("initcall_debug")
    {
        import.notice(
            "no-initcall-debug",
            Severity::Notice,
            at,
            "the kernel was not told to time its initcalls: boot with `quiet initcall_debug log_buf_len=10M`, and grab again",
        );
    }
}

/// Says what the kernel was built without.
fn config(text: &str, at: Evidence, import: &mut Import<'_>) {
    match text.trim() {
        "# CONFIG_PRINTK_TIME is not set" => import.notice(
            "no-times-in-log",
            Severity::Notice,
            at,
            "the kernel's log has no times by default: boot with `printk.time=1`, or set CONFIG_PRINTK_TIME",
        ),
        "# CONFIG_KALLSYMS is not set" => import.notice(
            "no-names-of-functions",
            Severity::Notice,
            at,
            "initcalls are numbers in this kernel's log: set CONFIG_KALLSYMS to see their names",
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections() {
        assert_eq!(section("== KERNEL MESSAGES =="), Some("KERNEL MESSAGES"));
        assert_eq!(section("== OS == "), Some("OS"));
        for bad in ["=== Machine Info ======", "== X", "==  ==", "x == y =="] {
            assert_eq!(section(bad), None, "{bad}");
        }
    }
}

//! What is told of a process beyond its times: how it ended, what it waited for,
//! and what the collector used itself; and what machine it was. Other sources call
//! the same facts the same (`cpu_us`, `io_wait_us`, `exit`).
//!
//! A zero is left out: a kernel that does not count the delays
//! (`CONFIG_TASK_DELAY_ACCT` and `delayacct`) or the bytes
//! (`CONFIG_TASK_IO_ACCOUNTING`) says zero too.

use bootlap_wire::archive::{Account, Cost};

/// A fact of a span.
pub(super) type Fact = (&'static str, String);

/// The machine, as far as the collector says.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) cpus: u32,
    release: String,
    hardware: String,
    command_line: String,
}

impl Machine {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let to = match name {
            "release" => &mut self.release,
            "machine" => &mut self.hardware,
            "cmdline" => &mut self.command_line,
            // How the collector got at what it tells.
            _ => return,
        };
        value.trim().clone_into(to);
    }

    /// As a bootchart's header calls them. What it calls the release is that of the
    /// distribution.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let kernel = match &*self.release {
            "" => String::new(),
            release => format!("Linux {release} {}", self.hardware),
        };
        let cpus = match self.cpus {
            0 => String::new(),
            cpus => cpus.to_string(),
        };
        let facts = [
            ("kernel", kernel.trim_end().to_owned()),
            ("cpus", cpus),
            ("kernel_options", self.command_line.clone()),
        ];
        facts.into_iter().filter(|(_, v)| !v.is_empty()).collect()
    }
}

/// What the kernel accounts a thread for, without its CPU time.
pub(super) fn of_account(account: &Account<'_>) -> Vec<Fact> {
    let numbers = [
        ("cpu_wait_us", account.cpu_wait_ns / 1_000),
        ("io_wait_us", account.io_wait_ns / 1_000),
        ("read_bytes", account.read_bytes),
        ("written_bytes", account.written_bytes),
    ];
    let counted = numbers.into_iter().filter(|(_, number)| *number > 0);
    let facts = counted.map(|(key, number)| (key, number.to_string()));
    facts.chain(of_status(account.status)).collect()
}

/// How a process ended, if that is known and not as it should.
pub(super) fn of_status(status: Option<u32>) -> Option<Fact> {
    let status = status.filter(|status| *status != 0)?;
    // The bit above the signal says that memory was written to a file.
    let text = match status & 0x7f {
        0 => format!("exited with {}", (status >> 8) & 0xff),
        signal => format!("killed by signal {signal}"),
    };
    Some(("exit", text))
}

/// What the collector used, without its CPU time.
pub(super) fn of_cost(cost: &Cost) -> Vec<Fact> {
    vec![
        ("wake_ups", cost.wake_ups.to_string()),
        ("buffer_bytes", cost.buffer.to_string()),
        ("buffer_used_bytes", cost.filled.to_string()),
    ]
}

/// The CPU time of the collector, ns.
pub(super) fn cpu_ns(cost: &Cost) -> i64 {
    let us = i64::try_from(cost.user_us.saturating_add(cost.system_us));
    us.unwrap_or(i64::MAX).saturating_mul(1_000)
}

/// The same for people.
pub(super) fn cost_text(cost: &Cost) -> String {
    let us = cpu_ns(cost) / 1_000;
    format!(
        "collecting took {}.{:03} ms of CPU time in {} wake-ups, and {} of the buffer's {} KiB: this is part of the boot, and nothing was subtracted for it",
        us / 1_000,
        us % 1_000,
        cost.wake_ups,
        cost.filled.div_ceil(1024),
        cost.buffer / 1024,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_zero_is_left_out() {
        let mut account = Account {
            ns: 1,
            pid: 7,
            cpu_us: 0,
            cpu_wait_ns: 0,
            io_wait_ns: 0,
            read_bytes: 0,
            written_bytes: 0,
            status: Some(0),
            name: "sh".into(),
        };
        assert_eq!(of_account(&account), []);
        account.cpu_wait_ns = 1_500_999;
        account.io_wait_ns = 2_000_000;
        account.read_bytes = 4096;
        account.written_bytes = 512;
        account.status = Some(1 << 8);
        let facts = of_account(&account);
        let facts: Vec<_> = facts.iter().map(|(key, value)| (*key, &**value)).collect();
        let expected = [
            ("cpu_wait_us", "1500"),
            ("io_wait_us", "2000"),
            ("read_bytes", "4096"),
            ("written_bytes", "512"),
            ("exit", "exited with 1"),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn an_end_is_told_unless_all_was_well() {
        let text = |status| of_status(status).map(|(_, text)| text);
        assert_eq!(text(None), None);
        assert_eq!(text(Some(0)), None);
        assert_eq!(text(Some(256)).unwrap(), "exited with 1");
        assert_eq!(text(Some(127 << 8)).unwrap(), "exited with 127");
        assert_eq!(text(Some(9)).unwrap(), "killed by signal 9");
        assert_eq!(text(Some(0x80 | 11)).unwrap(), "killed by signal 11");
    }
}

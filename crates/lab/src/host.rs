//! The computer that the lab runs on, for the manifest.

use serde::{Deserialize, Serialize};

/// Facts that may explain why two labs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Kernel release and architecture.
    pub kernel: String,
    /// Processor model as the kernel names it.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
}

/// What this computer is called.
pub fn node() -> String {
    let uname = rustix::system::uname();
    uname.nodename().to_string_lossy().into_owned()
}

impl Host {
    /// Looks around.
    pub fn here() -> Self {
        let uname = rustix::system::uname();
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo
            .lines()
            .find_map(|l| l.strip_prefix("model name")?.split_once(": "))
            .map_or("unknown", |(_, model)| model);
        Self {
            kernel: format!(
                "{} {}",
                uname.release().to_string_lossy(),
                uname.machine().to_string_lossy()
            ),
            cpu: model.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

//! What user space says of how long the machine is up, on consoles without times.
//!
//! ```text
//! Cloud-init v. 0.7.5 running 'init' at Tue, 03 Jun 2025 16:02:21 +0000. Up 20.61 seconds.
//! Cloud-init v. 0.7.5 finished at Tue, 03 Jun 2025 16:02:39 +0000. Datasource DataSourceNone.  Up 38.03 seconds
//! cloud-init-nonet[18.42]: waiting 10 seconds for network device
//! ```
//!
//! It is from `/proc/uptime`, which counts from the same moment as the kernel's log, nearly: a
//! log that the journal has taken from the console has no other time until the boot's end.

use memchr::memmem;

use crate::text::seconds_ns;

/// How far the log's clock and the uptime may lie apart, and that is cut to 10 ms: as seen in
/// logs that have both, they start within this, ns.
pub(super) const ERR_NS: u32 = 100_000_000;

/// Longer than any machine is up, ns.
const LONGEST_NS: i64 = 1_000_000_000_000_000_000;

/// The uptime that a line says, ns.
pub(super) fn uptime(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    if text.starts_with(b"Cloud-init v. ") {
        let at = memmem::rfind(text, b" Up ")? + b" Up ".len();
        let rest = text.strip_suffix(b".").unwrap_or(text);
        return plausible(rest.get(at..)?.strip_suffix(b" seconds")?);
    }
    let rest = text.strip_prefix(b"cloud-init-nonet[")?;
    plausible(&rest[..memmem::find(rest, b"]: ")?])
}

fn plausible(seconds: &[u8]) -> Option<i64> {
    seconds_ns(seconds).filter(|ns| (0..LONGEST_NS).contains(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uptime_is_read_where_cloud_init_says_it() {
        let said = |text: &str| uptime(text.as_bytes());
        let running = "Cloud-init v. 21.4-0ubuntu1 running 'init-local' at Tue, 03 Jun 2025 16:02:18 +0000. Up 17.37 seconds.";
        assert_eq!(said(running), Some(17_370_000_000));
        let finished = "Cloud-init v. 0.7.5 finished at Tue, 03 Jun 2025 16:02:39 +0000. Datasource DataSourceAzureNet [seed=/dev/sr0].  Up 38.03 seconds\r\n";
        assert_eq!(said(finished), Some(38_030_000_000));
        assert_eq!(
            said("cloud-init-nonet[20.4]: static networking is now up"),
            Some(20_400_000_000)
        );
        for other in [
            "Cloud-init v. 0.7.5 running 'init'",
            "Cloud-init v. 0.7.5: Up -3.00 seconds.",
            "Cloud-init v. 0.7.5: Up 99999999999.00 seconds.",
            "cloud-init-nonet[]: x",
            "Up 3.00 seconds.",
        ] {
            assert_eq!(said(other), None, "{other}");
        }
    }
}

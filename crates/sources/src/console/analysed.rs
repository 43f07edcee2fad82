//! What `systemd-analyze` printed in a shell on the console: it tells of the boot above it, and is
//! read as a file of its own.
//!
//! ```text
//! root@board:~# systemd-analyze blame
//! 5.000s systemd-networkd-wait-online.service
//!  250ms ssh.service
//! ```

use bootlap_model::Timeline;

use crate::{Hints, Input, systemd, text};

/// More than all units of a machine, bytes.
const MOST: usize = 1 << 20;

/// Its lines so far.
#[derive(Default)]
pub(crate) struct Analysed {
    rows: Vec<u8>,
}

impl Analysed {
    /// Takes the line if only `systemd-analyze` prints it; says whether it did.
    pub(crate) fn line(&mut self, line: &[u8]) -> bool {
        let taken = systemd::is_row(text::valid(line)) && line.len() < MOST - self.rows.len();
        if taken {
            self.rows.extend(line);
            self.rows.push(b'\n');
        }
        taken
    }

    /// Reads them, beside the console called `label`.
    pub(crate) fn finish(self, label: &str, timeline: &mut Timeline) {
        if self.rows.is_empty() {
            return;
        }
        let input = Input {
            label: &format!("{label}: systemd-analyze"),
            bytes: &mut &*self.rows,
            hints: &Hints::default(),
        };
        // Of bytes in memory every line can be read.
        let _ = systemd::SOURCE.read(input, timeline);
    }
}

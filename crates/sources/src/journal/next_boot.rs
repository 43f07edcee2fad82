//! Where another boot begins in a log whose messages do not say of which boot they are,
//! such as `/var/log/syslog`.

use super::row::Row;
use crate::console::kernel::is_first_line;

/// What was seen of the boot that is being read.
#[derive(Default)]
pub(super) struct NextBoot {
    /// The manager's last `Startup finished in …`.
    finished: Option<Box<[u8]>>,
    /// Anything but that the kernel starts.
    more: bool,
}

impl NextBoot {
    /// Takes a message; whether another boot begins with it. A log that is cut down to the
    /// manager's own lines has nothing but `Startup finished` for each boot.
    pub(super) fn begins_with(&mut self, row: &Row) -> bool {
        let first = row.kernel && is_first_line(&row.message);
        let finished = is_finished(row);
        let known = self.finished.as_ref();
        let again = finished && known.is_some_and(|before| **before != *row.message);
        // The kernel's own two first lines are of one boot.
        let begins = again || first && self.more;
        if begins {
            *self = Self::default();
        }
        self.more |= !first;
        if finished {
            self.finished = Some(row.message.clone());
        }
        begins
    }
}

/// Whether a boot that has this message is there from its beginning.
pub(super) fn is_its_beginning(row: &Row) -> bool {
    (row.kernel && is_first_line(&row.message)) || is_finished(row)
}

/// `Startup finished in 2.000s (kernel) + …`, by the system's manager: a user's says no
/// kernel.
fn is_finished(row: &Row) -> bool {
    row.message.starts_with(b"Startup finished in ")
        && memchr::memmem::find(&row.message, b"(kernel)").is_some()
}

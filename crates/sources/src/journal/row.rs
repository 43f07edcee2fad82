//! One message of the journal, whatever it was printed as.

use bootlap_model::Evidence;

use crate::text::valid;

/// A message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Where it was read, and in how many lines.
    pub(crate) at: Option<Evidence>,
    pub(crate) lines: u32,
    /// The kernel's own stamp (`_SOURCE_MONOTONIC_TIMESTAMP`): printk's clock.
    pub(crate) logged_ns: Option<i64>,
    /// When journald had it, on the monotonic clock.
    pub(crate) mono_ns: Option<i64>,
    /// The same on the wall clock.
    pub(crate) real_ns: Option<i64>,
    /// The wall clock is told without a year: see [`super::date`].
    pub(crate) yearless: bool,
    /// When its sender sent it, on the wall clock.
    pub(crate) sent_ns: Option<i64>,
    /// What the last digit of the times is worth.
    pub(crate) err_ns: u32,
    /// It came through the kernel's log.
    pub(crate) kernel: bool,
    pub(crate) ident: Box<str>,
    pub(crate) pid: Box<str>,
    pub(crate) unit: Box<str>,
    pub(crate) message_id: Box<str>,
    pub(crate) job_result: Box<str>,
    pub(crate) message: Box<[u8]>,
}

/// A message longer than this is cut: some hold whole core dumps.
const MAX_MESSAGE: usize = 16 * 1024;

impl Row {
    /// Takes a field. `boot` gets the boot's id.
    pub(crate) fn field(&mut self, key: &[u8], value: &[u8], boot: &mut Box<str>) {
        let us = || {
            let us: i64 = valid(value).parse().ok()?;
            us.checked_mul(1_000).filter(|ns| *ns >= 0)
        };
        let text = || Box::from(valid(&value[..value.len().min(1024)]));
        match key {
            b"_SOURCE_MONOTONIC_TIMESTAMP" => self.logged_ns = us(),
            b"__MONOTONIC_TIMESTAMP" => self.mono_ns = us(),
            b"__REALTIME_TIMESTAMP" => self.real_ns = us(),
            b"_SOURCE_REALTIME_TIMESTAMP" => self.sent_ns = us(),
            b"_TRANSPORT" => self.kernel = value == b"kernel",
            b"SYSLOG_IDENTIFIER" => self.ident = text(),
            b"_COMM" if self.ident.is_empty() => self.ident = text(),
            b"_PID" => self.pid = text(),
            b"SYSLOG_PID" if self.pid.is_empty() => self.pid = text(),
            b"UNIT" => self.unit = text(),
            b"MESSAGE_ID" => self.message_id = text(),
            b"JOB_RESULT" => self.job_result = text(),
            b"MESSAGE" => self.message = value[..value.len().min(MAX_MESSAGE)].into(),
            b"_BOOT_ID" => *boot = text(),
            _ => {}
        }
    }

    /// Adds a further line of its text.
    pub(crate) fn more(&mut self, text: &[u8]) {
        self.lines = self.lines.saturating_add(1);
        if self.message.len() + text.len() < MAX_MESSAGE {
            let message = std::mem::take(&mut self.message);
            self.message = [&message[..], b" ", text].concat().into();
        }
    }

    /// Whether the kernel itself said it.
    pub(crate) fn is_kernels(&self) -> bool {
        &*self.ident == "kernel" && self.pid.is_empty()
    }

    /// Whether the system's service manager said it.
    pub(crate) fn is_managers(&self) -> bool {
        let name = matches!(&*self.ident, "systemd" | "init" | "init.scope");
        name && &*self.pid == "1"
    }

    /// What the kernel's log shows for it.
    pub(crate) fn body(&self) -> Vec<u8> {
        if self.is_kernels() || self.ident.is_empty() {
            return self.message.to_vec();
        }
        self.named()
    }

    /// `ident[pid]: message`.
    pub(crate) fn named(&self) -> Vec<u8> {
        let mut text = Vec::new();
        if !self.ident.is_empty() {
            text.extend_from_slice(self.ident.as_bytes());
            if !self.pid.is_empty() {
                text.extend_from_slice(format!("[{}]", self.pid).as_bytes());
            }
            text.extend_from_slice(b": ");
        }
        text.extend_from_slice(&self.message);
        text
    }
}

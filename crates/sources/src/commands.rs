//! What several commands printed, one after the other, in one file: a terminal's text, or a paste in
//! a bug report.
//!
//! ```text
//! user@host:~$ sudo dmesg
//! [    0.000000] Linux version 6.12.107+deb13-cloud-amd64 (debian-kernel@lists.debian.org) …
//! user@host:~$ systemd-analyze
//! Startup finished in 9.547s (kernel) + 33.272s (userspace) = 42.820s
//! ```
//!
//! Three commands tell of a boot's times: `dmesg`, `journalctl`, and `systemd-analyze` (with
//! `systemctl show`). What each printed is read as a file of its own would be. A prompt with a command
//! begins a section, and so do a heading that names one, and lines that no other of the three prints:
//! people paste without prompts, too. What is printed by others (`uname -a`, `lsblk`) is left out.
//!
//! A console is read as one, with what a shell there printed (`console/analysed.rs`).

use bootlap_model::{Severity, Timeline};

use crate::console;
use crate::console::bootloader::BootLoader;
use crate::dmesg;
use crate::journal::JournalReader;
use crate::systemd::{self, SystemdReader};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "commands",
    title: "what several commands printed",
    looks_like: "what `dmesg`, `journalctl` and `systemd-analyze` printed, one after the other, with prompts or without",
    sniff,
    read,
    together: None,
};

/// Who printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Log,
    Journal,
    Systemd,
    /// A command whose output nobody reads, or nothing so far.
    Other,
}

fn sniff(head: &[u8]) -> Sniff {
    let mut now = Section::Other;
    let mut seen = [false; 3];
    for line in text::head_lines(head) {
        if BootLoader::is_banner(line.trim_ascii_start()) || console::is_user_spaces(line) {
            return Sniff::NO;
        }
        if let Some(named) = named(text::valid(line)) {
            now = named;
        } else if let Some(own) = own(line, now) {
            now = own;
            let read = [Section::Log, Section::Journal, Section::Systemd];
            for (seen, section) in seen.iter_mut().zip(read) {
                *seen |= own == section;
            }
        }
    }
    match seen.into_iter().filter(|seen| *seen).count() {
        0 | 1 => Sniff::NO,
        _ => Sniff::percent(97),
    }
}

/// Whether a kernel's log ends with this line, and what another command printed begins.
pub(crate) fn goes_on(line: &[u8]) -> bool {
    own(line.trim_ascii_end(), Section::Log) == Some(Section::Systemd)
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut commands = Commands {
        now: Section::Other,
        log: dmesg::reader(input.hints),
        journal: JournalReader::default(),
        systemd: SystemdReader::default(),
    };
    text::read(input, &SOURCE, out, &mut commands)
}

/// The section that a prompt with a command, or a heading, begins.
fn named(line: &str) -> Option<Section> {
    let line = line.trim();
    if line.strip_suffix(['$', '#', '%']).is_some_and(is_host) {
        return Some(Section::Other);
    }
    let prompt = ["$ ", "# ", "% "]
        .iter()
        .filter_map(|end| line.split_once(end))
        .min_by_key(|(before, _)| before.len())
        .filter(|(before, _)| before.is_empty() || is_host(before));
    let bare = line.trim_matches(|c: char| "*#`_=:- ".contains(c));
    let known = prompt.map_or(bare, |(_, command)| command);
    match (of_command(known), prompt) {
        (Some(section), _) => Some(section),
        (None, Some((before, _))) if !before.is_empty() || line.starts_with('$') => {
            Some(Section::Other)
        }
        (None, _) => None,
    }
}

/// `user@host:~`, `[root@host ~]`: what stands before a prompt's end.
fn is_host(before: &str) -> bool {
    let (user, host) = before.split_once('@').unwrap_or_default();
    let user = user.trim_start_matches(['[', '(']);
    !user.is_empty() && !host.is_empty() && !user.contains(' ') && before.len() < 100
}

/// Who prints what this command line prints, if that tells of times.
fn of_command(line: &str) -> Option<Section> {
    let mut words = line
        .split_whitespace()
        .map(|word| word.trim_end_matches(':'));
    let first = words.find(|word| !["sudo", "doas"].contains(word))?;
    match first.rsplit('/').next()? {
        "dmesg" => Some(Section::Log),
        "journalctl" => Some(Section::Journal),
        "systemd-analyze" => Some(Section::Systemd),
        "systemctl" if words.next() == Some("show") => Some(Section::Systemd),
        _ => None,
    }
}

/// Whose line this is behind one of `now`, where no other of them prints it.
fn own(line: &[u8], now: Section) -> Option<Section> {
    if systemd::is_row(text::valid(line)) {
        return Some(Section::Systemd);
    }
    let of_journal = dmesg::is_of_journal(line);
    if !of_journal && !dmesg::is_line(line) {
        return None;
    }
    Some(match now {
        // Either log may hold lines of the other.
        Section::Log | Section::Journal => now,
        _ if of_journal => Section::Journal,
        _ => Section::Log,
    })
}

struct Commands<'h> {
    now: Section,
    log: Box<dyn Reader + 'h>,
    journal: JournalReader,
    systemd: SystemdReader,
}

const OTHER: Skip = Skip {
    code: "other-command",
    severity: Severity::Info,
    remedy: "these lines are of other commands than dmesg, journalctl and systemd-analyze",
};

impl Commands<'_> {
    fn reader(&mut self) -> Option<&mut dyn Reader> {
        match self.now {
            Section::Log => Some(&mut *self.log),
            Section::Journal => Some(&mut self.journal),
            Section::Systemd => Some(&mut self.systemd),
            Section::Other => None,
        }
    }
}

impl Reader for Commands<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let is_fence = line.text.trim_ascii().starts_with(b"```");
        let named = named(line.str());
        if let Some(section) = named.or_else(|| own(line.text, self.now)) {
            self.now = section;
        }
        if named.is_some() || is_fence {
            return Ok(());
        }
        self.reader()
            .map_or(Err(OTHER), |reader| reader.line(line, import))
    }

    fn blank(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        if let Some(reader) = self.reader() {
            reader.blank(line, import);
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.log.finish(import);
        self.journal.finish(import);
        self.systemd.finish(import);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_text() {
        for (line, section) in [
            ("user@host:~$ sudo dmesg -T", Section::Log),
            ("[root@host ~]# journalctl -b", Section::Journal),
            ("$ systemd-analyze critical-chain", Section::Systemd),
            ("## systemd-analyze blame", Section::Systemd),
            ("**dmesg:**", Section::Log),
            ("root@host:/# systemctl show '*'", Section::Systemd),
            ("root@host:/# systemctl status ssh", Section::Other),
            ("user@host:~$ uname -a", Section::Other),
            ("user@host:~$ ", Section::Other),
            ("$ lsblk", Section::Other),
        ] {
            assert_eq!(named(line), Some(section), "{line}");
        }
        for text in [
            "[    1.250012] systemd[1]: see user@host:~$ dmesg",
            "# a comment",
            "The dmesg buffer is full",
            "23.321s dev-vda.device",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}

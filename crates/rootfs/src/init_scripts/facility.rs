//! What `$remote_fs` and its like mean: which scripts.

use std::collections::{BTreeMap, BTreeSet};

/// What Debian's `insserv.conf` says, where it is not replaced. A `+` is for
/// scripts that need not be there.
const DEFAULT: &str = "\
$local_fs   +mountall +mountall-bootclean +mountoverflowtmp +umountfs
$network    +networking +ifupdown
$named      +named +dnsmasq +lwresd +bind9 +unbound +pdns-recursor $network
$remote_fs  $local_fs +mountnfs +mountnfs-bootclean +umountnfs +sendsigs
$syslog     +rsyslog +sysklogd +syslog-ng +dsyslog +inetutils-syslogd
$syslog     +syslog +syslogd +busybox-syslogd
$portmap    +rpcbind +portmap
$time       +hwclock
$all
$null
";

/// Longer files are no `insserv.conf`.
const MAX_BYTES: usize = 64 * 1024;

/// Facilities by name, with the names of scripts and other facilities that they
/// stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facilities {
    members: BTreeMap<String, Vec<String>>,
}

impl Default for Facilities {
    fn default() -> Self {
        let mut facilities = Self {
            members: BTreeMap::new(),
        };
        facilities.add(DEFAULT);
        facilities
    }
}

impl Facilities {
    /// Those of an `insserv.conf`; what it does not define keeps its meaning.
    pub fn of_conf(bytes: &[u8]) -> Self {
        let mut own = Self {
            members: BTreeMap::new(),
        };
        own.extend(bytes);
        let mut all = Self::default();
        all.members.extend(own.members);
        all
    }

    /// Adds what a file of `insserv.conf.d` says to what is known.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.add(&String::from_utf8_lossy(
            &bytes[..bytes.len().min(MAX_BYTES)],
        ));
    }

    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line
                .split('#')
                .next()
                .unwrap_or_default()
                .split_whitespace();
            let Some(name) = words.next().filter(|name| name.starts_with('$')) else {
                continue;
            };
            let members = self.members.entry(name.to_owned()).or_default();
            members.extend(words.map(|word| word.trim_start_matches('+').to_owned()));
        }
    }

    /// Whether there is one of this name.
    pub fn knows(&self, facility: &str) -> bool {
        self.members.contains_key(facility)
    }

    /// The names of all, with their `$`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The names of scripts that a facility stands for, those of facilities in it
    /// as well; the facility's own name among them, since scripts may provide it.
    pub fn scripts<'a>(&'a self, facility: &'a str) -> Vec<&'a str> {
        let mut found = vec![facility];
        let mut known = BTreeSet::from([facility]);
        let mut next = 0;
        while let Some(name) = found.get(next) {
            next += 1;
            let members = self.members.get(*name).into_iter().flatten();
            found.extend(members.map(String::as_str).filter(|m| known.insert(m)));
        }
        found
    }
}

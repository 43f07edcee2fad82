//! The table of an init: `/etc/inittab`, BusyBox's or System V's.

/// Where it is.
pub const INITTAB: &str = "/etc/inittab";

/// A terminal on which init lets people in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// As `ttyS0`.
    pub name: String,
    /// How.
    pub greeting: Greeting,
}

/// What is printed where somebody can come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// A name is asked for.
    Login,
    /// BusyBox's init asks for a key (`askfirst`) before it starts anything.
    Key,
    /// A shell runs at once.
    Shell,
}

/// The terminals of a table; BusyBox's init without one asks for a key on its console.
pub(crate) fn terminals(inittab: Option<&str>, is_busybox: bool) -> Vec<Terminal> {
    let own = is_busybox.then_some("::askfirst:/bin/sh");
    let table = inittab.or(own).unwrap_or_default().lines().map(str::trim);
    let lines = table.filter(|line| !line.starts_with('#'));
    lines.filter_map(terminal).collect()
}

fn terminal(line: &str) -> Option<Terminal> {
    // id:levels:action:process; with BusyBox the id is the terminal.
    let fields: Vec<&str> = line.splitn(4, ':').collect();
    let [id, _, action, process] = fields[..] else {
        return None;
    };
    let words = process.split_whitespace();
    let program = words.clone().next()?.trim_start_matches('-');
    let program = program.rsplit('/').next()?;
    let greeting = match action {
        "askfirst" => Greeting::Key,
        "respawn" | "once" | "wait" if process.contains("login") || process.contains("getty") => {
            Greeting::Login
        }
        "respawn" | "once" | "wait" if matches!(program, "sh" | "ash" | "bash" | "cttyhack") => {
            Greeting::Shell
        }
        _ => return None,
    };
    let mut devices = words.map(|word| word.trim_start_matches("/dev/"));
    let named = devices.find(|word| word.starts_with("tty") || *word == "console");
    let name = match (named, id) {
        (Some(named), _) => named,
        (None, "") => "console",
        (None, id) if id.starts_with("tty") || id == "console" => id,
        _ => return None,
    };
    Some(Terminal {
        name: name.to_owned(),
        greeting,
    })
}

/// Whether that is a table of BusyBox's: its lines have no run levels.
pub(crate) fn is_busyboxs(inittab: &str) -> bool {
    inittab.lines().any(|line| line.trim().starts_with("::"))
}

/// A table with a program that runs once all that is waited for has ended.
pub(crate) fn with_last(inittab: &str, program: &str) -> String {
    let line = match is_busyboxs(inittab) {
        true => format!("::once:{program}"),
        false => format!("last:2345:once:{program}"),
    };
    let text = inittab.trim_end_matches('\n');
    match text.lines().any(|l| l == line) {
        true => format!("{text}\n"),
        false => format!("{text}\n{line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_people_are_let_in_is_in_the_table() {
        let all = |table: Option<&str>, is_busybox| {
            let all = terminals(table, is_busybox).into_iter();
            all.map(|t| (t.name, t.greeting)).collect::<Vec<_>>()
        };
        let is = |name: &str, greeting| (name.to_owned(), greeting);
        // Buildroot's, Poky's, BusyBox's example and what Debian's installer has.
        let getty = "console::respawn:/sbin/getty -L  console 0 vt100 # GENERIC_SERIAL";
        assert_eq!(all(Some(getty), true), [is("console", Greeting::Login)]);
        let start = "S0:12345:respawn:/bin/start_getty 115200 ttyS0 vt102";
        assert_eq!(all(Some(start), false), [is("ttyS0", Greeting::Login)]);
        let example = "::sysinit:/etc/init.d/rcS\n::askfirst:-/bin/sh\ntty2::askfirst:-/bin/sh\n\
                       tty4::respawn:/sbin/getty 38400 tty5\n::ctrlaltdel:/sbin/reboot\n";
        let expected = [
            is("console", Greeting::Key),
            is("tty2", Greeting::Key),
            is("tty5", Greeting::Login),
        ];
        assert_eq!(all(Some(example), true), expected);
        let shell = "ttyS0::respawn:-/bin/sh\n# tty1::respawn:-/bin/sh\n";
        assert_eq!(all(Some(shell), true), [is("ttyS0", Greeting::Shell)]);
        let tail = "tty4::respawn:/usr/bin/tail -f /var/log/syslog";
        assert_eq!(all(Some(tail), true), []);
        assert_eq!(all(None, true), [is("console", Greeting::Key)]);
        assert_eq!(all(None, false), []);
    }
}

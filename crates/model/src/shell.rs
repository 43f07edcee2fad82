//! Names in commands that people copy to their shell.

use std::fmt::{Display, Write};

/// `name` as one word of a command for sh, bash or zsh: as it is where no shell
/// makes anything of it, else in quotes.
///
/// Control characters, which could drive the terminal, are written as `$'\x1b'`;
/// sh knows that since POSIX.1-2024.
pub fn shell_word(name: impl Display) -> String {
    let name = name.to_string();
    let plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_#".contains(c);
    // `#` begins a comment, `=` a command's path in zsh, `~` a home; only at the front.
    let starts_plainly = name.starts_with(|c: char| plain(c) && !"#=".contains(c));
    if starts_plainly && name.chars().all(plain) {
        return name;
    }
    if !name.contains(char::is_control) {
        return format!("'{}'", name.replace('\'', "'\\''"));
    }
    let mut word = String::from("$'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            // Three digits, so that no digit that follows is taken for one of them.
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(word, "\\{byte:03o}");
                }
            }
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_shell_takes_as_it_is_stays() {
        for name in [
            "runs/kiosk/a-1",
            "boot.log#2",
            "bootdelay=0",
            "größe",
            "../x",
        ] {
            assert_eq!(shell_word(name), name);
        }
    }

    /// A real shell gives back what was meant, and runs nothing.
    #[test]
    fn a_shell_reads_one_word() {
        let names = [
            "",
            "a b",
            "it's",
            "$(touch /tmp/x)",
            "`id`",
            "a;b|c&d>e<f",
            "~root",
            "=ls",
            "#x",
            "a\nb",
            "\x1b]0;title\x07",
            "'\\\x01'7",
            "c1 \u{85}9",
            "*?[a]{b,c}!",
        ];
        for name in names {
            let script = format!("printf %s {}", shell_word(name));
            let done = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&done.stdout), name, "{script}");
            assert!(done.stderr.is_empty(), "{script}");
            assert!(!script.contains(|c: char| c.is_control()), "{script:?}");
        }
    }
}

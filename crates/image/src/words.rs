//! The command line that a boot loader gives the kernel, changed in its configuration: the file
//! as it has to be then.

use crate::Found;
use crate::loader::{Entry, Loader, PI, script};
use crate::volume::Place;

impl Found {
    /// The file, and its new content, for the default entry's command line to be `cmdline`.
    ///
    /// # Errors
    /// If the line is not found, or is in no file of text.
    pub fn with_cmdline(&self, cmdline: &str) -> Result<(Place, String), String> {
        let (loader, entry) = self.default().ok_or("no boot loader's entry was found")?;
        let place = match (loader.name, &loader.config) {
            ("systemd-boot" | "UKI", _) if entry.at.is_none() => {
                return Err(format!(
                    "{} is one program with its command line in it, which may be signed; make it \
                     again with other words, or have the machine start the kernel: bootloader-none",
                    entry.kernel
                ));
            }
            (script::NAME, Some(config)) => {
                return Err(format!(
                    "/{} is a script that mkimage made, and sets the kernel's words: change \
                     `bootargs` in its source and make it again, or have the machine start the \
                     kernel: bootloader-none",
                    config.path
                ));
            }
            (PI, Some(config)) => Place {
                volume: config.volume,
                path: self.pi_words(config),
            },
            (_, config) => entry
                .at
                .clone()
                .or_else(|| config.clone())
                .ok_or_else(|| format!("the configuration of {} was not found", loader.name))?,
        };
        let files = self.files(place.volume);
        let text = files.and_then(|files| files.text(&place.path));
        let text = text.ok_or_else(|| format!("/{} cannot be read", place.path))?;
        let changed = match loader.name {
            "GRUB" if entry.at.is_none() || entry.line.is_some() => grub(&text, entry, cmdline),
            "GRUB" | "systemd-boot" => options(&text, cmdline),
            "U-Boot" | "SYSLINUX" => append(&text, entry, cmdline),
            PI => Some(format!("{cmdline}\n")),
            _ => None,
        };
        let changed = changed.ok_or_else(|| not_found(loader, &place))?;
        Ok((place, changed))
    }

    /// The file that `config.txt` names for it.
    fn pi_words(&self, config: &Place) -> String {
        let files = self.files(config.volume);
        let text = files.and_then(|files| files.text(&config.path));
        let text = text.unwrap_or_default();
        let named = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("cmdline="));
        named.unwrap_or("cmdline.txt").to_owned()
    }
}

fn not_found(loader: &Loader, place: &Place) -> String {
    format!(
        "the line of /{} with {}'s words for the kernel was not found",
        place.path, loader.name
    )
}

/// `grub.cfg`: behind the kernel of the line that starts it, if that has nothing else in it.
fn grub(text: &str, entry: &Entry, cmdline: &str) -> Option<String> {
    let file = entry.kernel.rsplit('/').next()?;
    let at = entry.line?.checked_sub(1)?;
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let line = lines.get(at)?;
    let plain = line.trim_start();
    let indent = &line[..line.len() - plain.len()];
    let mut words = plain.split_whitespace();
    let (command, kernel) = (words.next()?, words.next()?);
    let is_whole = matches!(command, "linux" | "linuxefi" | "linux16" | "kernel")
        && !plain.trim_end().ends_with(['\\', '}'])
        && !plain.contains(';');
    if !is_whole || !(kernel.ends_with(file) || kernel.contains('$')) {
        return None;
    }
    let words: Vec<String> = cmdline.split_whitespace().map(quoted).collect();
    lines[at] = format!("{indent}{command}\t{kernel} {}\n", words.join(" "));
    Some(lines.concat())
}

/// A word as GRUB's script takes it for what it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "=,./:-_+%@".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// An entry of the Boot Loader Specification: one line of options instead of all.
fn options(text: &str, cmdline: &str) -> Option<String> {
    let is_options = |line: &&str| line.split_whitespace().next() == Some("options");
    let others: String = text
        .split_inclusive('\n')
        .filter(|line| !is_options(line))
        .collect();
    let end = if others.ends_with('\n') { "" } else { "\n" };
    Some(format!("{others}{end}options {cmdline}\n"))
}

/// `extlinux.conf`: the line of the entry with this kernel, or one behind it.
fn append(text: &str, entry: &Entry, cmdline: &str) -> Option<String> {
    let words = |line: &str| {
        let (key, value) = line.trim().split_once(char::is_whitespace)?;
        Some((key.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_label = |line: &&str| words(line).is_some_and(|(key, _)| key == "label");
    let starts: Vec<usize> = (0..lines.len()).filter(|n| is_label(&lines[*n])).collect();
    let is_entry = |from: usize, to: usize| {
        lines[from..to].iter().any(|line| {
            words(line).is_some_and(|(key, value)| {
                let kernel = matches!(key.as_str(), "linux" | "kernel");
                kernel && entry.kernel.ends_with(value.trim_start_matches("./"))
            })
        })
    };
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let all: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    // Two entries may have one kernel: the one that says the same is meant.
    let says = |(from, to): &(usize, usize)| {
        lines[*from..*to].iter().any(|line| {
            words(line).is_some_and(|(key, value)| key == "append" && value == entry.cmdline)
        })
    };
    let fitting: Vec<(usize, usize)> = all.into_iter().filter(|(f, t)| is_entry(*f, *t)).collect();
    let (from, to) = *fitting.iter().find(|e| says(e)).or(fitting.first())?;
    let mut changed: Vec<String> = Vec::new();
    let mut done = false;
    for (n, line) in lines.iter().enumerate() {
        let key = words(line).map(|(key, _)| key).unwrap_or_default();
        let inside = (from..to).contains(&n);
        let indent = &line[..line.len() - line.trim_start().len()];
        if inside && key == "append" {
            // What it names of an initramfs stays.
            let (_, value) = words(line).unwrap_or_default();
            let initrd = value
                .split_whitespace()
                .filter(|w| w.starts_with("initrd="));
            let initrd: String = initrd.map(|word| format!(" {word}")).collect();
            changed.push(format!("{indent}append {cmdline}{initrd}"));
            done = true;
        } else {
            changed.push((*line).to_owned());
        }
    }
    if !done {
        let kernel = (from..to).find(|n| {
            words(lines[*n]).is_some_and(|(key, _)| matches!(key.as_str(), "linux" | "kernel"))
        })?;
        changed.insert(kernel + 1, format!("\tappend {cmdline}"));
    }
    Some(changed.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kernel: &str, cmdline: &str) -> Entry {
        Entry {
            kernel: kernel.to_owned(),
            cmdline: cmdline.to_owned(),
            ..Entry::default()
        }
    }

    #[test]
    fn words_go_to_the_entry_that_is_started() {
        let cfg = "menuentry a {\n\techo hi\n\tlinux\t/boot/vmlinuz-6 root=a $x quiet\n\t\
                   initrd /i\n}\nmenuentry b {\n\tlinux /boot/vmlinuz-6 single\n}\n";
        let at = |line| Entry {
            line: Some(line),
            ..entry("/boot/vmlinuz-6", "")
        };
        let changed = grub(cfg, &at(3), "root=a b=\"c d\" e;f").unwrap();
        let want = "\tlinux\t/boot/vmlinuz-6 root=a 'b=\"c' 'd\"' 'e;f'\n\tinitrd /i\n";
        assert!(changed.contains(want), "{changed}");
        assert!(changed.ends_with("vmlinuz-6 single\n}\n"));
        let changed = grub(cfg, &at(7), "s").unwrap();
        assert!(changed.ends_with("menuentry b {\n\tlinux\t/boot/vmlinuz-6 s\n}\n"));
        assert!(changed.contains("root=a $x quiet"));
        assert_eq!(grub(cfg, &at(4), "y"), None);
        let shared = "if x; then linux /boot/vmlinuz-6 a; fi\n";
        assert_eq!(grub(shared, &at(1), "y"), None);

        let conf = "title A\nlinux /k\noptions a\noptions b\ninitrd /i\n";
        let changed = options(conf, "c d").unwrap();
        assert_eq!(changed, "title A\nlinux /k\ninitrd /i\noptions c d\n");

        let conf = "default l1\nlabel l0\n\tlinux /k\n\tappend single\nlabel l1\n\tlinux /k\n\t\
                    APPEND a b initrd=/i\nlabel l2\n  kernel /other\n";
        let changed = append(conf, &entry("/k", "a b initrd=/i"), "c").unwrap();
        assert!(changed.contains("label l1\n\tlinux /k\n\tappend c initrd=/i\nlabel l2\n"));
        assert!(changed.contains("append single"));
        let changed = append(conf, &entry("/boot/other", ""), "c").unwrap();
        assert!(
            changed.ends_with("  kernel /other\n\tappend c\n"),
            "{changed}"
        );
    }
}

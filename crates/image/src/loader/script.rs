//! `boot.scr`, U-Boot's script, run on paper: variables, conditions and files, up to the command
//! that starts a kernel.
//!
//! ```text
//! setenv bootargs "root=${rootdev} rootwait console=ttyS2,1500000"
//! load ${devtype} ${devnum} ${load_addr} ${prefix}armbianEnv.txt
//! env import -t ${load_addr} ${filesize}
//! load ${devtype} ${devnum} ${kernel_addr_r} ${prefix}Image
//! booti ${kernel_addr_r} ${ramdisk_addr_r} ${fdt_addr_r}
//! ```
//!
//! What only the board knows, as where its memory is, stays a name: `${kernel_addr_r}`. A condition
//! that asks for such a thing counts as not met, which is said where it decides what is started;
//! and a word of the command line that needs one is left out.

use std::collections::HashMap;

use bootlap_artefact::fdt;
use bootlap_artefact::uboot_script::{Item, Joint, Piece, Script, Statement, Word};
use bootlap_artefact::uimage::{KIND_SCRIPT, UimageHeader};

use super::{Entry, Loader, readable};
use crate::table::Table;
use crate::volume::{Files, Place, Volume};

/// What it is called as a loader.
pub(crate) const NAME: &str = "U-Boot script";

const FOLDERS: [&str; 2] = ["", "boot/"];
const FILES: [&str; 2] = ["boot.scr.uimg", "boot.scr"];

/// Commands altogether: `run` and `for` repeat them.
const MOST_COMMANDS: usize = 10_000;
/// Scripts in variables that run each other.
const MOST_RUNS: usize = 8;
/// Bytes of a script's file: no larger one is read.
const MOST_SCRIPT: u64 = 128 << 10;
/// Bytes of all values: `setenv a "${a}${a}"` doubles.
const MOST_VALUES: usize = 64 << 10;

/// What is in an image that mkimage wrapped; `None` if it did not, or U-Boot would refuse it.
pub(crate) fn unwrapped(image: &[u8]) -> Option<&[u8]> {
    UimageHeader::read(image).ok().map(|(_, data)| data)
}

pub(super) fn read(table: &Table, volumes: &[Volume]) -> Option<Loader> {
    for (volume, files) in readable(volumes) {
        for folder in FOLDERS {
            for name in FILES {
                let path = format!("{folder}{name}");
                if !files.has(&path) {
                    continue;
                }
                let text = files
                    .read(&path, MOST_SCRIPT)
                    .ok()
                    .and_then(|image| text(&image));
                let disk = Disk {
                    table,
                    volumes,
                    volume,
                };
                let mut run = Run::new(&disk, folder);
                if let Some(text) = text {
                    run.text(&text, MOST_RUNS);
                }
                let entry = run.entry;
                return Some(Loader {
                    name: NAME,
                    config: Some(Place { volume, path }),
                    default: entry.as_ref().map(|_| 0),
                    entries: entry.into_iter().collect(),
                    guess: run.guess,
                    ..Loader::default()
                });
            }
        }
    }
    None
}

/// The script in an image: behind the lengths of its parts, which end with a zero.
fn text(image: &[u8]) -> Option<String> {
    let (header, parts) = UimageHeader::read(image).ok()?;
    let bytes = parts.get(8..).filter(|_| header.kind == KIND_SCRIPT)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Where the script is.
struct Disk<'d> {
    table: &'d Table,
    volumes: &'d [Volume],
    volume: usize,
}

impl<'d> Disk<'d> {
    fn files(&self, volume: usize) -> Option<&'d dyn Files> {
        self.volumes.get(volume)?.files.as_deref()
    }

    /// The partition of `0:1`; of what only the board knows, and where there is no table, the
    /// script's.
    fn partition(&self, named: &str) -> Option<usize> {
        let all = &self.table.partitions;
        let number: Option<u32> = named.split_once(':').and_then(|(_, n)| n.parse().ok());
        match number.filter(|_| all.iter().any(|p| p.number > 0)) {
            Some(number) => all.iter().position(|p| p.number == number),
            None => Some(self.volume),
        }
    }

    fn file(&self, device: &str, path: &str) -> Option<Place> {
        let volume = self.partition(device)?;
        let is_there = self.files(volume).is_some_and(|files| files.has(path));
        is_there.then(|| Place {
            volume,
            path: path.to_owned(),
        })
    }
}

struct Run<'d> {
    disk: &'d Disk<'d>,
    variables: HashMap<String, String>,
    /// By the address that it was loaded to.
    loaded: HashMap<String, Place>,
    /// How the last command went.
    went: bool,
    /// Commands and bytes that are still allowed.
    left: usize,
    bytes: usize,
    entry: Option<Entry>,
    /// The last condition that only the board can answer.
    asked: Option<String>,
    /// The first of them that decides what is started.
    guess: Option<String>,
    /// Nothing behind it is run.
    over: bool,
}

impl<'d> Run<'d> {
    fn new(disk: &'d Disk<'d>, folder: &str) -> Self {
        Self {
            disk,
            variables: HashMap::from([("prefix".to_owned(), format!("/{folder}"))]),
            loaded: HashMap::new(),
            went: true,
            left: MOST_COMMANDS,
            bytes: MOST_VALUES,
            entry: None,
            asked: None,
            guess: None,
            over: false,
        }
    }

    /// Runs what a variable or a file holds.
    fn text(&mut self, text: &str, runs: usize) {
        // A backslash at the end of a line joins it with the next.
        match Script::parse(&text.replace("\\\n", "")) {
            Ok(script) => self.script(&script, runs),
            // U-Boot would have done what is in front of the mistake; nobody wrote one.
            Err(_) => self.over = true,
        }
    }

    fn script(&mut self, script: &Script, runs: usize) {
        for Item { joint, statement } in &script.0 {
            let is_next = match joint {
                Joint::Then => true,
                Joint::And => self.went,
                Joint::Or => !self.went,
            };
            if self.over {
                return;
            }
            match statement {
                _ if !is_next => {}
                Statement::Command(words) => {
                    let words = self.filled(words);
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    self.left = self.left.saturating_sub(1);
                    self.over |= self.left == 0;
                    self.went = self.command(&words, runs);
                }
                Statement::If { arms, otherwise } => self.branch(arms, otherwise.as_ref(), runs),
                Statement::For { name, words, body } => {
                    for value in self.filled(words) {
                        // Each value is split at its spaces.
                        for value in value.split_whitespace() {
                            self.set(name, value.to_owned());
                            self.script(body, runs);
                        }
                    }
                }
                // How often, the board decides.
                Statement::While { .. } => {}
            }
        }
    }

    fn branch(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>, runs: usize) {
        let scripts = arms.iter().map(|(_, then)| then).chain(otherwise);
        let decides = scripts.into_iter().any(starts);
        for (condition, then) in arms {
            self.asked = None;
            self.script(condition, runs);
            let asked = self.asked.take().filter(|_| decides);
            self.guess = self.guess.take().or(asked);
            if self.went && !self.over {
                return self.script(then, runs);
            }
        }
        if let Some(otherwise) = otherwise {
            self.script(otherwise, runs);
        }
    }

    /// As it is set; what the board sets is its name, and what nobody sets is empty.
    fn variable(&self, name: &str) -> String {
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if is_the_boards(name) => format!("${{{name}}}"),
            None => String::new(),
        }
    }

    fn set(&mut self, name: &str, value: String) {
        self.bytes = self.bytes.saturating_sub(value.len());
        if self.bytes > 0 {
            self.variables.insert(name.to_owned(), value);
        }
    }

    fn filled(&self, words: &[Word]) -> Vec<String> {
        let mut filled = Vec::new();
        for word in words {
            let mut text = String::new();
            let mut quoted = false;
            for piece in &word.0 {
                match piece {
                    Piece::Text {
                        text: own,
                        quoted: q,
                    } => {
                        text.push_str(own);
                        quoted |= q;
                    }
                    Piece::Variable { name, quoted: q } => {
                        text.push_str(&self.variable(name));
                        quoted |= q;
                    }
                }
                if text.len() > self.bytes {
                    return filled;
                }
            }
            // Unquoted, an empty one is no word.
            if quoted || !text.is_empty() {
                filled.push(text);
            }
        }
        filled
    }

    /// Runs a command; says how that went.
    fn command(&mut self, words: &[&str], runs: usize) -> bool {
        match words {
            ["env", "set", name, value @ ..] | ["setenv", name, value @ ..] => {
                match value {
                    [] => drop(self.variables.remove(*name)),
                    value => self.set(name, value.join(" ")),
                }
                true
            }
            ["setexpr", name, ..] => {
                self.set(name, format!("${{{name}}}"));
                true
            }
            ["test" | "[", condition @ ..] => match self.condition(condition) {
                Some(met) => met,
                None => {
                    self.asked = Some(words.join(" "));
                    false
                }
            },
            ["env", "exists", name] => !self.variable(name).is_empty(),
            ["env", "import", words @ ..] => self.import(words),
            [
                "load" | "fatload" | "ext2load" | "ext4load",
                _,
                device,
                address,
                path,
                ..,
            ] => {
                let place = self.disk.file(device, path);
                self.loaded.remove(*address);
                let went = place.is_some() || is_unknown(path);
                if let Some(place) = place {
                    self.loaded.insert((*address).to_owned(), place);
                }
                went
            }
            ["part", "uuid", _, device, name] => {
                let partition = self.disk.partition(device);
                let partition = partition.map(|n| &self.disk.table.partitions[n]);
                self.set(
                    name,
                    partition.map(|p| p.partuuid.clone()).unwrap_or_default(),
                );
                partition.is_some()
            }
            ["fsuuid", _, device, name] => {
                let volume = self.disk.partition(device);
                let volume = volume.map(|n| &self.disk.volumes[n]);
                self.set(name, volume.map(|v| v.uuid.clone()).unwrap_or_default());
                volume.is_some()
            }
            ["run", names @ ..] if runs > 0 => {
                for name in names {
                    let script = self.variable(name);
                    self.text(&script, runs - 1);
                }
                self.went
            }
            ["booti" | "bootz" | "bootm", kernel, rest @ ..] => self.boot(kernel, rest),
            ["exit", ..] => {
                self.over = true;
                true
            }
            ["false"] => false,
            // What has no effect here: echo, fdt …
            _ => true,
        }
    }

    /// Of `[ … ]` or `test …`; `None` if only the board knows.
    fn condition(&self, words: &[&str]) -> Option<bool> {
        let words = match words {
            [words @ .., "]"] => words,
            words => words,
        };
        if let Some(at) = words.iter().position(|word| *word == "-o") {
            return match (
                self.condition(&words[..at]),
                self.condition(&words[at + 1..]),
            ) {
                (Some(false), other) | (other, Some(false)) => other,
                (Some(true), _) | (_, Some(true)) => Some(true),
                (None, None) => None,
            };
        }
        if let Some(at) = words.iter().position(|word| *word == "-a") {
            return match (
                self.condition(&words[..at]),
                self.condition(&words[at + 1..]),
            ) {
                (Some(true), other) | (other, Some(true)) => other,
                (Some(false), _) | (_, Some(false)) => Some(false),
                (None, None) => None,
            };
        }
        let known = |a: &str, b: &str| !is_unknown(a) && !is_unknown(b);
        match words {
            ["!", rest @ ..] => self.condition(rest).map(|met| !met),
            ["-e", _, device, path] => Some(self.disk.file(device, path).is_some()),
            ["-z"] => Some(true),
            ["-z", text] => Some(text.is_empty()),
            ["-n", text] => Some(!text.is_empty()),
            [a, "=" | "==" | "-eq", b] => known(a, b).then_some(a == b),
            [a, "!=" | "-ne", b] => known(a, b).then_some(a != b),
            _ => Some(false),
        }
    }

    /// Sets what is in a text that was loaded: `name=value`, a line each.
    fn import(&mut self, words: &[&str]) -> bool {
        let address = words.iter().find(|word| !word.starts_with('-'));
        let Some(place) = address.and_then(|address| self.loaded.get(*address)) else {
            return false;
        };
        let files = self.disk.files(place.volume);
        let text = files.and_then(|files| files.text(&place.path));
        for line in text.unwrap_or_default().lines() {
            if let Some((name, value)) = line.split_once('=')
                && !name.starts_with('#')
            {
                self.set(name.trim(), value.trim_end().to_owned());
            }
        }
        true
    }

    /// Starts a kernel, if it is one that can be read; says whether that failed.
    fn boot(&mut self, kernel: &str, rest: &[&str]) -> bool {
        let Some(place) = self.loaded.get(kernel) else {
            return false;
        };
        self.over = true;
        let files = self.disk.files(place.volume);
        let begins = files.and_then(|files| files.read(&place.path, 4).ok());
        // What a FIT holds, it chooses by its board.
        if begins.is_none_or(|bytes| bytes.starts_with(&fdt::MAGIC.to_be_bytes())) {
            return true;
        }
        let at = |address: Option<&&str>| {
            let address = address.map(|a| a.rsplit_once(':').map_or(*a, |(address, _)| address));
            let place = address.and_then(|address| self.loaded.get(address));
            place.map(|place| rooted(&place.path))
        };
        let words = self.variable("bootargs");
        let words = words.split_whitespace().filter(|word| !is_unknown(word));
        self.entry = Some(Entry {
            title: "boot.scr".to_owned(),
            kernel: rooted(&place.path),
            initramfs: at(rest.first()).into_iter().collect(),
            devicetree: at(rest.get(1)).unwrap_or_default(),
            cmdline: words.collect::<Vec<_>>().join(" "),
            volume: Some(place.volume),
            line: None,
            at: None,
        });
        true
    }
}

fn rooted(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

/// Whether the board's own environment has it, as far as that is the same on most.
fn is_the_boards(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        "arch",
        "baudrate",
        "board",
        "board_name",
        "board_rev",
        "bootpart",
        "console",
        "cpu",
        "devnum",
        "devtype",
        "distro_bootpart",
        "fdt_file",
        "fdtfile",
        "filesize",
        "mmcdev",
        "soc",
        "vendor",
    ];
    NAMES.contains(&name) || name.ends_with("addr") || name.contains("_addr")
}

/// Whether a kernel may be started in it.
fn starts(script: &Script) -> bool {
    let command = |words: &[Word]| match words.first().and_then(|word| word.0.first()) {
        Some(Piece::Text { text, .. }) => text.starts_with("boot") || text == "run",
        _ => false,
    };
    script.0.iter().any(|item| match &item.statement {
        Statement::Command(words) => command(words),
        Statement::If { arms, otherwise } => {
            arms.iter().any(|(_, then)| starts(then)) || otherwise.as_ref().is_some_and(starts)
        }
        Statement::For { body, .. } | Statement::While { body, .. } => starts(body),
    })
}

/// Whether a text needs what only the board knows.
fn is_unknown(text: &str) -> bool {
    text.contains("${")
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crate::{Found, Window};

    /// ```text
    /// setenv a "x"; if test -n "${a}" && test "${b}" = ""; then
    ///   load mmc 0:1 ${kernel_addr_r} Image
    ///   for f in 1 2; do env import -t ${kernel_addr_r}; done; else run a; fi
    /// setenv bootargs "root=${rootdev} ${a}"
    /// booti ${kernel_addr_r} ${ramdisk_addr_r}:10 ${fdt_addr_r}
    /// ```
    const DISK: &[u8] = include_bytes!("../../../../fuzz/seeds/disk/uboot-script");

    #[test]
    fn a_script_on_fat_is_run() {
        let found = Found::of(&Window::all(Rc::new(DISK.to_vec()), DISK.len() as u64));
        let (_, entry) = found.default().unwrap();
        assert_eq!((&*entry.kernel, &*entry.cmdline), ("/Image", "root= b"));
        assert!(entry.initramfs.is_empty(), "nothing was loaded there");
    }
}

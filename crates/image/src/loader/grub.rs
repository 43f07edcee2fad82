//! `grub.cfg`, run on paper: variables, conditions that can be decided without a machine,
//! menu entries. A condition that cannot be decided counts as not met, as it mostly guards
//! what few machines have.

use std::collections::HashMap;

use super::{Entry, Loader, Wait, bls, readable};
use crate::volume::{Files, Place, Volume};

const PATHS: [&str; 5] = [
    "boot/grub/grub.cfg",
    "grub/grub.cfg",
    "boot/grub2/grub.cfg",
    "grub2/grub.cfg",
    "EFI/BOOT/grub.cfg",
];

/// Deeper than any configuration that people write.
const MOST_FRAMES: usize = 64;
/// Bytes that variables may become altogether: `set a=$a$a` doubles.
const MOST_FILLED: usize = 4 << 20;

pub(super) fn read(volumes: &[Volume]) -> Option<Loader> {
    let mut found: Option<Loader> = None;
    for (volume, files) in readable(volumes) {
        let vendors = files.list("EFI").unwrap_or_default();
        let vendors = vendors
            .iter()
            .map(|vendor| format!("EFI/{vendor}/grub.cfg"));
        let paths = PATHS.iter().map(|path| (*path).to_owned()).chain(vendors);
        for path in paths {
            let Some(text) = files.text(&path) else {
                continue;
            };
            let mut loader = Run::of(&text, (volume, files), &path).loader();
            loader.config = Some(Place { volume, path });
            // One that only leads to another has no entries.
            if found
                .as_ref()
                .is_none_or(|f| f.entries.is_empty() && !loader.entries.is_empty())
            {
                found = Some(loader);
            }
        }
    }
    found
}

/// An open block.
enum Frame {
    /// Whether it is being run, whether a branch was, and whether what is around it is.
    If { runs: bool, done: bool, above: bool },
    /// An entry, by its place.
    Menu(usize),
    /// Its entries have this in front of their place.
    Submenu,
    /// A function, or what is not run.
    Skipped,
}

/// An entry, and how `default` can name it.
#[derive(Default)]
struct Item {
    entry: Entry,
    /// Its place in the menu, and in the submenus.
    place: Vec<usize>,
    /// Its title and its id.
    names: Vec<String>,
}

struct Run<'f> {
    /// Where the configuration is.
    volume: usize,
    files: &'f dyn Files,
    variables: HashMap<String, String>,
    frames: Vec<Frame>,
    items: Vec<Item>,
    /// How many the menu has, and each submenu that is open.
    counts: Vec<usize>,
    submenus: Vec<usize>,
    uuid: String,
    /// Bytes of variables that may still be filled in.
    left: usize,
}

impl<'f> Run<'f> {
    fn of(text: &str, (volume, files): (usize, &'f dyn Files), path: &str) -> Self {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let prefix = ("prefix".to_owned(), format!("/{folder}"));
        let mut run = Self {
            volume,
            files,
            variables: HashMap::from([prefix]),
            frames: Vec::new(),
            items: Vec::new(),
            counts: vec![0],
            submenus: Vec::new(),
            uuid: String::new(),
            left: MOST_FILLED,
        };
        let mut chars = text.chars().peekable();
        while chars.peek().is_some() && run.frames.len() < MOST_FRAMES {
            let (words, end) = run.statement(&mut chars);
            run.execute(&words, end == End::Block);
        }
        run
    }

    fn runs(&self) -> bool {
        self.frames.iter().all(|frame| match frame {
            Frame::If { runs, .. } => *runs,
            Frame::Skipped => false,
            Frame::Menu(_) | Frame::Submenu => true,
        })
    }

    fn variable(&self, name: &str) -> &str {
        match self.variables.get(name) {
            Some(value) => value,
            // GRUB tells scripts what it can do.
            None if name.starts_with("feature_") => "y",
            None => "",
        }
    }

    /// Words up to the end of a statement, with variables filled in.
    fn statement(
        &mut self,
        chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    ) -> (Vec<String>, End) {
        let mut words: Vec<String> = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (Some('\''), c) => word.get_or_insert_default().push(c),
                (_, '\\') => match chars.next() {
                    Some('\n') | None => {}
                    Some(c) => word.get_or_insert_default().push(c),
                },
                (_, '$') => {
                    let name = variable_name(chars);
                    let value = self.variable(&name).to_owned();
                    let Some(left) = self.left.checked_sub(value.len()) else {
                        continue;
                    };
                    self.left = left;
                    // Unquoted, an empty one is no word.
                    if !value.is_empty() || quote.is_some() {
                        word.get_or_insert_default().push_str(&value);
                    }
                }
                (Some(_), c) => word.get_or_insert_default().push(c),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, '#') if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
                (None, '\n' | ';') => {
                    words.extend(word.take());
                    if !words.is_empty() {
                        return (words, End::Plain);
                    }
                }
                (None, '{') if word.is_none() => return (words, End::Block),
                (None, '}') if word.is_none() && words.is_empty() => {
                    return (vec!["}".to_owned()], End::Plain);
                }
                (None, c) if c.is_whitespace() => words.extend(word.take()),
                (None, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        (words, End::Plain)
    }

    fn execute(&mut self, words: &[String], opens: bool) {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let runs = self.runs();
        // What stands behind these is a statement of its own.
        while let Some(first) = words.first().copied() {
            match first {
                "then" | "do" => {}
                "else" => self.branch(None),
                "fi" => drop(self.frames.pop()),
                _ => break,
            }
            words.remove(0);
        }
        let Some(command) = words.first().copied() else {
            if opens {
                self.frames.push(Frame::Skipped);
            }
            return;
        };
        let rest = &words[1..];
        match command {
            "if" => {
                let met = runs && self.condition(rest);
                self.frames.push(Frame::If {
                    runs: met,
                    done: met,
                    above: runs,
                });
            }
            "elif" => {
                let met = self.condition(rest);
                self.branch(Some(met));
            }
            "for" | "while" | "until" => self.frames.push(Frame::Skipped),
            "done" | "}" => self.close(),
            "menuentry" if runs && opens => self.open_entry(rest),
            "submenu" if runs && opens => {
                let place = self.counted();
                self.submenus.push(place);
                self.counts.push(0);
                self.frames.push(Frame::Submenu);
            }
            _ if opens => self.frames.push(Frame::Skipped),
            _ if self.runs() => self.command(command, rest),
            _ => {}
        }
    }

    /// The next branch of an `if`; without a condition it is the last one.
    fn branch(&mut self, condition: Option<bool>) {
        if let Some(Frame::If { runs, done, above }) = self.frames.last_mut() {
            *runs = *above && !*done && condition.unwrap_or(true);
            *done |= *runs;
        }
    }

    fn close(&mut self) {
        if let Some(Frame::Submenu) = self.frames.pop() {
            self.counts.pop();
            self.submenus.pop();
        }
    }

    /// The place of the next item of the innermost menu.
    fn counted(&mut self) -> usize {
        let Some(count) = self.counts.last_mut() else {
            return 0;
        };
        *count += 1;
        *count - 1
    }

    fn open_entry(&mut self, words: &[&str]) {
        let mut place = self.submenus.clone();
        place.push(self.counted());
        let title = words.first().copied().unwrap_or_default();
        let option = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1).copied()
        };
        // `$menuentry_id_option` is `--id` where GRUB knows it.
        let last = words.last().filter(|_| words.len() > 1);
        let id = option("--id").or(last.copied());
        self.frames.push(Frame::Menu(self.items.len()));
        self.items.push(Item {
            entry: Entry {
                title: title.to_owned(),
                uuid: self.uuid.clone(),
                ..Entry::default()
            },
            place,
            names: [Some(title), id]
                .into_iter()
                .flatten()
                .map(str::to_owned)
                .collect(),
        });
    }

    fn command(&mut self, command: &str, words: &[&str]) {
        let entry = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Menu(at) => Some(*at),
            _ => None,
        });
        match (command, entry) {
            ("set", _) => {
                if let Some((name, value)) = words.first().and_then(|word| word.split_once('=')) {
                    self.variables.insert(name.to_owned(), value.to_owned());
                }
            }
            ("unset", _) => {
                for name in words {
                    self.variables.remove(*name);
                }
            }
            ("load_env", _) => self.load_environment(),
            ("search" | "search.fs_uuid", entry) => {
                let by_id = command.ends_with("uuid")
                    || words.iter().any(|word| matches!(*word, "--fs-uuid" | "-u"));
                let id = words.iter().rfind(|word| !word.starts_with('-'));
                let id = match command.ends_with("uuid") {
                    true => words.first(),
                    false => id,
                };
                if let (true, Some(id)) = (by_id, id) {
                    match entry {
                        Some(at) => (*id).clone_into(&mut self.items[at].entry.uuid),
                        None => (*id).clone_into(&mut self.uuid),
                    }
                }
            }
            ("linux" | "linuxefi" | "linux16" | "kernel", Some(at)) => {
                let entry = &mut self.items[at].entry;
                entry.kernel = path(words.first().copied().unwrap_or_default());
                entry.cmdline = words.get(1..).unwrap_or_default().join(" ");
            }
            ("initrd" | "initrdefi" | "initrd16", Some(at)) => {
                let paths = words.iter().map(|word| path(word));
                self.items[at].entry.initramfs.extend(paths);
            }
            ("devicetree", Some(at)) => {
                self.items[at].entry.devicetree = path(words.first().copied().unwrap_or_default());
            }
            ("blscfg", _) => {
                for (id, entry) in bls::entries(self.volume, self.files) {
                    let place = vec![self.counted()];
                    let names = vec![entry.title.clone(), id.trim_end_matches(".conf").to_owned()];
                    self.items.push(Item {
                        entry,
                        place,
                        names,
                    });
                }
            }
            _ => {}
        }
    }

    /// What `grub-editenv` wrote: `saved_entry=…`.
    fn load_environment(&mut self) {
        let path = format!("{}/grubenv", self.variable("prefix"));
        let text = self.files.text(&path).unwrap_or_default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, value)) = line.split_once('=') {
                self.variables.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// Of `[ … ]` or `test …`.
    fn condition(&self, words: &[&str]) -> bool {
        let words: Vec<&str> = match words {
            ["[", inner @ .., "]"] | ["test", inner @ ..] => inner.to_vec(),
            ["true"] => return true,
            _ => return false,
        };
        match words.as_slice() {
            ["!", rest @ ..] => !self.condition(&[&["test"], rest].concat()),
            [a, "=" | "==", b] => a == b,
            [a, "!=", b] => a != b,
            ["=" | "==", _] | [_, "=" | "=="] => false,
            ["-n", text] => !text.is_empty(),
            ["-z"] | ["-z", ""] => true,
            ["-e" | "-f" | "-s", file] => self.files.has(&path(file)),
            ["-d", folder] => self.files.list(&path(folder)).is_ok(),
            [text] => !text.is_empty(),
            _ => false,
        }
    }

    fn loader(self) -> Loader {
        let default = self.default();
        let wait = match self.variable("timeout").parse::<i64>() {
            Ok(seconds) if seconds < 0 => Wait::Forever,
            Ok(seconds) => Wait::Tenths(u32::try_from(seconds * 10).unwrap_or(u32::MAX)),
            // Its menu waits for somebody.
            Err(_) if !self.items.is_empty() => Wait::Forever,
            Err(_) => Wait::Unknown,
        };
        Loader {
            name: "GRUB",
            wait,
            default,
            entries: self.items.into_iter().map(|item| item.entry).collect(),
            ..Loader::default()
        }
    }

    fn default(&self) -> Option<usize> {
        let wanted = self.variable("default");
        let wanted = if wanted.is_empty() { "0" } else { wanted };
        let named = |item: &Item| {
            let last = wanted.rsplit('>').next().unwrap_or(wanted);
            item.names.iter().any(|name| name == wanted || name == last)
        };
        if let Some(at) = self.items.iter().position(named) {
            return Some(at);
        }
        let place: Vec<usize> = wanted
            .split('>')
            .map(|n| n.trim().parse().ok())
            .collect::<Option<_>>()?;
        // A submenu as a whole means its first entry.
        let at = self
            .items
            .iter()
            .position(|item| item.place.starts_with(&place));
        at.or((!self.items.is_empty()).then_some(0))
    }
}

#[derive(PartialEq, Eq)]
enum End {
    /// A line or a semicolon.
    Plain,
    /// An open brace.
    Block,
}

fn variable_name(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut name = String::new();
    if chars.next_if_eq(&'{').is_some() {
        while let Some(c) = chars.next_if(|c| !matches!(c, '}' | '\n')) {
            name.push(c);
        }
        chars.next_if_eq(&'}');
    } else {
        while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if name.is_empty()
            && let Some(c) = chars.next_if(|c| matches!(c, '?' | '#' | '@' | '*'))
        {
            name.push(c);
        }
    }
    name
}

/// Without the device in front: `(hd0,gpt2)/vmlinuz`.
fn path(word: &str) -> String {
    let behind = word.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    behind.map_or(word, |(_, path)| path).to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    struct None_;

    impl Files for None_ {
        fn list(&self, _: &str) -> io::Result<Vec<String>> {
            Err(io::ErrorKind::NotFound.into())
        }
        fn read(&self, path: &str, _: u64) -> io::Result<Vec<u8>> {
            match path {
                "/boot/grub/grubenv" => Ok(b"# GRUB\nsaved_entry=old>two\n####".to_vec()),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }
        fn place(&self, _: &str) -> io::Result<Vec<std::ops::Range<u64>>> {
            Err(io::ErrorKind::NotFound.into())
        }
        fn link(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn loader(text: &str) -> Loader {
        Run::of(text, (0, &None_), "boot/grub/grub.cfg").loader()
    }

    const MADE: &str = r#"
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
else
   set default="DEFAULT"
fi
if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
fi
export menuentry_id_option
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
  fi
}
terminal_input console serial
if [ "${recordfail}" = 1 ] ; then
  set timeout=30
else
  if [ x$feature_timeout_style = xy ] ; then
    set timeout_style=menu
    set timeout=5
  else
    set timeout=7
  fi
fi
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'simple' {
	load_video
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	search --no-floppy --fs-uuid --set=root --hint-bios=hd0,gpt1 0123-abcd
	echo	'Loading Linux ...'
	linux	/boot/vmlinuz-6.1 root=UUID=0123-abcd ro  quiet "dyndbg=file a.c +p"
	initrd	/boot/microcode.img ($root)/boot/initrd.img-6.1
}
submenu 'Advanced options' $menuentry_id_option 'old' {
	menuentry 'one' --id 'one' { linux /boot/vmlinuz-6.0 single; }
	menuentry 'two' --id 'two' {
		linux /boot/vmlinuz-5.9
	}
}
"#;

    #[test]
    fn what_grub_mkconfig_writes_is_run() {
        let found = loader(&MADE.replace("DEFAULT", "0"));
        assert_eq!(found.wait, Wait::Tenths(50));
        assert_eq!(found.default, Some(0));
        assert_eq!(found.entries.len(), 3);
        let first = &found.entries[0];
        assert_eq!(first.title, "Debian GNU/Linux");
        assert_eq!(first.uuid, "0123-abcd");
        assert_eq!(first.kernel, "/boot/vmlinuz-6.1");
        assert_eq!(
            first.cmdline,
            "root=UUID=0123-abcd ro quiet dyndbg=file a.c +p"
        );
        assert_eq!(
            first.initramfs,
            ["/boot/microcode.img", "/boot/initrd.img-6.1"]
        );
        assert_eq!(found.entries[1].cmdline, "single");
    }

    #[test]
    fn the_default_is_found_by_place_title_and_id() {
        for (default, at) in [
            ("0", 0),
            ("1", 1),
            ("1>1", 2),
            ("old>two", 2),
            ("Advanced options>one", 1),
            ("simple", 0),
            ("Debian GNU/Linux", 0),
            ("9", 0),
            ("${saved_entry}", 2),
        ] {
            let text = MADE
                .replace("DEFAULT", default)
                .replace("[ -s $prefix/grubenv ]", "true");
            assert_eq!(loader(&text).default, Some(at), "{default}");
        }
    }

    #[test]
    fn a_menu_without_a_timeout_waits() {
        let found = loader("menuentry 'a' {\n linux /a\n}\n");
        assert_eq!(found.wait, Wait::Forever);
        assert_eq!(
            loader("set timeout=-1\nmenuentry a {\n}\n").wait,
            Wait::Forever
        );
        assert_eq!(loader("configfile /x\n").wait, Wait::Unknown);
    }

    #[test]
    fn variables_do_not_grow_for_ever() {
        let doubling = format!("set a=aaaaaaaa\n{}", "set a=$a$a\n".repeat(100));
        let found = loader(&format!("{doubling}menuentry x {{ linux $a $a $a; }}\n"));
        assert!(found.entries[0].cmdline.len() < 2 * MOST_FILLED);
    }

    #[test]
    fn any_text_can_be_run() {
        for text in [
            "}",
            "fi fi }",
            "if if if",
            "menuentry {",
            "'",
            "\\",
            "${",
            "submenu x {} }",
            "{{{{",
        ] {
            let _ = loader(text);
            let _ = loader(&text.repeat(100));
        }
    }
}

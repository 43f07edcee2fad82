//! `extlinux.conf` and `syslinux.cfg`: one language, read by U-Boot and by SYSLINUX.

use super::{Entry, Loader, Wait, readable};
use crate::volume::{Place, Volume};

const UBOOT: [&str; 2] = ["extlinux/extlinux.conf", "boot/extlinux/extlinux.conf"];
const SYSLINUX: [&str; 7] = [
    "syslinux.cfg",
    "syslinux/syslinux.cfg",
    "boot/syslinux/syslinux.cfg",
    "isolinux/isolinux.cfg",
    "boot/isolinux/isolinux.cfg",
    "extlinux.conf",
    "boot/extlinux/extlinux.conf",
];

/// As U-Boot finds it on a disk.
pub(super) fn uboot(volumes: &[Volume]) -> Option<Loader> {
    find(volumes, "U-Boot", &UBOOT)
}

pub(super) fn syslinux(volumes: &[Volume]) -> Option<Loader> {
    find(volumes, "SYSLINUX", &SYSLINUX)
}

fn find(volumes: &[Volume], name: &'static str, paths: &[&str]) -> Option<Loader> {
    let (volume, path, text) = readable(volumes).find_map(|(volume, files)| {
        let found = paths.iter().find_map(|p| Some((*p, files.text(p)?)));
        found.map(|(path, text)| (volume, path, text))
    })?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = |path: &str| {
        let place = Place {
            volume,
            path: from(folder, path),
        };
        let text = volumes[volume].files.as_deref()?.text(&place.path)?;
        Some((place, text))
    };
    let mut loader = config(&text, name, &file);
    for entry in &mut loader.entries {
        let paths = [&mut entry.kernel, &mut entry.devicetree];
        for path in paths.into_iter().chain(&mut entry.initramfs) {
            *path = from(folder, path);
        }
    }
    loader.config = Some(Place {
        volume,
        path: path.to_owned(),
    });
    Some(loader)
}

/// A path, which begins at the configuration's folder if it does not at the top.
fn from(folder: &str, path: &str) -> String {
    match path.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{folder}/{path}"),
    }
}

/// Files that include each other.
const MOST_INCLUDED: usize = 8;
/// Entries of a menu: more than anybody chooses from.
const MOST_ENTRIES: usize = 1024;

/// A file that the configuration includes, with where it is.
type File<'f> = &'f dyn Fn(&str) -> Option<(Place, String)>;

/// What the lines have said so far.
#[derive(Default)]
struct Config {
    entries: Vec<Entry>,
    /// The entries' names.
    labels: Vec<String>,
    default: String,
    on_timeout: String,
    timeout: u32,
    prompt: bool,
    menu: bool,
    /// The words of entries that have none of their own.
    append: String,
    /// The entry that the menu says is its default.
    menu_default: Option<usize>,
    /// How many submenus are open.
    submenus: usize,
    /// Lines are of the last entry, and not of a menu that has none yet.
    in_entry: bool,
}

fn config(text: &str, name: &'static str, file: File<'_>) -> Loader {
    let mut said = Config::default();
    said.lines(text, None, file, MOST_INCLUDED);
    let label = |wanted: &str| said.labels.iter().position(|label| label == wanted);
    // SYSLINUX asks nobody without a prompt or a menu. U-Boot does, and waits whole seconds.
    let asks = name == "U-Boot" || said.prompt || said.menu;
    let on_timeout = label(&said.on_timeout).filter(|_| asks && said.timeout > 0);
    let of_menu = said.menu_default.filter(|_| asks);
    let default = on_timeout.or(of_menu).or_else(|| label(&said.default));
    let wait = match (said.timeout, name) {
        (0, "U-Boot") => Wait::Forever,
        (tenths, "U-Boot") => Wait::Tenths(tenths.div_ceil(10).saturating_mul(10)),
        _ if !asks => Wait::Tenths(0),
        (0, _) => Wait::Forever,
        (tenths, _) => Wait::Tenths(tenths),
    };
    Loader {
        name,
        wait,
        // Without one, the first.
        default: default.or((!said.labels.is_empty()).then_some(0)),
        entries: said.entries,
        ..Loader::default()
    }
}

impl Config {
    /// Reads lines of the configuration, or of a file that it includes.
    fn lines(&mut self, text: &str, at: Option<&Place>, file: File<'_>, left: usize) {
        for line in text.lines().map(str::trim) {
            let (key, value) = worded(line);
            match key.as_str() {
                "include" => self.include(value, file, left),
                "menu" => {
                    let (key, value) = worded(value);
                    match key.as_str() {
                        "include" => self.include(value, file, left),
                        key => self.menu(key, value),
                    }
                }
                "label" if self.entries.len() < MOST_ENTRIES => {
                    self.in_entry = true;
                    self.labels.push(value.to_owned());
                    self.entries.push(Entry {
                        title: value.to_owned(),
                        cmdline: self.append.clone(),
                        at: at.cloned(),
                        ..Entry::default()
                    });
                }
                "default" => self.start(value),
                "ontimeout" => value.clone_into(&mut self.on_timeout),
                "timeout" => self.timeout = value.parse().unwrap_or(0),
                "prompt" => self.prompt = value != "0",
                "ui" => self.menu = true,
                "append" if self.entries.is_empty() => value.clone_into(&mut self.append),
                key => {
                    if let Some(entry) = self.entries.last_mut() {
                        of_entry(entry, key, value);
                    }
                }
            }
        }
    }

    fn include(&mut self, path: &str, file: File<'_>, left: usize) {
        // What may follow it is a name for a background.
        let path = path.split_whitespace().next().unwrap_or_default();
        if let (Some((place, text)), Some(left)) = (file(path), left.checked_sub(1))
            && self.entries.len() < MOST_ENTRIES
        {
            self.lines(&text, Some(&place), file, left);
        }
    }

    /// The default entry's name, or in older configurations the menu's program.
    fn start(&mut self, value: &str) {
        let name = value.split_whitespace().next().unwrap_or_default();
        match name.ends_with(".c32") {
            true => self.menu = true,
            false => name.clone_into(&mut self.default),
        }
    }

    /// A line that begins with `menu`.
    fn menu(&mut self, key: &str, value: &str) {
        match key {
            "begin" => (self.submenus, self.in_entry) = (self.submenus + 1, false),
            "end" => (self.submenus, self.in_entry) = (self.submenus.saturating_sub(1), false),
            "label" if self.in_entry => {
                if let Some(entry) = self.entries.last_mut() {
                    value.replace('^', "").clone_into(&mut entry.title);
                }
            }
            "default" if self.submenus == 0 => {
                self.menu_default = self.entries.len().checked_sub(1);
            }
            _ => {}
        }
    }
}

/// A line's first word, in small letters, and what is behind it.
fn worded(line: &str) -> (String, &str) {
    let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (key.to_ascii_lowercase(), value.trim())
}

/// A line of an entry.
fn of_entry(entry: &mut Entry, key: &str, value: &str) {
    match key {
        "kernel" | "linux" => value.clone_into(&mut entry.kernel),
        "initrd" => {
            let paths = value.split(',').map(|path| path.trim().to_owned());
            entry.initramfs = paths.collect();
        }
        "append" => {
            let words = value.split_whitespace().filter(|word| *word != "-");
            let (initrd, words): (Vec<_>, Vec<_>) =
                words.partition(|word| word.starts_with("initrd="));
            for path in initrd
                .iter()
                .filter_map(|word| word.strip_prefix("initrd="))
            {
                entry.initramfs.extend(path.split(',').map(str::to_owned));
            }
            entry.cmdline = words.join(" ");
        }
        "fdt" | "devicetree" | "fdtdir" | "devicetreedir" => {
            value.clone_into(&mut entry.devicetree);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read() {
        let text = "## made by u-boot-menu\nDEFAULT l0\nMENU TITLE U-Boot menu\nPROMPT 1\n\
                    TIMEOUT 50\n\nlabel l0\n\tmenu label Debian GNU/Linux\n\tlinux /vmlinuz\n\t\
                    initrd /initrd.img\n\tfdtdir /dtb/\n\tappend root=/dev/vda2 ro quiet\n\n\
                    label l0r\n\tlinux /vmlinuz\n\tappend single initrd=/a.img,/b.img\n";
        let alone = |text: &str, name| config(text, name, &|_| None);
        let loader = alone(text, "U-Boot");
        assert_eq!(loader.wait, Wait::Tenths(50));
        assert_eq!(loader.default, Some(0));
        for (text, uboot, syslinux) in [
            ("prompt 0\ntimeout 5\n", Wait::Tenths(10), Wait::Tenths(0)),
            ("prompt 0\ntimeout 0\n", Wait::Forever, Wait::Tenths(0)),
            ("prompt 1\n", Wait::Forever, Wait::Forever),
            (
                "ui menu.c32\ntimeout 5\n",
                Wait::Tenths(10),
                Wait::Tenths(5),
            ),
        ] {
            assert_eq!(alone(text, "U-Boot").wait, uboot, "{text}");
            assert_eq!(alone(text, "SYSLINUX").wait, syslinux, "{text}");
        }
        let [one, two] = loader.entries.as_slice() else {
            panic!("{loader:?}")
        };
        assert_eq!(one.title, "Debian GNU/Linux");
        assert_eq!(one.kernel, "/vmlinuz");
        assert_eq!(one.cmdline, "root=/dev/vda2 ro quiet");
        assert_eq!(one.devicetree, "/dtb/");
        assert_eq!(two.initramfs, ["/a.img", "/b.img"]);
        assert_eq!(two.cmdline, "single");
    }

    #[test]
    fn a_menu_may_be_in_other_files() {
        let files = |path: &str| {
            let text = match path {
                "menu.cfg" => {
                    "menu begin advanced\nmenu label ^More\nlabel expert\n menu default\n kernel /expert\nmenu end\n\
                     include std.cfg\ninclude menu.cfg\n"
                }
                "std.cfg" => "label install\n\tmenu label ^Install\n\tkernel vmlinuz\n",
                _ => return None,
            };
            let place = Place {
                volume: 0,
                path: format!("/isolinux/{path}"),
            };
            Some((place, text.to_owned()))
        };
        let loader = |text: &str| config(text, "SYSLINUX", &files);
        let menu = "include menu.cfg x\ndefault vesamenu.c32\nprompt 0\n";
        let found = loader(&format!("{menu}timeout 0\n"));
        assert_eq!(found.wait, Wait::Forever);
        assert_eq!(found.default, Some(0));
        let titles: Vec<&str> = found.entries.iter().map(|e| e.title.as_str()).collect();
        assert_eq!(titles[..2], ["expert", "Install"]);
        assert_eq!(
            found.entries[1].at.as_ref().unwrap().path,
            "/isolinux/std.cfg"
        );
        let found = loader(&format!(
            "append a b\n{menu}timeout 300\nontimeout install\n"
        ));
        assert_eq!((found.wait, found.default), (Wait::Tenths(300), Some(1)));
        assert_eq!(found.entries[1].cmdline, "a b");
        // The menu's own default is not what starts without a menu.
        let own = "default a\nlabel a\nkernel /a\nlabel b\nkernel /b\nmenu default\n";
        assert_eq!(loader(own).default, Some(0));
        assert_eq!(loader(&format!("ui menu.c32\n{own}")).default, Some(1));
    }
}

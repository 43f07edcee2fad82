//! Programs that UEFI firmware starts: what each is.

use bootlap_artefact::arch::Arch;
use object::read::pe::{PeFile32, PeFile64};
use object::{Object, ObjectSection};

use super::{Entry, Loader, readable};
use crate::volume::{MOST_FILE, Volume};

/// A removable disk's programs, by processor.
const DEFAULT: [(&str, Arch); 5] = [
    ("BOOTX64.EFI", Arch::X86_64),
    ("BOOTAA64.EFI", Arch::Arm64),
    ("BOOTRISCV64.EFI", Arch::Riscv),
    ("BOOTARM.EFI", Arch::Arm),
    ("BOOTIA32.EFI", Arch::X86),
];

/// More programs, or folders of them, than anybody has on a disk.
const MOST: usize = 64;

/// A program's sections, by their names. They may lie over each other, so none is copied.
struct Sections<'p>(Vec<(String, &'p [u8])>);

impl<'p> Sections<'p> {
    fn of(program: &'p [u8]) -> Option<Self> {
        fn all<'d>(file: &impl Object<'d>) -> Vec<(String, &'d [u8])> {
            file.sections()
                .take(MOST)
                .filter_map(|section| {
                    let name = section.name().ok()?.to_owned();
                    Some((name, section.data().ok()?))
                })
                .collect()
        }
        let wide = PeFile64::parse(program).map(|file| all(&file));
        let found = wide.or_else(|_| PeFile32::parse(program).map(|file| all(&file)));
        found.ok().map(Self)
    }

    fn bytes(&self, name: &str) -> Option<&'p [u8]> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, bytes)| *bytes)
    }

    /// Text; sections are filled up with zeros.
    fn text(&self, name: &str) -> String {
        const MOST_TEXT: usize = 1 << 16;
        let bytes = self.bytes(name).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(MOST_TEXT)];
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches(['\0', '\n', ' ']).to_owned()
    }
}

/// A kernel with all that it needs in one program (UKI).
pub(crate) struct Unified {
    /// What is in it.
    pub(crate) entry: Entry,
    /// The kernel's version.
    pub(crate) version: String,
}

/// What a unified kernel image at `path` holds, if it is one.
pub(crate) fn unified(program: &[u8], path: &str) -> Option<Unified> {
    let sections = Sections::of(program)?;
    sections.bytes(".linux")?;
    let name = crate::system::release_value(&sections.text(".osrel"), "PRETTY_NAME");
    Some(Unified {
        entry: Entry {
            title: name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned()),
            kernel: path.to_owned(),
            cmdline: sections.text(".cmdline"),
            ..Entry::default()
        },
        version: sections.text(".uname"),
    })
}

/// The processor that the disk's programs are for.
pub(crate) fn arch(volumes: &[Volume]) -> Option<Arch> {
    let has = |path: &str| readable(volumes).any(|(_, files)| files.has(path));
    let found = DEFAULT
        .iter()
        .find(|(name, _)| has(&format!("EFI/BOOT/{name}")));
    found.map(|(_, arch)| *arch)
}

/// The first bytes of the code of the program that firmware starts of a disk if nothing else
/// was set up.
pub(crate) fn entry_code(volumes: &[Volume]) -> Option<Vec<u8>> {
    /// As much of a program is not found in another one; in these there is no jump in it.
    const ENOUGH: usize = 16;
    let (name, _) = DEFAULT.iter().find(|(_, of)| Some(*of) == arch(volumes))?;
    let path = format!("EFI/BOOT/{name}");
    let program = readable(volumes).find_map(|(_, files)| files.read(&path, MOST_FILE).ok())?;
    fn code<'d>(file: &impl Object<'d>) -> Option<Vec<u8>> {
        let entry = file.entry();
        let section = file.sections().take(MOST).find_map(|section| {
            let into = usize::try_from(entry.checked_sub(section.address())?).ok()?;
            section.data().ok()?.get(into..into.checked_add(ENOUGH)?)
        })?;
        section
            .iter()
            .any(|byte| *byte != 0)
            .then(|| section.to_vec())
    }
    let wide = PeFile64::parse(&*program).ok().and_then(|file| code(&file));
    wide.or_else(|| code(&PeFile32::parse(&*program).ok()?))
}

/// What firmware starts of this disk, the default first.
pub(super) fn programs(volumes: &[Volume]) -> Vec<Loader> {
    let mut found: Vec<Loader> = Vec::new();
    for (_, files) in readable(volumes).filter(|(n, _)| volumes[*n].kind == "vfat") {
        let mut folders = files.list("EFI").unwrap_or_default();
        folders.sort_by_key(|name| !name.eq_ignore_ascii_case("BOOT"));
        folders.retain(|name| !name.eq_ignore_ascii_case("Linux"));
        for folder in folders.into_iter().take(MOST) {
            for path in files
                .ending(&format!("EFI/{folder}"), ".efi")
                .into_iter()
                .take(MOST)
            {
                let Ok(program) = files.read(&path, MOST_FILE) else {
                    continue;
                };
                let Some(loader) = program_at(&program, &path) else {
                    continue;
                };
                if !found.iter().any(|known| known.name == loader.name) {
                    found.push(loader);
                }
            }
        }
    }
    found
}

fn program_at(program: &[u8], path: &str) -> Option<Loader> {
    let at = format!("/{path}");
    if let Some(unified) = unified(program, &at) {
        return Some(Loader {
            name: "UKI",
            version: unified.version,
            at,
            entries: vec![unified.entry],
            default: Some(0),
            ..Loader::default()
        });
    }
    let sections = Sections::of(program)?;
    let (name, version) = named(program, &sections)?;
    Some(Loader {
        name,
        version,
        at,
        ..Loader::default()
    })
}

fn named(program: &[u8], sections: &Sections<'_>) -> Option<(&'static str, String)> {
    let magic = sections.text(".sdmagic");
    if let Some((_, rest)) = magic.split_once("LoaderInfo: systemd-boot ") {
        let version = rest.split([' ', '#']).next().unwrap_or_default();
        return Some(("systemd-boot", version.to_owned()));
    }
    // component,generation,vendor,package,version,URL
    let sbat = sections.text(".sbat");
    let row = |name: &str| {
        let mut rows = sbat.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let row = rows.find(|row| row.first() == Some(&name))?;
        Some(row.get(4).copied().unwrap_or_default().to_owned())
    };
    if let Some(version) = row("shim") {
        return Some(("shim", version));
    }
    if let Some(version) = row("grub") {
        return Some(("GRUB", version));
    }
    let has = |text: &[u8]| memchr::memmem::find(program, text).is_some();
    if has(b"GRUB") && has(b"grub_") {
        return Some(("GRUB", String::new()));
    }
    if has(b"U-Boot 20") {
        return Some((
            "U-Boot",
            super::gap::version(program, b"U-Boot 20", "U-Boot "),
        ));
    }
    if has(b"iPXE") {
        return Some(("iPXE", String::new()));
    }
    None
}

/// A section of a program.
pub(super) fn section(program: &[u8], name: &str) -> Option<Vec<u8>> {
    let sections = Sections::of(program)?;
    sections.bytes(name).map(<[u8]>::to_vec)
}

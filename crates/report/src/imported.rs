//! What `import` found on a disk image, and how it will be booted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{FORMAT, line};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// What was found on an image: `bootlap import --json`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Imported {
    /// The image, as it was named.
    pub image: String,
    /// What had to be undone to read it: `xz`, `qcow2`; empty for a raw image.
    pub unpacked_from: Vec<String>,
    /// Bytes of the disk.
    pub bytes: u64,
    /// Its partition table; empty if it is no disk, but an initramfs beside a kernel.
    pub table: String,
    /// Its partitions; the whole disk, with the number 0, where there is no table or it is an
    /// ISO 9660, too.
    pub partitions: Vec<Partition>,
    /// Its boot loaders, the one that runs last first.
    pub loaders: Vec<Loader>,
    /// What it starts if nobody chooses; null if that is not known.
    pub starts: Option<Starts>,
    /// The processor, as Debian calls it.
    pub architecture: String,
    /// What was chosen for its target, and why.
    pub chosen: Vec<Chosen>,
    /// What is odd, or could not be known, and what to do about it.
    pub notes: Vec<String>,
    /// The file that describes the target.
    pub target: String,
}

/// What `blkid` calls a physical volume.
const LVM: &str = "LVM2_member";

/// A partition.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Partition {
    /// As Linux numbers it; a logical volume of LVM has one from 1001 on.
    pub number: u32,
    /// Its first byte.
    pub start: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its name in the table, or that of its file system; a logical volume's with its group.
    pub name: String,
    /// What is in it, as `blkid` calls it; empty if unknown.
    pub content: String,
    /// Whether its files could be read.
    pub read: bool,
    /// The system that is in it: distribution, processor, init.
    pub system: String,
}

/// A boot loader.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Loader {
    /// Its name.
    pub name: String,
    /// Its version, if it says so.
    pub version: String,
    /// Where its program is; empty if only its configuration was found.
    pub at: String,
    /// Its configuration: partition and path; empty if it has none.
    pub config: String,
}

/// What is started.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Starts {
    /// By what, and when: `GRUB waits 5 s and starts "Debian GNU/Linux"`.
    pub how: String,
    /// The kernel's path.
    pub kernel: String,
    /// Its version and format, if they could be read.
    pub version: String,
    /// The paths of its initramfs.
    pub initramfs: Vec<String>,
    /// Its command line.
    pub cmdline: String,
}

/// Something that was chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Chosen {
    /// The key, or the section, of the target's file.
    pub key: String,
    /// Its value, for people.
    pub value: String,
    /// Why.
    pub why: String,
}

/// What `import --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportedJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// What was found.
    #[serde(flatten)]
    pub imported: Imported,
}

/// The document.
///
/// # Errors
/// None for any outcome.
pub fn json(imported: &Imported, tool: &str) -> Result<String, serde_json::Error> {
    line(&ImportedJson {
        format: FORMAT,
        tool: tool.to_owned(),
        imported: imported.clone(),
    })
}

/// The same for a terminal.
pub fn text(imported: &Imported, style: &Style) -> String {
    let mut page = Page::new(style);
    let unpacked = match imported.unpacked_from.as_slice() {
        [] => String::new(),
        all => format!(", unpacked from {}", all.join(" and ")),
    };
    let what = match imported.table.as_str() {
        "" => format!(" kernel and initramfs for {}", imported.architecture),
        table => format!(
            " {} disk for {}, {table}{unpacked}",
            size(imported.bytes),
            imported.architecture,
        ),
    };
    let line = page.subject(&imported.image).with(&what, Ink::Plain);
    page.line(line);

    page.blank();
    let mut table = Table::new(&[
        ("partition", Align::Left),
        ("size", Align::Right),
        ("content", Align::Left),
        ("", Align::Flex),
    ]);
    for partition in &imported.partitions {
        let number = match (partition.number, partition.name.as_str()) {
            (0, _) => "all".to_owned(),
            (n, "") => n.to_string(),
            (n, name) => format!("{n} {name}"),
        };
        let content = match (partition.content.as_str(), partition.read) {
            ("", _) => "unknown".to_owned(),
            // Its logical volumes are listed below it, or a note says why not.
            (LVM, _) => LVM.to_owned(),
            (content, true) => content.to_owned(),
            (content, false) => format!("{content} (not read)"),
        };
        table.row(vec![
            cell(&number, Ink::Plain),
            cell(&size(partition.bytes), Ink::Plain),
            cell(&content, Ink::Plain),
            cell(&partition.system, Ink::Plain),
        ]);
    }
    table.render(&mut page);

    if !imported.loaders.is_empty() {
        page.heading("boot loaders");
    }
    for loader in &imported.loaders {
        let mut text = loader.at.clone();
        if !loader.config.is_empty() {
            let between = if text.is_empty() { "" } else { ", " };
            text = format!("{text}{between}set up in {}", loader.config);
        }
        let name = format!("{} {}", loader.name, loader.version);
        named(&mut page, name.trim(), &text);
    }
    if let Some(starts) = &imported.starts {
        page.heading(&starts.how);
        let version = match starts.version.as_str() {
            "" => String::new(),
            version => format!(" ({version})"),
        };
        if !starts.kernel.is_empty() {
            named(&mut page, "kernel", &format!("{}{version}", starts.kernel));
        }
        for path in &starts.initramfs {
            named(&mut page, "initramfs", path);
        }
        if !starts.cmdline.is_empty() {
            named(&mut page, "command line", &starts.cmdline);
        }
    }
    page.heading("chosen");
    for chosen in &imported.chosen {
        named(
            &mut page,
            &chosen.key,
            &format!("{}: {}", chosen.value, chosen.why),
        );
    }
    for note in &imported.notes {
        page.blank();
        page.wrapped(
            Line::indented(MARGIN).with("note ", Ink::Strong),
            note,
            Ink::Plain,
        );
    }
    page.finish()
}

fn named(page: &mut Page<'_>, name: &str, text: &str) {
    const NAME: usize = 14;
    let first = Line::indented(MARGIN + 2).with(&format!("{name:<NAME$} "), Ink::Faint);
    page.wrapped(first, text, Ink::Plain);
}

/// Bytes as people say them.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value < 10.0 && value.fract() > 0.05 {
        true => format!("{value:.1} {}", units[unit]),
        false => format!("{value:.0} {}", units[unit]),
    }
}

//! The units that systemd starts on a target's disk: `units`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{FORMAT, line};
use crate::terminal::{Align, Ink, Page, Style, Table, cell};

/// The units that systemd starts, as the files of a disk say it: `bootlap units --json`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UnitsJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// What the boot aims at.
    pub default: String,
    /// By name. What generators make is not among them.
    pub units: Vec<UnitJson>,
}

/// A unit.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UnitJson {
    /// Its name.
    pub name: String,
    /// What it calls itself.
    pub description: String,
    /// The units that have it started.
    pub started_by: Vec<String>,
    /// Those of them that do not start without it.
    pub needed_by: Vec<String>,
    /// Whether it is a part of the early boot, before `sysinit.target`.
    pub early: bool,
    /// Whether `systemd-defer` can have it started later, by itself.
    pub deferrable: bool,
    /// Whether `systemd-mask` can leave it out, by itself.
    pub maskable: bool,
}

/// What `units --json` prints.
///
/// # Errors
/// None for any list.
pub fn json(
    target: &str,
    default: &str,
    units: &[UnitJson],
    tool: &str,
) -> serde_json::Result<String> {
    line(&UnitsJson {
        format: FORMAT,
        tool: tool.to_owned(),
        target: target.to_owned(),
        default: default.to_owned(),
        units: units.to_vec(),
    })
}

/// The same for a terminal.
pub fn text(target: &str, default: &str, units: &[UnitJson], style: &Style) -> String {
    let mut page = Page::new(style);
    let later = units.iter().filter(|unit| unit.deferrable).count();
    let told = format!(
        " starts {} units for {default}; {later} can be started later",
        units.len()
    );
    let subject = page.subject(target).with(&told, Ink::Plain);
    page.line(subject);
    page.blank();
    let columns = [
        ("unit", Align::Left),
        ("", Align::Left),
        ("started by", Align::Flex),
    ];
    let mut table = Table::new(&columns);
    for unit in units {
        let can = match (unit.early, unit.deferrable, unit.maskable) {
            (true, _, _) => "early",
            (_, true, _) => "can be later",
            (_, _, true) => "",
            _ => "needed",
        };
        let by = match (unit.needed_by.as_slice(), unit.started_by.as_slice()) {
            ([], by) => by.join(", "),
            (needed, _) => format!("{} (needs it)", needed.join(", ")),
        };
        let row = [
            (&unit.name[..], Ink::Plain),
            (can, Ink::Faint),
            (&by, Ink::Faint),
        ];
        table.row(row.map(|(text, ink)| cell(text, ink)).to_vec());
    }
    table.render(&mut page);
    page.finish()
}

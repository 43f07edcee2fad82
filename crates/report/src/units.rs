//! What systemd, or init scripts, start from a target's disk: `units`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{FORMAT, line};
use crate::terminal::{Align, Ink, Page, Style, Table, cell};

/// What starts units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Starter {
    /// systemd.
    #[default]
    Systemd,
    /// Init scripts, one after the other.
    Scripts,
}

/// What is started, as the files of a disk say it: `bootlap units --json`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UnitsJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// What starts it.
    pub starter: Starter,
    /// What the boot aims at: a unit, or the script that runs the others.
    pub default: String,
    /// Units by name, without those that generators make; or scripts in their order.
    pub units: Vec<UnitJson>,
}

/// A unit, or an init script.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UnitJson {
    /// Its name.
    pub name: String,
    /// What it calls itself; of a script, its path.
    pub description: String,
    /// The units that have it started.
    pub started_by: Vec<String>,
    /// Those of them that do not start without it.
    pub needed_by: Vec<String>,
    /// Whether it is a part of the early boot, before `sysinit.target`.
    pub early: bool,
    /// Whether `systemd-defer` or `initscripts-defer` can have it started later, by itself.
    pub deferrable: bool,
    /// Whether `systemd-mask` or `initscripts-off` can leave it out, by itself.
    pub maskable: bool,
    /// Whether `systemd-on-demand` can have it started when it is asked for.
    pub on_demand: bool,
    /// Those that its own file has it start behind, or start, and that it does without:
    /// `systemd-unordered` can part them.
    pub waits_for: Vec<String>,
}

/// What `units --json` prints.
///
/// # Errors
/// None for any list.
pub fn json(
    target: &str,
    starter: Starter,
    default: &str,
    units: &[UnitJson],
    tool: &str,
) -> serde_json::Result<String> {
    line(&UnitsJson {
        format: FORMAT,
        tool: tool.to_owned(),
        target: target.to_owned(),
        starter,
        default: default.to_owned(),
        units: units.to_vec(),
    })
}

/// The same for a terminal.
pub fn text(
    target: &str,
    starter: Starter,
    default: &str,
    units: &[UnitJson],
    style: &Style,
) -> String {
    let mut page = Page::new(style);
    let later = units.iter().filter(|unit| unit.deferrable).count();
    let count = units.len();
    let told = match starter {
        Starter::Systemd => format!(" starts {count} units for {default}"),
        Starter::Scripts => format!(" runs {count} scripts by {default}"),
    };
    let told = format!("{told}; {later} can be started later");
    let subject = page.subject(target).with(&told, Ink::Plain);
    page.line(subject);
    page.blank();
    let (one, by) = match starter {
        Starter::Systemd => ("unit", "started by"),
        Starter::Scripts => ("script", "file"),
    };
    let columns = [(one, Align::Left), ("", Align::Left), (by, Align::Flex)];
    let mut table = Table::new(&columns);
    for unit in units {
        let can = match (unit.early, unit.deferrable, unit.maskable) {
            (true, _, _) => "early",
            (_, true, _) if unit.on_demand => "later, or on demand",
            (_, true, _) => "can be later",
            (_, _, true) => "",
            _ => "needed",
        };
        let by = match (unit.needed_by.as_slice(), unit.started_by.as_slice()) {
            _ if starter == Starter::Scripts => unit.description.clone(),
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

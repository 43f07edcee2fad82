//! `bootlap.toml`: options that are the same each time, in the folder of a project or above it.
//!
//! ```toml
//! [defaults]               # for every command that has such an option
//! runs = "boots"           # paths count from the file's folder
//! ready = "login:"
//!
//! [check]                  # for this one
//! budget = "ci/budget.toml"
//! strict = true
//! ```
//!
//! The command line comes first, then the environment, then the file. What would run a command is
//! not taken from a file that merely lies there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_rootfs::did_you_mean;
use clap::Command;
use toml_edit::{DocumentMut, Item, Table, Value};

const NAME: &str = "bootlap.toml";
/// For all commands.
const EVERY: &str = "defaults";
/// Options that run what they say.
const COMMANDS: [&str; 5] = ["on", "exec", "power-cmd", "power-off-cmd", "send"];
/// Options whose value is a place on this machine.
const PATHS: [&str; 9] = [
    "baseline", "before", "budget", "cache", "history", "junit", "out", "runs", "store",
];
/// Variables of the environment that say the same.
const VARIABLES: [(&str, &str); 3] = [
    ("cache", "BOOTLAP_CACHE"),
    ("share", "BOOTLAP_SHARE"),
    ("store", "BOOTLAP_STORE"),
];

/// The command line with the defaults of the file that is nearest, if there is one.
///
/// # Errors
/// If it cannot be read, or says something that no command understands: in words.
pub(crate) fn with_file(command: Command) -> Result<Command, String> {
    let here = env::current_dir().unwrap_or_default();
    let Some(path) = here
        .ancestors()
        .map(|dir| dir.join(NAME))
        .find(|p| p.is_file())
    else {
        return Ok(command);
    };
    let text =
        fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    with_text(command, &text, folder).map_err(|why| format!("{}: {why}", path.display()))
}

fn with_text(command: Command, text: &str, folder: &Path) -> Result<Command, String> {
    let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        let text = e.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })?;
    let mut command = command;
    for (name, item) in document.iter() {
        let table = item
            .as_table()
            .ok_or_else(|| format!("{name} is no section, such as [{EVERY}]"))?;
        command = section(command, name, table, folder)?;
    }
    Ok(command)
}

/// One section: `[defaults]`, or a command's.
fn section(command: Command, name: &str, table: &Table, folder: &Path) -> Result<Command, String> {
    let known: Vec<String> = command
        .get_subcommands()
        .map(|c| c.get_name().to_owned())
        .collect();
    let of: Vec<&String> = known
        .iter()
        .filter(|c| name == EVERY || *c == name)
        .collect();
    if of.is_empty() {
        let meant = did_you_mean(name, known.iter().map(String::as_str));
        return Err(format!("there is no command {name}{meant}"));
    }
    let mut command = command;
    for (key, item) in table.iter() {
        if COMMANDS.contains(&key) {
            return Err(format!(
                "{key} runs a command, and is taken from the command line only"
            ));
        }
        let having: Vec<&String> = of
            .iter()
            .copied()
            .filter(|c| command.find_subcommand(c).is_some_and(|c| has(c, key)))
            .collect();
        if having.is_empty() {
            let all = of.iter().filter_map(|c| command.find_subcommand(c));
            let all = all
                .flat_map(Command::get_arguments)
                .filter_map(|a| a.get_long());
            let meant = did_you_mean(key, all);
            return Err(format!("[{name}] has no option {key}{meant}"));
        }
        let said = VARIABLES.iter().find(|(option, _)| *option == key);
        if said.is_some_and(|(_, variable)| env::var_os(variable).is_some_and(|v| !v.is_empty())) {
            continue;
        }
        let Some(value) = value(key, item, folder)? else {
            continue;
        };
        for of in having {
            let value = value.clone();
            command = command.mut_subcommand(of, |c| {
                let id = c.get_arguments().find(|a| a.get_long() == Some(key));
                match id.map(|a| a.get_id().clone()) {
                    // What was required is there now.
                    Some(id) => c.mut_arg(id, |a| a.default_value(value).required(false)),
                    None => c,
                }
            });
        }
    }
    Ok(command)
}

fn has(command: &Command, option: &str) -> bool {
    command
        .get_arguments()
        .any(|a| a.get_long() == Some(option))
}

/// A value as it would be typed; `None` for a switch that is off.
fn value(key: &str, item: &Item, folder: &Path) -> Result<Option<String>, String> {
    Ok(Some(match item.as_value() {
        Some(Value::String(text)) if is_place(key, text.value()) => {
            let path: PathBuf = folder.join(text.value());
            path.display().to_string()
        }
        Some(Value::String(text)) => text.value().clone(),
        Some(Value::Integer(number)) => number.value().to_string(),
        Some(Value::Float(number)) => number.value().to_string(),
        Some(Value::Boolean(on)) => match on.value() {
            true => "true".to_owned(),
            false => return Ok(None),
        },
        _ => return Err(format!("{key} is a text, a number, or true")),
    }))
}

/// Not `none`, an address, or standard output.
fn is_place(key: &str, text: &str) -> bool {
    let other = text == "none" || text.starts_with(['-', '@']) || text.contains("://");
    PATHS.contains(&key) && !other
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::args::{self, Args};

    fn parsed(text: &str, words: &[&str]) -> Result<args::Command, String> {
        let command = with_text(Args::command(), text, Path::new("/project"))?;
        let matches = command
            .try_get_matches_from(words)
            .map_err(|e| e.to_string())?;
        Ok(Args::from_arg_matches(&matches)
            .map_err(|e| e.to_string())?
            .command)
    }

    #[test]
    fn the_file_says_what_the_command_line_does_not() {
        let text = "[defaults]\nruns = \"boots\"\n[check]\nbudget = \"b.toml\"\nstrict = true\n";
        let Ok(args::Command::Check(check)) = parsed(text, &["bootlap", "check", "a.log"]) else {
            panic!("no check");
        };
        assert_eq!(check.budget, Path::new("/project/b.toml"));
        assert_eq!(check.lab.runs, Path::new("/project/boots"));
        assert!(check.strict);
        let words = [
            "bootlap",
            "check",
            "a.log",
            "--budget",
            "mine.toml",
            "--runs",
            "r",
        ];
        let Ok(args::Command::Check(check)) = parsed(text, &words) else {
            panic!("no check");
        };
        assert_eq!(check.budget, Path::new("mine.toml"));
        assert_eq!(check.lab.runs, Path::new("r"));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let wrong = |text: &str| {
            parsed(text, &["bootlap", "doctor"])
                .err()
                .unwrap_or_default()
        };
        assert!(wrong("[chek]\nstrict = true").contains("there is no command chek"));
        assert!(wrong("[check]\nstrickt = true").contains("no option strickt"));
        assert!(wrong("[boot]\non = \"rm -r /\"").contains("runs a command"));
        assert!(wrong("[capture]\npower-cmd = \"x\"").contains("runs a command"));
        assert!(wrong("runs = \"x\"").contains("no section"));
        assert!(wrong("[show]\nlimit = [1]").contains("a number"));
        assert!(!wrong("[show").is_empty());
        assert_eq!(wrong("[show]\nlimit = 7"), "");
    }
}

//! `grub.cfg`, run on paper: variables, functions, other files, conditions that can be decided
//! without a machine, menu entries.
//!
//! ```text
//! search.fs_uuid 0123-abcd root
//! set prefix=($root)/boot/grub
//! configfile $prefix/grub.cfg
//! ```
//!
//! A condition that cannot be decided counts as not met, as it mostly guards what few machines
//! have. Where it decides what is started, that is said.

mod condition;
mod disk;
mod foresee;
mod run;
mod script;
#[cfg(test)]
mod tests;
mod value;

use disk::Disk;
use run::{Item, Menu};

use super::{Loader, Wait, readable};
use crate::table::Table;
use crate::volume::{Place, Volume};

const PATHS: [&str; 5] = [
    "boot/grub/grub.cfg",
    "grub/grub.cfg",
    "boot/grub2/grub.cfg",
    "grub2/grub.cfg",
    "EFI/BOOT/grub.cfg",
];

pub(super) fn read(table: &Table, volumes: &[Volume]) -> Option<Loader> {
    let mut found: Option<Loader> = None;
    for (volume, files) in readable(volumes) {
        let vendors = files.list("EFI").unwrap_or_default();
        let vendors = vendors
            .iter()
            .map(|vendor| format!("EFI/{vendor}/grub.cfg"));
        let paths = PATHS.iter().map(|path| (*path).to_owned()).chain(vendors);
        for path in paths.filter(|path| files.has(path)) {
            let disk = Disk { table, volumes };
            let loader = loader(run::run(disk, Place { volume, path }));
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

fn loader(menu: Menu) -> Loader {
    let default = default(&menu.items, &menu.default.text);
    let wait = match menu.timeout.parse::<i64>() {
        _ if menu.starts => Wait::Tenths(0),
        Ok(seconds) if seconds < 0 => Wait::Forever,
        Ok(seconds) => Wait::Tenths(u32::try_from(seconds.saturating_mul(10)).unwrap_or(u32::MAX)),
        // Its menu waits for somebody.
        Err(_) if !menu.items.is_empty() => Wait::Forever,
        Err(_) => Wait::Unknown,
    };
    let guess = default.and_then(|(at, by_name)| {
        let item = &menu.items[at];
        let of_menu = menu
            .doubt
            .filter(|(from, _)| !by_name && item.place.first() >= Some(from));
        let doubt = menu.default.doubt.or_else(|| item.doubt.clone());
        doubt.or(of_menu.map(|(_, doubt)| doubt))
    });
    Loader {
        name: "GRUB",
        config: Some((*menu.config).clone()),
        wait,
        default: default.map(|(at, _)| at),
        guess: guess.map(|asked| (*asked).to_owned()),
        entries: menu.items.into_iter().map(|item| item.entry).collect(),
        ..Loader::default()
    }
}

/// The item that `default` means, and whether it names it.
fn default(items: &[Item], wanted: &str) -> Option<(usize, bool)> {
    let wanted = if wanted.is_empty() { "0" } else { wanted };
    let named = |item: &Item| {
        let last = wanted.rsplit('>').next().unwrap_or(wanted);
        item.names.iter().any(|name| name == wanted || name == last)
    };
    if let Some(at) = items.iter().position(named) {
        return Some((at, true));
    }
    let place: Option<Vec<usize>> = wanted.split('>').map(|n| n.trim().parse().ok()).collect();
    // A submenu as a whole means its first entry.
    let at = place.and_then(|place| items.iter().position(|item| item.place.starts_with(&place)));
    // What it does not have is the first, too.
    at.or((!items.is_empty()).then_some(0))
        .map(|at| (at, false))
}

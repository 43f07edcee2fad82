//! Recipes for init scripts on a disk: what they start, which of them run, and when.

use std::collections::BTreeSet;

use bootlap_image::inittab::INITTAB;
use bootlap_image::scripts::{Script, Scripts};
use bootlap_image::system::Init;

use super::list::members;
use super::{LATER_STARTED, Listed, Plain};
use crate::{Edit, Parts, Target};

/// Init scripts do by themselves what they start programs for.
///
/// Each process that a script starts costs a fork, an exec and an exit: a millisecond or two on
/// a small processor, and a script starts dozens. Where the shell gets to the same result
/// (`mkdir -p` of what is there, `$(cat f)` of a line, `echo $x | cut`, `expr`, `basename`), it
/// does. Each replacement tests that at run time, and runs the old command otherwise; output,
/// exit status, variables and files are the same. What is not understood is left alone.
pub(super) const BUILTINS: Plain = Plain::new(
    "initscripts-builtins",
    "init scripts do by themselves what they start programs for",
    "the scripts are longer and harder to read; apply it to what is shipped, not to what is edited",
    builtins,
);

/// Init scripts run once the boot is over.
///
/// They move to a folder of their own, and a last script starts them two seconds later, in the
/// background and in their order. System V's init and OpenRC start that one by `/etc/inittab`, all
/// others by its name. Nothing is lost, only later: a line on the console says that they were
/// started, and `ready.later` has experiments boot once until it comes.
pub(super) const DEFER: Plain = Plain::new(
    "initscripts-defer",
    "init scripts run once the boot is over",
    "what they do comes some seconds later, and what needs them has to wait",
    defer,
)
.lists(Listed::Changed);

/// Init scripts do not run at all.
///
/// They go from the folder that is run. `bootlap minimise` finds the most that a target does
/// without.
pub(super) const OFF: Plain = Plain::new(
    "initscripts-off",
    "init scripts do not run",
    "what they do is not done",
    off,
)
.lists(Listed::Changed);

/// Where scripts are that run later.
const FOLDER: &str = "/etc/bootlap-later.d";
/// The script that starts them, where init's table names it.
const STARTER: &str = "/etc/bootlap-later";
/// The same as the last of a folder, by its name.
const LAST: &str = "S99zz-bootlap-later";

/// What starts the others, at the next moment at which nothing else is to be done.
fn starter() -> String {
    format!(
        "#!/bin/sh\n\
         # Starts what was put off until the boot is over, two seconds later.\n\
         case \"${{1-start}}\" in\n\
         start | boot)\n\
         \t(\n\
         \t\tsleep 2\n\
         \t\tfor i in {FOLDER}/*; do \"$i\" \"${{1-start}}\"; done\n\
         \t\techo '{LATER_STARTED}' >/dev/console\n\
         \t) </dev/null >/dev/console 2>&1 &\n\
         \t;;\n\
         *)\n\
         \tfor i in $(ls -r {FOLDER}); do \"{FOLDER}/$i\" \"$1\"; done\n\
         \t;;\n\
         esac\n"
    )
}

fn builtins(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = parts
        .disk
        .as_ref()
        .ok_or("there is no [disk] with init scripts on it")?;
    let (partition, _) = disk.scripts()?;
    let changed = target.spec.disk.as_ref();
    let mut edits = Vec::new();
    let mut why = None;
    for (file, new) in disk.rewritten()? {
        let place = format!("{partition}:{file}");
        let is_changed = |disk: &crate::spec::Disk| {
            disk.texts.contains_key(&place) || disk.remove.contains(&place)
        };
        match new {
            Ok(new) if !changed.is_some_and(is_changed) => {
                edits.push(Edit::set(&format!("disk.texts.{place:?}"), new.text));
            }
            Ok(_) => why = Some("they are changed already".to_owned()),
            Err(reason) => why = why.or(Some(format!("{file}: {reason}"))),
        }
    }
    match edits.is_empty() {
        true => Err(why.unwrap_or_else(|| "there are no scripts".to_owned())),
        false => Ok(edits),
    }
}

fn off(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, _, scripts) = asked(target, parts, value)?;
    let edits = scripts.iter();
    Ok(edits
        .flat_map(|script| take_away(target, partition, script))
        .collect())
}

/// The edits by which a script is not where it was, nor what an earlier change wrote there.
fn take_away(target: &Target, partition: u32, script: &Script) -> Vec<Edit> {
    let place = format!("{partition}:{}", script.path);
    let disk = target.spec.disk.as_ref();
    let is_written = disk.is_some_and(|disk| disk.texts.contains_key(&place));
    let written = is_written.then(|| Edit::remove(&format!("disk.texts.{place:?}")));
    let removed = Edit::add("disk.remove", place);
    written.into_iter().chain([removed]).collect()
}

fn defer(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let (partition, all, scripts) = asked(target, parts, value)?;
    let at = |path: &str| format!("{partition}:{path}");
    let mut edits = Vec::new();
    for script in &scripts {
        edits.extend(take_away(target, partition, script));
        let place = at(&format!("{FOLDER}/{}", name_later(&all, script)));
        let linked = script.path != script.file;
        edits.push(match (linked, &script.text) {
            (true, _) => Edit::set(&format!("disk.links.{place:?}"), script.file.clone()),
            (false, Some(text)) if text.starts_with("#!") => {
                // As it is now, if something was changed in it already.
                let place_now = at(&script.path);
                let disk = target.spec.disk.as_ref();
                let text = disk
                    .and_then(|disk| disk.texts.get(&place_now))
                    .unwrap_or(text);
                Edit::set(&format!("disk.texts.{place:?}"), text.clone())
            }
            (false, _) => {
                let path = &script.path;
                return Err(format!("{path} is no script that names its shell"));
            }
        });
    }
    edits.extend(start_later(target, partition, &all)?);
    Ok(edits)
}

/// The edits that have what is in [`FOLDER`] started once the boot is over.
pub(super) fn start_later(
    target: &Target,
    partition: u32,
    all: &Scripts,
) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    let at = |path: &str| format!("{partition}:{path}");
    let disk = target.spec.disk.as_ref();
    let inittab = disk.and_then(|disk| disk.texts.get(&at(INITTAB)));
    let inittab = all.with_last(inittab.unwrap_or(&all.inittab), STARTER);
    let last = all.started.last();
    let last = last.and_then(|script| script.path.rsplit_once('/'));
    let place = match (&inittab, last) {
        (Some(_), _) => STARTER.to_owned(),
        (None, Some((folder, _))) if all.init != Init::Openrc => format!("{folder}/{LAST}"),
        _ => {
            return Err(format!(
                "OpenRC's own init has no {INITTAB} to start them later"
            ));
        }
    };
    let text = |path: &str, text: String| Edit::set(&format!("disk.texts.{:?}", at(path)), text);
    edits.push(text(&place, starter()));
    edits.extend(inittab.map(|table| text(INITTAB, table)));
    if target.spec.ready.later.is_none() {
        edits.push(Edit::set("ready.later", LATER_STARTED));
    }
    Ok(edits)
}

/// The edit that has a script wait there, before all others if its name comes first.
pub(super) fn text_later(partition: u32, name: &str, text: String) -> Edit {
    let place = format!("{partition}:{FOLDER}/{name}");
    Edit::set(&format!("disk.texts.{place:?}"), text)
}

/// What a script is called where it waits: names of several folders have no order.
fn name_later(all: &Scripts, script: &Script) -> String {
    let folder = |script: &Script| {
        script
            .path
            .rsplit_once('/')
            .map(|(folder, _)| folder.to_owned())
    };
    let place = all.started.iter().position(|one| one == script);
    match place {
        Some(place) if all.started.iter().any(|one| folder(one) != folder(script)) => {
            format!("{place:03}-{}", script.name)
        }
        _ => script.name.clone(),
    }
}

/// The partition of the root with init scripts, all of them, and those that are named.
fn asked(
    target: &Target,
    parts: &Parts,
    value: &str,
) -> Result<(u32, Scripts, Vec<Script>), String> {
    let disk = parts
        .disk
        .as_ref()
        .ok_or("there is no [disk] with init scripts on it")?;
    let (partition, all) = disk.scripts()?;
    let names: BTreeSet<String> = members(value).into_iter().collect();
    if names.is_empty() {
        return Err("name scripts with commas between, as S40network,S80ntp".into());
    }
    let mut scripts = Vec::new();
    for name in names {
        let script = all.started.iter().find(|script| script.name == name);
        let script = script.ok_or_else(|| {
            format!("{name} is not among the scripts that are run; `bootlap units` lists them")
        })?;
        if is_removed(target, partition, script) {
            return Err(format!("{name} was taken away already"));
        }
        scripts.push(script.clone());
    }
    Ok((partition, all, scripts))
}

/// Whether an earlier change took a script away.
pub(super) fn is_removed(target: &Target, partition: u32, script: &Script) -> bool {
    let place = format!("{partition}:{}", script.path);
    let disk = target.spec.disk.as_ref();
    disk.is_some_and(|disk| disk.remove.contains(&place))
}

//! What programs do with files that they need not do.

use bootlap_analysis::{FileAccess, Search, is_of_kernel};
use bootlap_model::Milestone;

use super::checks;
use crate::{Boot, Finding};

checks! {
    "app-timezone-lookups" => timezone,
    "app-opened-again" => opened_again,
    "app-small-reads" => small_reads,
    "app-read-again" => read_again,
    "app-searches" => searches,
}

/// A call that finds its file in memory takes a µs or a few: fewer calls are no finding.
const MANY: u64 = 200;
const MANY_OPENS: u64 = 50;
const MANY_BYTES: u64 = 1_000_000;
/// A read gives a page at least where nobody asks for less.
const SMALL_BYTES: u64 = 256;
/// Findings beyond these are not the next thing to do.
const AT_MOST_FINDINGS: usize = 3;

/// Where glibc and musl look for the zone.
const ZONE: &str = "/etc/localtime";

/// Files that are no views of the kernel, of which the boot made use before it was ready.
fn files<'b>(boot: &'b Boot<'_>) -> impl Iterator<Item = &'b FileAccess> {
    let ready = boot.moment(&[Milestone::Ready]).unwrap_or(i64::MAX);
    boot.accesses().files.iter().filter(move |file| {
        !is_of_kernel(&file.file)
            && !file.file.starts_with('(')
            && file.first_ns.is_none_or(|first| first < ready)
    })
}

fn finding(file: &FileAccess, what: String) -> Finding {
    let who = match &file.programs[..] {
        [] => "a program".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    Finding::new()
        .why(format!("{who}: {what}"))
        .saves_unknown("a call takes a few µs, far more if it waits for the disk")
        .seen([file.evidence])
}

fn timezone(boot: &Boot<'_>) -> Option<Finding> {
    let file = files(boot).find(|file| file.file == ZONE)?;
    (file.looks + file.missing >= MANY * file.processes).then(|| {
        finding(
            file,
            format!("{} looks at {ZONE}", file.looks + file.missing),
        )
    })
}

/// Not folders on the way to others, which are opened and not read.
fn opened_again(boot: &Boot<'_>) -> Vec<Finding> {
    files(boot)
        .filter(|file| file.opens >= MANY_OPENS * file.processes && file.reads >= file.opens)
        .map(|file| {
            finding(
                file,
                format!("{} is opened {} times", file.file, file.opens),
            )
            .titled(format!("{} is opened again and again", file.file))
        })
        .take(AT_MOST_FINDINGS)
        .collect()
}

fn small_reads(boot: &Boot<'_>) -> Vec<Finding> {
    let is_small = |file: &&FileAccess| {
        file.reads >= MANY && file.read_bytes / file.reads.max(1) < SMALL_BYTES
    };
    files(boot)
        .filter(is_small)
        .map(|file| {
            let each = file.read_bytes / file.reads;
            finding(
                file,
                format!(
                    "{} reads of {} that give {each} bytes each",
                    file.reads, file.file
                ),
            )
            .titled(format!("{} is read in small pieces", file.file))
        })
        .take(AT_MOST_FINDINGS)
        .collect()
}

/// A file of some size that is read from its beginning by several opens.
fn read_again(boot: &Boot<'_>) -> Vec<Finding> {
    let is_again = |file: &&FileAccess| {
        file.opens >= 2
            && file.reads > 0
            && file.read_bytes >= MANY_BYTES
            && file.programs.len() == 1
    };
    files(boot)
        .filter(is_again)
        .map(|file| {
            finding(
                file,
                format!(
                    "{} KB of {} by {} opens",
                    file.read_bytes / 1000,
                    file.file,
                    file.opens
                ),
            )
            .titled(format!("{} is read several times", file.file))
        })
        .take(AT_MOST_FINDINGS)
        .collect()
}

/// A name that is looked for in fewer folders has its place there, or has none.
const FOLDERS: u64 = 4;

/// By the program that looked: all its searches together.
fn searches(boot: &Boot<'_>) -> Vec<Finding> {
    let mut of: Vec<(&str, Vec<&Search>)> = Vec::new();
    let searches = &boot.accesses().searches;
    for search in searches.iter().filter(|search| search.places >= FOLDERS) {
        match of
            .iter_mut()
            .find(|(program, _)| *program == search.program)
        {
            Some((_, all)) => all.push(search),
            None => of.push((&search.program, vec![search])),
        }
    }
    let missing = |all: &[&Search]| all.iter().map(|search| search.missing).sum::<u64>();
    of.retain(|(_, all)| missing(all) >= MANY);
    of.sort_by_key(|(_, all)| std::cmp::Reverse(missing(all)));
    of.truncate(AT_MOST_FINDINGS);
    let finding = |(program, all): (&str, Vec<&Search>)| {
        let most = all[0];
        let why = format!(
            "{} calls find nothing where they look, {} of them for {} in {} folders",
            missing(&all),
            most.missing,
            most.name,
            most.places
        );
        Finding::new()
            .titled(format!(
                "{program} looks for files in folders where they are not"
            ))
            .why(why)
            .saves_unknown("a call takes a few µs, far more if it waits for the disk")
            .seen([most.evidence])
    };
    of.into_iter().map(finding).collect()
}

//! `bootlap layout`: the files of a boot in the order of their use, for what makes
//! images.

use std::collections::HashSet;
use std::fs;

use bootlap_engine::Progress;
use bootlap_engine::evidence::reads::{self, Named, Which};
use bootlap_engine::evidence::{self, disk_files};
use bootlap_engine::{Exit, Failure};
use bootlap_lab::Run;
use bootlap_model::{Timeline, shell_word};
use bootlap_rootfs::layout::{self, List};
use bootlap_rootfs::root_image::{self, RootImage};

use crate::args::{Layout, LayoutFormat};
use crate::ui::{Ui, harmless};

pub(crate) fn run(args: &Layout, ui: &Ui) -> Result<Exit, Failure> {
    let (timeline, named) = match of_disk(args)? {
        Some(named) => (Timeline::default(), named),
        None => {
            let timeline = reads::read(&args.inputs)?;
            let named = paths(args, &timeline)?;
            (timeline, named)
        }
    };
    let mut list = list(args, &named.paths)?;
    list.left_out += named.left_out;
    if list.files == 0 {
        let why = "none of the files that were read can be put into the list";
        let hint = match args.root {
            Some(_) => "--root is the folder that the image is made of; is it of this target?",
            None => "their names cannot be written: rename them",
        };
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    if reads::shortcomings(&timeline).1 {
        ui.note("this pack was recorded without tracefs: it has no order of time");
    }
    if list.left_out > 0 {
        ui.note(&format!(
            "{} files that were read are not in the list: not in the folder or the image, or their names cannot be written",
            list.left_out
        ));
    }
    let out = args.out.display().to_string();
    fs::write(&args.out, &list.bytes)
        .map_err(|e| Failure::new(Exit::Internal, format!("cannot write {out}: {e}")))?;
    ui.print(&harmless(&next(args, &list, &out)));
    Ok(Exit::Ok)
}

/// What a run read of its target's disk, as its machine was asked for it.
fn of_disk(args: &Layout) -> Result<Option<Named>, Failure> {
    let [dir] = &args.inputs[..] else {
        return Ok(None);
    };
    if !Run::is_run(dir) || args.image.is_some() {
        return Ok(None);
    }
    let run = Run::open(dir)?;
    let timeline = evidence::read_run(&run)?.timeline;
    if timeline.requests.is_empty() {
        return Ok(None);
    }
    let read = disk_files::of_run(&run, &timeline)?;
    let preload = args.format == LayoutFormat::Preload;
    let wanted = |file: &_| !preload || disk_files::is_mostly_read(file);
    Ok(Some(Named {
        paths: read.on_root(wanted)?,
        left_out: 0,
    }))
}

/// In the order of their first use.
fn paths(args: &Layout, timeline: &Timeline) -> Result<Named, Failure> {
    let Some(image) = &args.image else {
        return reads::named(timeline, &args.place);
    };
    let image = RootImage::open(image)?;
    let which = Which {
        place: &args.place,
        device: args.device,
    };
    let mut uses = reads::of_image(timeline, &image, &which)?;
    uses.uses.sort_by_key(|each| each.ns);
    let mut seen = HashSet::new();
    let once = uses.uses.iter().filter(|each| seen.insert(each.file));
    let files = once.filter_map(|each| image.files.get(each.file));
    Ok(Named {
        paths: files.map(|file| file.path.clone()).collect(),
        left_out: uses.unknown + uses.nameless,
    })
}

fn list(args: &Layout, paths: &[String]) -> Result<List, Failure> {
    let mut paths: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
    let entries = args.root.as_deref().map(root_image::entries).transpose()?;
    if let LayoutFormat::Mke2fs | LayoutFormat::Erofs = args.format {
        let Some(entries) = entries else {
            let why = "an archive has all of the root, and not only what a boot reads";
            return Err(Failure::new(Exit::Usage, why)
                .hint("--root DIR names the folder that the image is made of"));
        };
        return Ok(layout::for_tar(&paths, &entries));
    }
    let all = paths.len();
    if let Some(entries) = &entries {
        let files = entries.iter().filter(|entry| !entry.is_folder);
        let exists: HashSet<&[u8]> = files.map(|entry| &entry.path[..]).collect();
        paths.retain(|path| exists.contains(path));
    }
    let gone = all - paths.len();
    let mut list = match args.format {
        LayoutFormat::BootImage | LayoutFormat::Preload => layout::for_boot_image(&paths),
        _ => layout::for_mksquashfs(&paths),
    };
    list.left_out += gone;
    Ok(list)
}

/// What is done with the list.
fn next(args: &Layout, list: &List, out: &str) -> String {
    let root = args.root.as_ref();
    let root = root.map_or("ROOT".to_owned(), |root| shell_word(root.display()));
    let files = list.files;
    let out = &shell_word(out);
    let tar = format!("tar -cf root.tar -C {root} --no-recursion --files-from={out} &&");
    let then = match args.format {
        LayoutFormat::BootImage => format!("bootlap try TARGET boot-image={out}"),
        LayoutFormat::Preload => format!("bootlap try TARGET preload={out}"),
        LayoutFormat::Squashfs => format!("mksquashfs {root} IMAGE -sort {out}"),
        LayoutFormat::Mke2fs => format!("{tar} mke2fs -t ext4 -d root.tar IMAGE SIZE"),
        LayoutFormat::Erofs => {
            format!("{tar} mkfs.erofs --tar=f --sort=none -E^inline_data IMAGE root.tar")
        }
    };
    format!("{out}: {files} files in the order of their use; next: {then}")
}

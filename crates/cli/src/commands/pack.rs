//! `bootlap pack`: a pack for bootlap-agent replay, made on the host.

use std::fs;

use bootlap_engine::evidence::reads::{self, Uses, Which};
use bootlap_engine::{Exit, Failure};
use bootlap_rootfs::root_image::RootImage;
use bootlap_wire::pack::{self, System};

use crate::args::Pack;
use crate::ui::{Ui, harmless};

/// What nearly all targets have; only people look at it.
const PAGE: u32 = 4096;

pub(crate) fn run(args: &Pack, ui: &Ui) -> Result<Exit, Failure> {
    let timeline = reads::read(&args.inputs)?;
    let image = RootImage::open(&args.image)?;
    let which = Which {
        place: &args.place,
        device: args.device,
    };
    let uses = reads::of_image(&timeline, &image, &which)?;
    let (lost, unordered) = reads::shortcomings(&timeline);
    let unnamed = uses.unknown + uses.nameless;
    let mut pack = pack::Pack {
        systems: vec![System {
            id: image.id,
            kind: image.kind,
            place: args.place.clone().into_bytes(),
        }],
        lost,
        unnamed: u32::try_from(unnamed).unwrap_or(u32::MAX),
        unordered,
        page: PAGE,
        // No time of making: the same input gives the same bytes.
        ..pack::Pack::default()
    };
    pack::fill(&mut pack, &uses.files, uses.uses.clone());
    let bytes = pack
        .to_bytes()
        .map_err(|e| Failure::new(Exit::NothingUsable, e))?;
    fs::write(&args.out, bytes).map_err(|e| {
        let why = format!("cannot write {}: {e}", args.out.display());
        Failure::new(Exit::Internal, why)
    })?;
    ui.print(&harmless(&said(args, &pack, &uses, &image)));
    Ok(Exit::Ok)
}

fn said(args: &Pack, pack: &pack::Pack, uses: &Uses, image: &RootImage) -> String {
    let is_metadata = |file: usize| pack.files.get(file).is_some_and(|f| f.path.is_empty());
    let kib = |metadata: bool| {
        let its = pack.extents.iter();
        let its = its.filter(|e| is_metadata(e.file) == metadata);
        its.map(|e| u64::from(e.length)).sum::<u64>().div_ceil(1024)
    };
    let files = pack.files.iter().filter(|f| !f.path.is_empty()).count();
    let mut text = format!(
        "{}: {files} files, {} KiB, and {} KiB of metadata, of {} mounted at {}\n",
        args.out.display(),
        kib(false),
        kib(true),
        args.image.display(),
        args.place
    );
    if uses.unknown > 0 {
        // An inode of a trace may be one of these.
        let odd = match image.left_out {
            0 => "",
            _ => ", of names that are no UTF-8",
        };
        text += &format!(
            "  {} more that were read are not in the image: made during the boot, changed since{odd}, or no files\n",
            uses.unknown
        );
    }
    if uses.nameless > 0 {
        text += &format!(
            "  {} more that were read have names that are no UTF-8 and are left out\n",
            uses.nameless
        );
    }
    if uses.elsewhere > 0 {
        text += &format!(
            "  {} reads of other file systems are left out\n",
            uses.elsewhere
        );
    }
    if pack.lost > 0 {
        text += "  the kernel lost events: some of what was read is missing\n";
    }
    text
}

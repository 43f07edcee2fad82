//! `bootlap touched`: which files of the initramfs a boot opens.

use bootlap_model::shell_word;
use std::fs;

use bootlap_engine::Progress;
use bootlap_engine::bootable::Bootable;
use bootlap_engine::broken::never_ready;
use bootlap_engine::equal::boot_equal;
use bootlap_engine::lab::{Lab, load};
use bootlap_engine::touched::touched;
use bootlap_engine::{Exit, Failure};
use bootlap_lab::Run;
use bootlap_product::Machine;

use crate::args::Touched;
use crate::ui::Ui;

pub(crate) fn run(args: &Touched, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let target = load(&args.target)?;
    let Machine::Qemu(_) = target.machine else {
        let why = "touched watches emulated machines only, and this is a board";
        let hint = "write the list by hand (a path a line), or describe the initramfs as a target \
                    for QEMU";
        return Err(Failure::new(Exit::Usage, why).hint(hint));
    };
    let stock = lab.prepare_target(target)?;
    // How long to watch: a boot says how long it takes.
    let first = boot_once(&lab, &stock)?;
    if let Some(failure) = never_ready(&first) {
        return Err(failure);
    }
    let ready_ns = first.ready().map_or(0, |ready| ready.ns);
    let script = first.dir.join("touched-init");
    let list = touched(&lab, &stock, ready_ns, &script, |watched| {
        boot_once(&lab, watched)
    })?;
    let files = list.iter().filter(|b| **b == b'\n').count();
    fs::write(&args.out, &list).map_err(|e| {
        Failure::new(
            Exit::Usage,
            format!("cannot write {}: {e}", args.out.display()),
        )
    })?;
    let out = shell_word(args.out.display());
    ui.note(&format!(
        "{out} lists {files} files that the boot opened; `bootlap try {} initramfs-touched={out}` \
         measures what the others cost",
        shell_word(args.target.display())
    ));
    Ok(Exit::Ok)
}

fn boot_once(lab: &Lab<'_>, target: &Bootable) -> Result<Run, Failure> {
    let runs = boot_equal(lab, target, 1, "")?;
    let run = runs.into_iter().next();
    run.ok_or_else(|| Failure::new(Exit::Internal, "a boot left no run"))
}

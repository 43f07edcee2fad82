//! `bootlap calibrate`: how fast a real board is, from one log of it.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use bootlap_analysis::calibrate::{Rate, calibrate};
use bootlap_engine::broken::never_ready;
use bootlap_engine::equal::boot_equal;
use bootlap_engine::evidence::ReadOptions;
use bootlap_engine::evidence::{self, TOOL};
use bootlap_engine::lab::{Lab, load};
use bootlap_engine::{Exit, Failure, Progress};
use bootlap_lab::{Mode, Run};
use bootlap_model::Timeline;
use bootlap_product::{BoardModel, Machine, Target};
use bootlap_report::calibration::{self, CalibrationReport};

use crate::args::Calibrate;
use crate::ui::Ui;

pub(crate) fn run(args: &Calibrate, ui: &Ui) -> Result<Exit, Failure> {
    let lab = args.lab.lab(ui)?;
    let target = args.target.as_deref().map(load).transpose()?;
    // The log first: it costs nothing, and a mistake in it would cost a boot.
    let mut how = ReadOptions {
        format: args.format.clone(),
        ..ReadOptions::default()
    };
    if let Some(target) = &target {
        how.ready = Some(target.spec.ready.pattern.clone());
    }
    let board = evidence::read(&args.log, &how)?;
    let baud = match (args.baud, target.as_ref().and_then(Target::console_baud)) {
        (Some(stated), _) => Rate::Stated(stated),
        (None, Some(told)) => Rate::Told(told),
        (None, None) => Rate::Unknown,
    };
    let run = match &args.run {
        Some(dir) => counted(Run::open(dir)?)?,
        None => boot_in_lab(&lab, target.clone())?,
    };
    let simulated = evidence::read_run(&run)?;
    let found = calibrate(&simulated.timeline, &board.timeline, baud);
    let known = target.as_ref().and_then(|target| target.board.as_ref());
    let mut report = CalibrationReport {
        name: args.name.clone(),
        log: board.about.run,
        run: run.dir.display().to_string(),
        calibration: found.map_err(|why| Failure::new(Exit::NothingUsable, why))?,
        kept: known.map_or(Vec::new(), BoardModel::hardware),
        lived: None,
        tool: TOOL.to_owned(),
    };
    if let (Some(target), None) = (target, &args.run) {
        // What arithmetic found is worth having without.
        if let Err(failure) = live(&lab, &target, &board.timeline, &mut report) {
            report.lived = None;
            ui.note(&format!("not booted in that time: {}", failure.message));
        }
    }
    if let Some(file) = &args.out {
        write(file, &report.fragment())?;
    }
    ui.show(
        args.json,
        || calibration::json(&report),
        |style| calibration::text(&report, style),
    )?;
    Ok(Exit::Ok)
}

/// How near a boot in the board's time must come to the log before it is left at that, as
/// a share, and how many boots there are at most.
const NEAR: f64 = 0.002;
const MOST_BOOTS: usize = 3;

/// Boots the target in the time that was found, and mends the speeds by what comes of it.
fn live(
    lab: &Lab<'_>,
    target: &Target,
    log: &Timeline,
    report: &mut CalibrationReport,
) -> Result<(), Failure> {
    let nothing = |why| Failure::new(Exit::NothingUsable, why);
    for boot in 1..=MOST_BOOTS {
        let mut target = target.clone();
        let board = BoardModel::parse(&report.fragment());
        target.board = Some(board.map_err(|why| Failure::new(Exit::Internal, why))?);
        let run = booted(lab, target)?;
        if run.manifest.mode != Mode::Modelled {
            // Asked for by hand: nothing was lived.
            return Ok(());
        }
        let modelled = evidence::read_run(&run)?.timeline;
        let found = &mut report.calibration;
        let lived = found.lived(&modelled, log).map_err(nothing)?;
        report.lived = Some(lived);
        if lived.off() < NEAR || boot == MOST_BOOTS {
            break;
        }
        found.mend();
    }
    Ok(())
}

/// A run whose time is no board's already.
fn counted(run: Run) -> Result<Run, Failure> {
    if run.manifest.mode != Mode::Modelled {
        return Ok(run);
    }
    let why = format!("{} is in a board's time already", run.dir.display());
    Err(Failure::new(Exit::Usage, why).hint("boot the target with --simulated, and name that run"))
}

fn boot_in_lab(lab: &Lab<'_>, target: Option<Target>) -> Result<Run, Failure> {
    let missing = || Failure::new(Exit::Usage, "name a --target to boot, or a --run of it");
    let mut target = target.ok_or_else(missing)?;
    // What it says of the board is to be found: the lab counts, without it.
    target.board = None;
    if let Machine::Board(_) = target.machine {
        let failure = Failure::new(
            Exit::Usage,
            format!(
                "{} is a real board; a log of it is compared with a boot of the same software in \
                 the lab",
                target.spec.name
            ),
        );
        return Err(failure.hint("name a target with `kind = \"qemu\"` that stands for it"));
    }
    booted(lab, target)
}

fn booted(lab: &Lab<'_>, target: Target) -> Result<Run, Failure> {
    let bootable = lab.prepare_target(target)?;
    let mut runs = boot_equal(lab, &bootable, 1, "")?;
    match runs.pop() {
        Some(run) => never_ready(&run).map_or(Ok(run), Err),
        None => Err(Failure::new(Exit::Internal, "there was no boot")),
    }
}

/// Writes a file that is not there yet: it could be a target.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let written = File::create_new(file).and_then(|mut f| f.write_all(text.as_bytes()));
    written.map_err(|e| {
        let failure = |exit| Failure::new(exit, format!("cannot write {}: {e}", file.display()));
        match e.kind() {
            ErrorKind::AlreadyExists => failure(Exit::Usage)
                .hint("name a new file; bootlap changes no target.toml, so paste it yourself"),
            ErrorKind::NotFound => failure(Exit::Usage),
            _ => failure(Exit::Internal),
        }
    })
}

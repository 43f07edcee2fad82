//! `bootlap boot` of a board: strictly one boot after the other, each a run,
//! and what they have in common.

use bootlap_model::shell_word;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use bootlap_advice::advise;
use bootlap_analysis::Lap;
use bootlap_engine::broken::never_ready;
use bootlap_engine::evidence::{self, Recorded};
use bootlap_engine::lab::{self, Lab};
use bootlap_engine::{Exit, Failure};
use bootlap_lab::{Board, LabError, Mode, Outcome, Run};
use bootlap_product::{Board as Spec, Target};
use bootlap_report::About;
use bootlap_report::format::duration;
use bootlap_report::series::{self, LapAbout, SeriesReport};

use crate::args::Boot;
use crate::commands::shown;
use crate::signals::stop_flag;
use crate::ui::{self, Ui};

pub(crate) fn run(
    args: &Boot,
    ui: &Ui,
    lab: &Lab<'_>,
    target: &Target,
    spec: &Spec,
) -> Result<Exit, Failure> {
    if !args.append.is_empty() {
        let failure = Failure::new(
            Exit::Usage,
            "--append changes the kernel's command line, which is on the board",
        );
        return Err(failure.hint("change it there, for instance in the boot loader's environment"));
    }
    let boots = args.boots.unwrap_or(1);
    let done = series(lab, target, spec, boots)?;
    let shown = match done.boots.as_slice() {
        [] => Ok(()),
        [one] if !args.json => show_one(args, ui, lab, target, &one.run),
        _ => show(args, ui, &done),
    };
    // What went wrong with the board matters more than how that is shown.
    if let Some(e) = done.failed {
        return Err(e.into());
    }
    shown?;
    if let Some(at) = &done.interrupted {
        lab.progress.note(&format!(
            "bootlap: interrupted in boot {} of {boots}; what was recorded of it is in {}",
            done.boots.len() + 1,
            at.display()
        ));
    }
    verdict(&done)
}

/// One boot of the board, for advice on it.
pub(crate) fn boot_once(lab: &Lab<'_>, target: &Target, spec: &Spec) -> Result<Run, Failure> {
    let mut done = series(lab, target, spec, 1)?;
    if let Some(e) = done.failed {
        return Err(e.into());
    }
    match done.boots.pop() {
        Some(boot) => Ok(boot.run),
        None => Err(interrupted()),
    }
}

/// Boots that were done, in order.
struct Done {
    boots: Vec<Booted>,
    /// Why no more were done.
    failed: Option<LabError>,
    /// The run of the boot that the user ended.
    interrupted: Option<PathBuf>,
}

/// One boot of a series.
struct Booted {
    run: Run,
    about: About,
    lap: Lap,
}

/// Boots the board so often, until something breaks or the user has enough.
fn series(lab: &Lab<'_>, target: &Target, spec: &Spec, boots: u32) -> Result<Done, Failure> {
    let stop = stop_flag()?;
    let name = &target.spec.name;
    let session = lab.session(name);
    let mut board = Board::new(spec.clone(), target.dir.clone(), stop.clone());
    let mut done = Done {
        boots: Vec::new(),
        failed: None,
        interrupted: None,
    };
    lab.progress
        .count(&format!("booting {name}"), boots as usize);
    for n in 1..=boots {
        let dir = match boots {
            1 => session.clone(),
            _ => session.join(n.to_string()),
        };
        let run = boot(lab, target, &mut board, &dir);
        let run = match run {
            Ok(run) => run,
            Err(e) => {
                done.failed = Some(e);
                break;
            }
        };
        if stop.load(Ordering::Relaxed) && run.ready().is_none() {
            done.interrupted = Some(dir);
            break;
        }
        lab.progress.one_done();
        lab.progress.note(&lap_line(n, boots, &run));
        let Recorded {
            timeline, about, ..
        } = evidence::read_run(&run).or_else(|e| empty(&run, e))?;
        done.boots.push(Booted {
            lap: Lap {
                // As the run says, which is since t0.
                ready_ns: run.ready().map(|at| at.ns),
                ..Lap::of(&timeline)
            },
            about,
            run,
        });
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if let Err(e) = board.finish() {
        done.failed.get_or_insert(e);
    }
    Ok(done)
}

fn boot(lab: &Lab<'_>, target: &Target, board: &mut Board, dir: &Path) -> Result<Run, LabError> {
    let manifest = lab.manifest(target, &[], Mode::Board);
    let hints = lab::hints(target);
    let mut run = bootlap_lab::boot(board, dir, manifest, &hints, lab.timeout(target))?;
    lab::check(&mut run, target)?;
    Ok(run)
}

/// A boot that printed nothing has nothing to read; it is counted all the same.
fn empty(run: &Run, failure: Failure) -> Result<Recorded, Failure> {
    if run.ready().is_some() || failure.exit != Exit::NothingUsable {
        return Err(failure);
    }
    Ok(Recorded {
        about: evidence::about_run(run, &Default::default()),
        timeline: Default::default(),
        texts: Default::default(),
        board: None,
        read: Vec::new(),
        left_out: None,
        extent: Default::default(),
    })
}

/// What to say as soon as a boot is over.
fn lap_line(n: u32, boots: u32, run: &Run) -> String {
    let power = match power_ms(run) {
        Some(ms) => format!(" (power command: {})", duration(ms_to_ns(ms))),
        None => String::new(),
    };
    let came = match &run.manifest.outcome {
        Some(Outcome::Ready(at)) => format!("ready after {}", duration(at.ns)),
        Some(Outcome::NeverReady(why)) => format!("never ready: {why}"),
        Some(Outcome::Recorded(_)) | None => "recorded".to_owned(),
    };
    let came = bootlap_report::clean::clean(&came);
    format!("boot {n} of {boots}: {came}{power}")
}

fn power_ms(run: &Run) -> Option<u64> {
    run.manifest.machine["power"]["took_ms"].as_u64()
}

fn ms_to_ns(ms: u64) -> i64 {
    i64::try_from(ms)
        .unwrap_or(i64::MAX)
        .saturating_mul(1_000_000)
}

fn show(args: &Boot, ui: &Ui, done: &Done) -> Result<(), Failure> {
    let laps = done.boots.iter().map(|boot| {
        let why_not = match &boot.run.manifest.outcome {
            Some(Outcome::NeverReady(why)) => Some(why.clone()),
            _ => None,
        };
        let about = LapAbout {
            run: boot.about.run.clone(),
            why_not,
            power_ms: power_ms(&boot.run),
        };
        (boot.lap.clone(), about)
    });
    let about = done.boots[0].about.clone();
    let report = SeriesReport::new(about, laps.collect());
    if args.json {
        ui.document(series::json(&report))?;
    } else {
        ui.print(&series::text(&report, &ui::style()));
        let at = report.series.fastest.unwrap_or(0);
        ui.print(&format!(
            "\nmore: bootlap show {}",
            shell_word(&report.laps[at].run)
        ));
        let folder = Path::new(&report.laps[at].run).parent();
        if let Some(folder) = folder.filter(|_| report.laps.len() > 1) {
            ui.print(&format!(
                "all:  bootlap report {} --each -o boots.html",
                shell_word(folder.display().to_string())
            ));
        }
    }
    Ok(())
}

fn show_one(
    args: &Boot,
    ui: &Ui,
    lab: &Lab<'_>,
    target: &Target,
    run: &Run,
) -> Result<(), Failure> {
    let Ok(recorded) = evidence::read_run(run) else {
        // It printed nothing: `verdict` says so.
        return Ok(());
    };
    let parts = lab.parts(target)?;
    let findings = advise(&recorded.boot().of(target, &parts));
    shown::show(args, &recorded, findings, ui)
}

/// Whether all boots got ready.
fn verdict(done: &Done) -> Result<Exit, Failure> {
    let failures = done.boots.iter().filter_map(|b| never_ready(&b.run));
    let mut failures: Vec<Failure> = failures.collect();
    let (boots, unready) = (done.boots.len(), failures.len());
    if boots == 0 {
        return Err(interrupted());
    }
    match failures.drain(..).next() {
        None => Ok(Exit::Ok),
        Some(only) if boots == 1 => Err(only),
        Some(first) => Err(Failure {
            message: format!(
                "{unready} of {boots} boots never got ready; the first of them: {}",
                first.message
            ),
            ..first
        }),
    }
}

fn interrupted() -> Failure {
    Failure::new(Exit::NeverReady, "interrupted before a boot was over")
}

//! One module per command.

mod advise;
mod apply;
mod board;
mod boot;
mod boot_job;
mod build;
mod calibrate;
mod capture;
mod catalogue;
mod check;
mod common_end;
mod compare;
mod demo;
mod demo_target;
mod doctor;
mod explain;
mod here;
mod history;
mod import;
mod inspect;
mod itself;
mod layout;
mod minimise;
mod outputs;
mod pack;
mod rc;
mod reduce;
mod report;
mod report_many;
mod serve;
mod show;
mod shown;
mod splash;
mod store;
mod touched;
mod try_recipes;
mod tune;
mod units;

use bootlap_engine::{Exit, Failure};

use crate::args::Command;
use crate::ui::Ui;
pub(crate) use itself::long_version;

/// Runs the command that was asked for.
pub(crate) fn run(command: Command, ui: &Ui) -> Result<Exit, Failure> {
    match command {
        Command::Here(a) => here::run(&a, ui),
        Command::Doctor(a) => doctor::run(&a, ui),
        Command::Completions(a) => itself::completions(&a, ui),
        Command::Man(a) => itself::man(&a, ui),
        Command::Demo(a) => demo::run(&a, ui),
        Command::Boot(a) => boot::run(&a, ui),
        Command::BootJob(a) => boot_job::run(&a),
        Command::Capture(a) => capture::run(&a, ui),
        Command::Import(a) => import::run(&a, ui),
        Command::Inspect(a) => inspect::run(&a, ui),
        Command::Show(a) => show::run(&a, ui),
        Command::Serve(a) => serve::run(&a, ui),
        Command::Report(a) => report::run(&a, ui),
        Command::Compare(a) => compare::run(&a, ui),
        Command::Build(a) => build::run(&a, ui),
        Command::Store(a) => store::run(&a, ui),
        Command::Explain(a) => explain::run(&a, ui),
        Command::Advise(a) => advise::run(&a, ui),
        Command::Calibrate(a) => calibrate::run(&a, ui),
        Command::Splash(a) => splash::run(&a, ui),
        Command::Touched(a) => touched::run(&a, ui),
        Command::Reduce(a) => reduce::run(&a, ui),
        Command::Units(a) => units::run(&a, ui),
        Command::Minimise(a) => minimise::minimise(&a, ui),
        Command::First(a) => minimise::first(&a, ui),
        Command::Defer(a) => minimise::defer(&a, ui),
        Command::Try(a) => try_recipes::run(&a, ui),
        Command::Tune(a) => tune::run(&a, ui),
        Command::Apply(a) => apply::run(&a, ui),
        Command::Check(a) => check::run(&a, ui),
        Command::History(a) => history::run(&a, ui),
        Command::Rc(a) => rc::run(&a, ui),
        Command::Pack(a) => pack::run(&a, ui),
        Command::Layout(a) => layout::run(&a, ui),
        Command::Recipes(a) => catalogue::recipes(&a, ui),
        Command::Rules(a) => catalogue::rules(&a, ui),
    }
}

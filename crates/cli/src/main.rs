//! The `bootlap` command: makes Linux boot fast, and proves it.
//!
//! The only crate that prints, exits or reads the environment. A command
//! collects what the others computed and hands it to a sink.

// This is where printing and exiting belong.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

mod args;
mod commands;
mod live;
mod signals;
mod ui;

use std::process::ExitCode;

use bootlap_engine::Exit;
use clap::Parser;

use crate::args::{Args, Command};
use crate::ui::Ui;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(e) => {
            let _ = e.print();
            let code = if e.use_stderr() {
                Exit::Usage
            } else {
                Exit::Ok
            };
            return code.into();
        }
    };
    let ui = Ui::new(args.quiet);
    let result = match args.command {
        Command::Demo(a) => commands::demo::run(&a, &ui),
        Command::Boot(a) => commands::boot::run(&a, &ui),
        Command::Capture(a) => commands::capture::run(&a, &ui),
        Command::Inspect(a) => commands::inspect::run(&a, &ui),
        Command::Show(a) => commands::show::run(&a, &ui),
        Command::Report(a) => commands::report::run(&a, &ui),
        Command::Compare(a) => commands::compare::run(&a, &ui),
        Command::Build(a) => commands::build::run(&a, &ui),
        Command::Explain(a) => commands::explain::run(&a, &ui),
        Command::Advise(a) => commands::advise::run(&a, &ui),
        Command::Calibrate(a) => commands::calibrate::run(&a, &ui),
        Command::Splash(a) => commands::splash::run(&a, &ui),
        Command::Touched(a) => commands::touched::run(&a, &ui),
        Command::Try(a) => commands::try_recipes::run(&a, &ui),
        Command::Tune(a) => commands::tune::run(&a, &ui),
        Command::Apply(a) => commands::apply::run(&a, &ui),
        Command::Check(a) => commands::check::run(&a, &ui),
        Command::History(a) => commands::history::run(&a, &ui),
        Command::Rc(a) => commands::rc::run(&a, &ui),
        Command::Pack(a) => commands::pack::run(&a, &ui),
        Command::Layout(a) => commands::layout::run(&a, &ui),
        Command::Recipes(a) => commands::catalogue::recipes(&a, &ui),
        Command::Rules(a) => commands::catalogue::rules(&a, &ui),
    };
    ui.done();
    if ui.lost_output() {
        eprintln!("bootlap: cannot write to standard output; is its disk full?");
        return Exit::Internal.into();
    }
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("bootlap: {}", ui::harmless(&failure.message));
            if let Some(hint) = &failure.hint {
                eprintln!("         {}", ui::harmless(hint));
            }
            failure.exit.into()
        }
    }
}

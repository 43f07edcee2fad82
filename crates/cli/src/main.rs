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
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::args::{Args, with_file};
use crate::ui::Ui;

fn main() -> ExitCode {
    let args = match parse() {
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
    let result = commands::run(args.command, &ui);
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

/// `--version` says which QEMUs are here, too, which takes some ms to find out.
fn parse() -> Result<Args, clap::Error> {
    let mut command = Args::command();
    if std::env::args_os().any(|word| word == "--version") {
        command = command.long_version(commands::long_version());
    }
    let command = match with_file(command) {
        Ok(command) => command,
        Err(why) => return Err(Args::command().error(ErrorKind::InvalidValue, why)),
    };
    Args::from_arg_matches(&command.try_get_matches()?)
}

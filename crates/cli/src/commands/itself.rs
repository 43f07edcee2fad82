//! `bootlap completions` and `bootlap man`: what the command line says of itself.

use std::fs;
use std::io;

use bootlap_engine::{Exit, Failure};
use bootlap_lab::examine::{PROGRAMS, examine};
use clap::CommandFactory;
use clap_complete::generate;
use clap_mangen::generate_to;

use crate::args::{self, Args};
use crate::ui::Ui;

/// The version, and what boots can be made with here.
pub(crate) fn long_version() -> String {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    text += "\nprobe: inside, for QEMUs of glibc";
    for program in PROGRAMS {
        let found = examine(program.name).map(|found| match found.refused {
            None => found.version,
            Some(why) => format!("{} (refuses the probe: {why})", found.version),
        });
        let found = found.unwrap_or_else(|| format!("none (apt-get install {})", program.package));
        text += &format!("\n{}: {found}", program.name);
    }
    text
}

pub(crate) fn completions(args: &args::Completions, ui: &Ui) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut Args::command(), "bootlap", &mut script);
    ui.print(&String::from_utf8_lossy(&script));
    Ok(Exit::Ok)
}

pub(crate) fn man(args: &args::Man, ui: &Ui) -> Result<Exit, Failure> {
    let failed = |e: io::Error| Failure::new(Exit::Internal, format!("cannot write pages: {e}"));
    // `help show` has no page of its own.
    let all = Args::command().disable_help_subcommand(true);
    let all = all.mut_subcommands(|command| command.disable_help_subcommand(true));
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(failed)?;
        generate_to(all, folder).map_err(failed)?;
        return Ok(Exit::Ok);
    }
    let pages = tempfile::tempdir().map_err(failed)?;
    generate_to(all, pages.path()).map_err(failed)?;
    let name = match args.command.join("-") {
        command if command.is_empty() => "bootlap".to_owned(),
        command => format!("bootlap-{command}"),
    };
    let page = fs::read(pages.path().join(format!("{name}.1"))).map_err(|_| {
        let why = format!("there is no command {}", args.command.join(" "));
        Failure::new(Exit::Usage, why).hint("`bootlap help` lists them")
    })?;
    ui.write(&page);
    Ok(Exit::Ok)
}

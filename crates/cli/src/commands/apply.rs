//! `bootlap apply`: a changed copy of a target.

use crate::args::Apply;
use crate::commands::try_recipes::parse;
use crate::exit::{Exit, Failure};
use crate::lab::{cache, load};
use crate::ui::Ui;

pub(crate) fn run(args: &Apply, ui: &Ui) -> Result<Exit, Failure> {
    let choices = parse(&args.recipes)?;
    let mut target = load(&args.target)?;
    let cache = cache(args.cache.as_deref());
    let parts = target.parts(&cache, &|what| ui.step(what))?;
    for choice in &choices {
        target = choice.apply(&target, &parts)?;
    }
    target.write_to(&args.out)?;
    for edit in &target.edits {
        ui.print(&format!("{} = {:?}", edit.key, edit.value));
    }
    ui.note(&format!(
        "wrote {}; boot it with `bootlap boot {0}`",
        args.out.display()
    ));
    Ok(Exit::Ok)
}

//! `bootlap apply`: a changed copy of a target.

use bootlap_target::Machine;

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
    let out = args.out.display();
    ui.note(&match target.machine {
        Machine::Qemu(_) => format!("wrote {out}; boot it with `bootlap boot {out}`"),
        Machine::Board(_) => format!(
            "wrote {out}, which says what is to be on the board. Put it there by hand: bootlap \
             cannot.\nThen `bootlap boot {out}` measures it"
        ),
    });
    Ok(Exit::Ok)
}

//! `bootlap doctor`: what of this machine bootlap can use.

use bootlap_engine::{Exit, Failure, doctor};
use bootlap_report::doctor::{json, text};

use crate::args::{Doctor, cache, store};
use crate::ui::Ui;

pub(crate) fn run(args: &Doctor, ui: &Ui) -> Result<Exit, Failure> {
    let cache = cache(args.cache.as_deref());
    let store = store(None, &cache);
    let document = doctor::look(&cache, store.as_deref(), ui);
    ui.show(
        args.json,
        || json(&document),
        |style| text(&document, style),
    )?;
    Ok(match document.is_ill() {
        true => Exit::MachineFailed,
        false => Exit::Ok,
    })
}

//! `bootlap store`: the boots that are kept.

use bootlap_engine::store::{Damaged, look, merge};
use bootlap_engine::{Exit, Failure, Progress};
use bootlap_report::format::count;
use bootlap_report::store::{StoreJson, json, text};
use bootlap_store::Store as Kept;

use crate::args::{Store, StoreAction, cache, store};
use crate::ui::Ui;

/// Rows that people want to see.
const ROWS: usize = 40;

pub(crate) fn run(args: &Store, ui: &Ui) -> Result<Exit, Failure> {
    let cache = cache(args.cache.as_deref());
    let Some(dir) = store(args.store.as_deref(), &cache) else {
        let why = "boots are not kept: the store is `none`";
        return Err(Failure::new(Exit::Usage, why).hint("name its folder with --store"));
    };
    let show = |document: StoreJson, as_json: bool| {
        ui.show(
            as_json,
            || json(&document),
            |style| text(&document, ROWS, style),
        )?;
        let damaged = document.boots.iter().any(|boot| boot.damage.is_some());
        Ok(match damaged || document.distrusted.is_some() {
            true => Exit::Broken,
            false => Exit::Ok,
        })
    };
    match &args.action {
        StoreAction::List { json } => show(look(&dir, Damaged::Stays), *json).map(|_| Exit::Ok),
        StoreAction::Verify { json } => {
            let document = look(&dir, Damaged::Goes);
            let damaged = document.boots.iter().filter(|b| b.damage.is_some()).count();
            if damaged > 0 {
                ui.note(&format!(
                    "bootlap: {damaged} damaged, taken away; they are made again when asked for"
                ));
            }
            show(document, *json)
        }
        StoreAction::Merge { from } => {
            let merged = merge(&dir, from)?;
            let [new, there] = [merged.new, merged.there].map(|n| count(n as u64));
            ui.print(&format!("{new} boots are new, {there} were there"));
            if merged.damaged > 0 {
                let damaged = count(merged.damaged as u64);
                ui.note(&format!("bootlap: {damaged} damaged, left out"));
                return Ok(Exit::Broken);
            }
            Ok(Exit::Ok)
        }
        StoreAction::Clean { to, all } => {
            let store = Kept::at(&dir, *to);
            let gone = match all {
                true => store.empty().map_err(|e| Failure::new(Exit::Internal, e))?,
                false => store.trim(*to),
            };
            let (entries, bytes) = (count(gone.entries as u64), count(gone.bytes));
            ui.print(&format!("{entries} boots are gone, {bytes} bytes"));
            Ok(Exit::Ok)
        }
    }
}

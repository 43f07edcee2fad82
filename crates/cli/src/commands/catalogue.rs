//! `bootlap recipes` and `bootlap rules`: the catalogues.

use serde_json::{Value, json};

use crate::args::Catalogue;
use crate::exit::{Exit, Failure};
use crate::ui::Ui;

pub(crate) fn recipes(args: &Catalogue, ui: &Ui) -> Result<Exit, Failure> {
    let recipes = bootlap_target::recipe::all().iter().map(|r| r.meta());
    if args.json {
        let rows = recipes.map(
            |m| json!({"recipe": m.name, "title": m.title, "risk": m.risk, "values": m.values}),
        );
        return print_json(&rows.collect::<Vec<Value>>(), ui);
    }
    for meta in recipes {
        ui.print(&format!("{:<24} {}", meta.name, meta.title));
        let values: Vec<&str> = meta
            .values
            .iter()
            .copied()
            .filter(|v| !v.is_empty())
            .collect();
        if !values.is_empty() {
            ui.print(&format!("{:<24} ={}", "", values.join(", =")));
        }
        ui.print(&format!("{:<24} risk: {}", "", meta.risk));
    }
    Ok(Exit::Ok)
}

pub(crate) fn rules(args: &Catalogue, ui: &Ui) -> Result<Exit, Failure> {
    let rules = bootlap_advice::all().iter().map(|r| r.meta());
    if args.json {
        let rows = rules.map(|m| json!({"rule": m.name, "title": m.title}));
        return print_json(&rows.collect::<Vec<Value>>(), ui);
    }
    for meta in rules {
        ui.print(&format!("{:<24} {}", meta.name, meta.title));
    }
    Ok(Exit::Ok)
}

fn print_json(rows: &[Value], ui: &Ui) -> Result<Exit, Failure> {
    let text = serde_json::to_string_pretty(rows);
    ui.print(&text.map_err(|e| Failure::new(Exit::Internal, e))?);
    Ok(Exit::Ok)
}

//! `bootlap recipes` and `bootlap rules`: the catalogues.

use bootlap_report::json::{self, RecipeJson, RuleJson};
use bootlap_report::text::{self, Entry};

use crate::args::Catalogue;
use crate::exit::{Exit, Failure};
use crate::ui::{self, Ui};

pub(crate) fn recipes(args: &Catalogue, ui: &Ui) -> Result<Exit, Failure> {
    let recipes = bootlap_target::recipe::all().iter().map(|r| r.meta());
    if args.json {
        let rows = recipes.map(|m| RecipeJson {
            recipe: m.name.to_owned(),
            title: m.title.to_owned(),
            risk: m.risk.to_owned(),
            values: m.values.iter().map(|v| (*v).to_owned()).collect(),
        });
        return print_json(json::recipes(&rows.collect::<Vec<_>>()), ui);
    }
    let entries = recipes.map(|m| {
        let values = m.values.iter().filter(|v| !v.is_empty());
        let values: Vec<String> = values.map(|v| format!("={v}")).collect();
        let values = Some(values.join(", ")).filter(|v| !v.is_empty());
        Entry {
            name: m.name.to_owned(),
            title: m.title.to_owned(),
            notes: values
                .into_iter()
                .chain([format!("risk: {}", m.risk)])
                .collect(),
        }
    });
    Ok(print(&entries.collect::<Vec<_>>(), ui))
}

pub(crate) fn rules(args: &Catalogue, ui: &Ui) -> Result<Exit, Failure> {
    let rules = bootlap_advice::all();
    if args.json {
        let rows = rules.map(|m| RuleJson {
            rule: m.name.to_owned(),
            title: m.title().to_owned(),
        });
        return print_json(json::rules(&rows.collect::<Vec<_>>()), ui);
    }
    let entries = rules.map(|m| Entry {
        name: m.name.to_owned(),
        title: m.title().to_owned(),
        notes: Vec::new(),
    });
    Ok(print(&entries.collect::<Vec<_>>(), ui))
}

fn print(entries: &[Entry], ui: &Ui) -> Exit {
    ui.print(&text::catalogue(entries, &ui::style()));
    Exit::Ok
}

fn print_json(document: Result<String, serde_json::Error>, ui: &Ui) -> Result<Exit, Failure> {
    ui.print(&document.map_err(|e| Failure::new(Exit::Internal, e))?);
    Ok(Exit::Ok)
}

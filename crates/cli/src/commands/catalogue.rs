//! `bootlap recipes` and `bootlap rules`: the catalogues.

use bootlap_advice::Rule;
use bootlap_engine::{Exit, Failure};
use bootlap_report::catalogue::{self, Entry, RecipeJson, RuleJson};
use bootlap_rootfs::did_you_mean;

use crate::args::{Catalogue, Rules};
use crate::ui::{self, Ui};

pub(crate) fn recipes(args: &Catalogue, ui: &Ui) -> Result<Exit, Failure> {
    let recipes = bootlap_product::recipe::all().iter().map(|r| r.meta());
    if args.json {
        let rows = recipes.map(|m| RecipeJson {
            recipe: m.name.to_owned(),
            title: m.title.to_owned(),
            risk: m.risk.to_owned(),
            values: m.values.iter().map(|v| (*v).to_owned()).collect(),
        });
        ui.document(catalogue::recipes_json(&rows.collect::<Vec<_>>()))?;
        return Ok(Exit::Ok);
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
    let entries: Vec<Entry> = entries.collect();
    ui.print(&catalogue::text(&entries, &ui::style()));
    Ok(Exit::Ok)
}

pub(crate) fn rules(args: &Rules, ui: &Ui) -> Result<Exit, Failure> {
    let named = args.rules.iter().map(|name| {
        bootlap_advice::find(name).ok_or_else(|| {
            let known = bootlap_advice::all().map(|r| r.name);
            let meant = did_you_mean(name, known);
            let failure = Failure::new(Exit::Usage, format!("there is no rule {name}{meant}"));
            failure.hint("`bootlap rules` lists them")
        })
    });
    let named: Vec<&Rule> = named.collect::<Result<_, _>>()?;
    let mut rules: Vec<&Rule> = match named.is_empty() {
        true => bootlap_advice::all().collect(),
        false => named,
    };
    if args.json {
        let rows = rules.iter().map(|rule| RuleJson {
            rule: rule.name.to_owned(),
            title: rule.page.title().to_owned(),
            layer: rule.page.layer.text().to_owned(),
            page: rule.page.text.to_owned(),
        });
        ui.document(catalogue::rules_json(&rows.collect::<Vec<_>>()))?;
        return Ok(Exit::Ok);
    }
    let style = ui::style();
    if !args.rules.is_empty() {
        for rule in rules {
            ui.print(&catalogue::rule(rule, &style));
        }
        return Ok(Exit::Ok);
    }
    rules.sort_by_key(|rule| rule.page.layer);
    for layer in rules.chunk_by(|a, b| a.page.layer == b.page.layer) {
        ui.print(&catalogue::rules(layer, &style));
    }
    Ok(Exit::Ok)
}

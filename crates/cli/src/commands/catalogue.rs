//! `bootlap recipes` and `bootlap rules`: the catalogues.

use serde_json::{Value, json};

use crate::args::Catalogue;
use crate::exit::{Exit, Failure};

pub(crate) fn recipes(args: &Catalogue) -> Result<Exit, Failure> {
    let recipes = bootlap_target::recipe::all().iter().map(|r| r.meta());
    if args.json {
        let rows = recipes.map(
            |m| json!({"recipe": m.name, "title": m.title, "risk": m.risk, "values": m.values}),
        );
        return print_json(&rows.collect::<Vec<Value>>());
    }
    for meta in recipes {
        println!("{:<24} {}", meta.name, meta.title);
        let values: Vec<&str> = meta
            .values
            .iter()
            .copied()
            .filter(|v| !v.is_empty())
            .collect();
        if !values.is_empty() {
            println!("{:<24} ={}", "", values.join(", ="));
        }
        println!("{:<24} risk: {}", "", meta.risk);
    }
    Ok(Exit::Ok)
}

pub(crate) fn rules(args: &Catalogue) -> Result<Exit, Failure> {
    let rules = bootlap_advice::all().iter().map(|r| r.meta());
    if args.json {
        let rows = rules.map(|m| json!({"rule": m.name, "title": m.title}));
        return print_json(&rows.collect::<Vec<Value>>());
    }
    for meta in rules {
        println!("{:<24} {}", meta.name, meta.title);
    }
    Ok(Exit::Ok)
}

fn print_json(rows: &[Value]) -> Result<Exit, Failure> {
    let text = serde_json::to_string_pretty(rows);
    println!("{}", text.map_err(|e| Failure::new(Exit::Internal, e))?);
    Ok(Exit::Ok)
}

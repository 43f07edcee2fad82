//! The JSON schemas of all documents.

use schemars::{JsonSchema, schema_for};

use crate::apply::AppliedJson;
use crate::boot::json::ReportJson;
use crate::builds::BuildsJson;
use crate::calibration::CalibrationJson;
use crate::catalogue::{RecipeJson, RuleJson};
use crate::check::CheckJson;
use crate::doctor::DoctorJson;
use crate::explain::ExplainJson;
use crate::findings::AdviceJson;
use crate::groups::CompareJson;
use crate::history::HistoryJson;
use crate::imported::ImportedJson;
use crate::inspect::InspectedJson;
use crate::rc::RcReport;
use crate::reduced::ReducedJson;
use crate::series::SeriesJson;
use crate::store::StoreJson;
use crate::table::TableJson;
use crate::trials::TrialsJson;
use crate::tuning::TuningJson;
use crate::units::UnitsJson;

/// The JSON schemas of the documents, each by the command that prints it.
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("report", schema_of::<ReportJson>("bootlap report")),
        (
            "inspect",
            schema_of::<Vec<InspectedJson>>("bootlap inspect"),
        ),
        ("import", schema_of::<ImportedJson>("bootlap import")),
        ("advise", schema_of::<AdviceJson>("bootlap advise")),
        ("try", schema_of::<TrialsJson>("bootlap try")),
        ("apply", schema_of::<AppliedJson>("bootlap apply")),
        ("build", schema_of::<BuildsJson>("bootlap build")),
        ("show", schema_of::<TableJson>("bootlap show --by")),
        (
            "calibrate",
            schema_of::<CalibrationJson>("bootlap calibrate"),
        ),
        ("recipes", schema_of::<Vec<RecipeJson>>("bootlap recipes")),
        ("rules", schema_of::<Vec<RuleJson>>("bootlap rules")),
        ("tune", schema_of::<TuningJson>("bootlap tune")),
        ("check", schema_of::<CheckJson>("bootlap check")),
        ("history", schema_of::<HistoryJson>("bootlap history show")),
        ("compare", schema_of::<CompareJson>("bootlap compare")),
        ("explain", schema_of::<ExplainJson>("bootlap explain")),
        ("store", schema_of::<StoreJson>("bootlap store")),
        ("rc", schema_of::<RcReport>("bootlap rc")),
        ("reduce", schema_of::<ReducedJson>("bootlap reduce")),
        ("defer", schema_of::<ReducedJson>("bootlap defer")),
        ("first", schema_of::<ReducedJson>("bootlap first")),
        ("minimise", schema_of::<ReducedJson>("bootlap minimise")),
        ("units", schema_of::<UnitsJson>("bootlap units")),
        ("doctor", schema_of::<DoctorJson>("bootlap doctor")),
        ("series", schema_of::<SeriesJson>("bootlap boot of a board")),
    ]
}

fn schema_of<T: JsonSchema>(title: &str) -> serde_json::Value {
    let mut schema = schema_for!(T);
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

//! Documents against their schemas.

use bootlap_report::schemas;
use serde_json::Value;

/// Reads `text`, which must follow the schema of `command`.
pub(crate) fn checked(command: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    let schemas = schemas();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == command).unwrap();
    let schema = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<_> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{command}");
    value
}

//! The names of enumerations.

use serde::Serialize;

/// The name that an enumeration's value has in JSON.
pub fn id<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => format!("{other:?}"),
    }
}

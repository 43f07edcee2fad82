//! How moments stand in documents: as ns on the axis.

use bootlap_model::Stamp;
use serde::Serializer;

pub(crate) fn moment<S: Serializer>(at: &Stamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(at.ns)
}

pub(crate) fn optional<S: Serializer>(at: &Option<Stamp>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => to.serialize_some(&at.ns),
        None => to.serialize_none(),
    }
}

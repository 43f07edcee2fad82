//! What a terminal shows: summaries and tables, as wide as it is.
//!
//! Everything is laid out as lines (`line::Line`), whose text is made
//! harmless when it is added and measured as it will be displayed; colours and
//! the plain-ASCII form come last, so neither can spoil the layout.

mod bar;
mod before_after;
mod builds;
mod calibration;
mod catalogue;
mod check;
mod costs;
mod explain;
mod findings;
mod functions;
mod gaps;
mod groups;
mod history;
mod inspect;
mod line;
mod notices;
mod page;
mod phases;
mod predicted;
mod processes;
mod rc;
mod series;
mod spans;
mod style;
mod summary;
mod table;
mod trials;
mod tuning;
mod units;

pub use crate::select::Rows;
pub use before_after::before_after;
pub use builds::builds;
pub use calibration::calibration;
pub use catalogue::{Entry, catalogue, rule, rules};
pub use check::check;
pub use explain::explain;
pub use findings::findings;
pub use functions::functions;
pub use groups::groups;
pub use history::history;
pub use inspect::inspected;
pub use notices::notices;
pub use processes::processes;
pub use rc::rc;
pub use series::series;
pub use spans::{By, spans};
pub use style::Style;
pub use summary::summary;
pub use trials::trials;
pub use tuning::tuning;
pub use units::units;

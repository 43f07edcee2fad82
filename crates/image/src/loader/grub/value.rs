//! What a variable or a word came to.

use std::rc::Rc;

/// A question that only the machine can answer, as it is written.
pub(super) type Doubt = Option<Rc<str>>;

/// What a variable or a word came to.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) text: String,
    /// Whether it is known at all.
    pub(super) known: bool,
    /// What it depends on, if that is for the machine to say.
    pub(super) doubt: Doubt,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            known: true,
            doubt: None,
        }
    }
}

impl Value {
    /// One that only the machine knows.
    pub(super) fn unknown() -> Self {
        Self {
            known: false,
            ..Self::from("")
        }
    }
}

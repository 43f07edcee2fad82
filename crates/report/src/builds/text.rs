//! `bootlap build`: what was built from source, and where it is.

use crate::builds::BuiltJson;
use crate::format::count;
use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// The images, and how they came about.
pub fn text(built: &[BuiltJson], style: &Style) -> String {
    let mut page = Page::new(style);
    for each in built {
        page.heading(&each.section);
        let size = format!(
            "{} bytes · {} options built in, {} as modules · {}",
            count(each.bytes),
            each.built_in,
            each.modules,
            if each.kept {
                "built before"
            } else {
                "built now"
            },
        );
        for text in [&each.origin, &size] {
            page.wrapped(Line::indented(MARGIN + 2), text, Ink::Plain);
        }
        for (what, path) in [
            ("image  ", &each.image),
            ("options", &each.config),
            ("source ", &each.tree),
        ] {
            let text = format!("{what}  {path}");
            page.wrapped(Line::indented(MARGIN + 2), &text, Ink::Faint);
        }
    }
    page.finish()
}

//! `systemd-analyze dot`: a graph without times.
//!
//! ```text
//! digraph systemd {
//!   "getty@tty1.service"->"sysinit.target" [color="green"];
//!   "getty@tty1.service"->"sysinit.target" [color="black"];
//!   "getty@tty1.service"->"shutdown.target" [color="red"];
//! }
//!    Color legend: black     = Requires
//!                  dark blue = Requisite
//!                  dark grey = Wants
//!                  red       = Conflicts
//!                  green     = After
//! ```
//!
//! The legend goes to stderr, and is here where both were kept.

use super::units::{Order, is_unit};

/// An edge: which unit, how ordered, to which. `None` in the middle for an
/// edge that orders nothing.
pub(crate) fn edge(text: &str) -> Option<(&str, Option<Order>, &str)> {
    let rest = text.trim().strip_prefix('"')?;
    let (unit, rest) = rest.split_once("\"->\"")?;
    let (other, rest) = rest.split_once('"')?;
    let color = rest.split_once("color=\"").map(|(_, c)| c);
    let color = color.and_then(|c| c.split('"').next()).unwrap_or_default();
    let order = match color {
        "green" => Some(Order::After),
        "black" | "grey66" | "darkgrey" | "darkblue" | "gold" => Some(Order::Needs),
        _ => None,
    };
    (is_unit(unit) && is_unit(other)).then_some((unit, order, other))
}

/// A line of the legend.
pub(crate) fn is_legend(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix("Color legend:").unwrap_or(text).trim();
    let colors = ["black", "dark blue", "dark grey", "red", "green", "gold"];
    let named = text.split_once('=').map(|(color, _)| color.trim());
    named.is_some_and(|c| colors.contains(&c))
        || text.starts_with("-- You probably want to process")
}

//! The sources from outside: fixtures, and whatever bytes chance makes.

mod arbitrary;
mod fixtures;
mod support;

//! The sources from outside: fixtures, and whatever bytes chance makes.

mod arbitrary;
mod arbitrary_logs;
mod arbitrary_signals;
mod damaged;
mod fixtures;
mod hostile;
mod manager;
mod several;
mod support;

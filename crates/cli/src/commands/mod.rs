//! One module per command.

pub(crate) mod advise;
pub(crate) mod apply;
pub(crate) mod board;
pub(crate) mod boot;
pub(crate) mod build;
pub(crate) mod calibrate;
pub(crate) mod capture;
pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod inspect;
pub(crate) mod layout;
pub(crate) mod pack;
pub(crate) mod rc;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod shown;
pub(crate) mod splash;
pub(crate) mod touched;
pub(crate) mod try_recipes;
pub(crate) mod tune;

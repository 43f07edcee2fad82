//! Recipes whose value is a list of things that are independent of each other, so that a
//! search can look for the part of it that a target needs, or takes.

use std::fs;
use std::path::Path;

use super::Choice;
use crate::TargetError;

/// What a recipe's list says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A file with what stays, one a line; all else goes.
    Kept,
    /// What is changed, with commas between.
    Changed,
    /// What has to be named for the change to help, with commas between.
    Needed,
}

/// The list in a recipe's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// What it says.
    pub listed: Listed,
    /// Its members, in their order.
    pub members: Vec<String>,
}

/// What is named with commas between.
pub(super) fn members(value: &str) -> Vec<String> {
    let members = value.split(',').map(str::trim);
    members
        .filter(|m| !m.is_empty())
        .map(str::to_owned)
        .collect()
}

impl Choice {
    /// The list that is its value.
    ///
    /// # Errors
    /// If the recipe takes none, or there is nothing in it, or its file cannot be read.
    pub fn list(&self) -> Result<List, TargetError> {
        let name = self.meta().name;
        let listed = self.recipe.listed().ok_or_else(|| {
            let lists = super::all().iter().filter(|r| r.listed().is_some());
            let lists: Vec<&str> = lists.map(|r| r.meta().name).collect();
            TargetError::Recipe(format!(
                "recipe {name} takes no list; those that do are {}",
                lists.join(", ")
            ))
        })?;
        let members: Vec<String> = match listed {
            Listed::Kept if self.value.is_empty() => Vec::new(),
            Listed::Kept => {
                let path = Path::new(&self.value);
                let text = fs::read_to_string(path);
                let text = text.map_err(|e| TargetError::io("read", path, e))?;
                let lines = text.lines().map(str::trim);
                let members = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
                members.map(str::to_owned).collect()
            }
            Listed::Changed | Listed::Needed => members(&self.value),
        };
        if members.is_empty() {
            let example = match listed {
                Listed::Kept => "a file with one a line",
                Listed::Changed | Listed::Needed => "names with commas between",
            };
            return Err(TargetError::Recipe(format!(
                "{} lists nothing; give it {example}: {name}=LIST",
                self.name()
            )));
        }
        Ok(List { listed, members })
    }

    /// The same recipe with these members in its list. A list that is a file is written to
    /// `file`.
    ///
    /// # Errors
    /// If it cannot be written, or its path is no text.
    pub fn with_list(&self, list: &List, file: &Path) -> Result<Self, TargetError> {
        let value = match list.listed {
            Listed::Changed | Listed::Needed => list.members.join(","),
            Listed::Kept => {
                list.write(file)?;
                let path = file.to_str().ok_or_else(|| {
                    TargetError::Recipe(format!(
                        "the path {} is no text; use a folder whose is",
                        file.display()
                    ))
                })?;
                path.to_owned()
            }
        };
        Ok(Self {
            recipe: self.recipe,
            value,
        })
    }
}

impl List {
    /// Writes its members, one a line.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, file: &Path) -> Result<(), TargetError> {
        let text: String = self.members.iter().map(|m| format!("{m}\n")).collect();
        fs::write(file, text).map_err(|e| TargetError::io("write", file, e))
    }
}

//! `explain --json`: what stands behind initcalls.

use bootlap_kbuild::{Condition, Delay, Module, OptionInfo, Param, Part, Place};
use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::{ExplainReport, ExplainRow};

/// Initcalls, and what a source tree says of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The tree's folder.
    pub kernel: String,
    /// The tree's version.
    pub version: Option<String>,
    /// The folder below `arch/`.
    pub arch: String,
    /// The file with the options; null where all that could be built counts.
    pub config: Option<String>,
    /// How many symbols there are without a limit.
    pub all: usize,
    /// The symbols, in order; of a boot the slowest first.
    pub symbols: Vec<SymbolJson>,
}

/// A symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SymbolJson {
    /// As it was asked for.
    pub symbol: String,
    /// The function's name.
    pub function: String,
    /// What it took in the boot, ns; null if no log was given, or it never
    /// returned.
    pub time_ns: Option<i64>,
    /// Where it can be: empty where it was not found, several where nothing
    /// tells which is meant.
    pub places: Vec<PlaceJson>,
}

/// A function in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaceJson {
    /// The file.
    pub file: String,
    /// The line of its definition, or of the macro that makes it.
    pub line: u32,
    /// `early`, `core`, `core_sync`, `device` …; null if it is no initcall.
    pub level: Option<String>,
    /// The macro that makes it an initcall.
    pub made_by: Option<MacroJson>,
    /// The file that is built, if that includes this one.
    pub included_by: Option<String>,
    /// The module that it is in, or would be.
    pub module: String,
    /// Whether it can be a module: `possible`, `bool` (its option has no m),
    /// `always` (no option decides) or `library`.
    pub modular: String,
    /// As what it is built: `y`, `m` or `n`; null without options.
    pub state: Option<String>,
    /// What must hold for it to be built, the outermost first.
    pub conditions: Vec<ConditionJson>,
    /// The options that must be on, the one that decides first.
    pub options: Vec<OptionJson>,
    /// The parameters that its file has.
    pub params: Vec<Param>,
    /// The delays that it can reach in its file.
    pub delays: Vec<DelayJson>,
}

/// A macro in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MacroJson {
    /// Its name.
    pub name: String,
    /// The line.
    pub line: u32,
}

/// Something that must hold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConditionJson {
    /// Any of these options, without `CONFIG_`.
    pub any: Vec<String>,
    /// Whether one of them must be on, or all off.
    pub on: bool,
    /// Where it is said: `folder`, `object`, `member` (of an object) or
    /// `source` (by the preprocessor).
    pub part: String,
}

/// An option.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OptionJson {
    /// Its name, without `CONFIG_`.
    pub name: String,
    /// `bool`, `tristate`, `string`, `int`, `hex` or `unknown`.
    pub kind: String,
    /// What it is set to; null without options.
    pub value: Option<String>,
    /// What menus show; null if nobody can choose it.
    pub prompt: Option<String>,
    /// The first sentence of its help.
    pub help: Option<String>,
    /// All of these expressions must hold for it.
    pub depends: Vec<String>,
    /// Options that switch it on; with options known, those that do.
    pub selected_by: Vec<String>,
    /// Where it is defined.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
}

/// A delay.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DelayJson {
    /// As it is called.
    pub call: String,
    /// `busy`, `sleep` or `limit` (of a wait).
    pub how: String,
    /// How long once, ns; null if that is no constant.
    pub ns: Option<i64>,
    /// The other end, ns, if it is a range.
    pub most_ns: Option<i64>,
    /// Whether it is in a loop.
    pub in_loop: bool,
    /// How often that goes round; null if that is no constant.
    pub times: Option<i64>,
    /// The line.
    pub line: u32,
    /// The functions that lead to it, the initcall first.
    pub path: Vec<String>,
}

/// What `explain --json` prints.
///
/// # Errors
/// None for any report.
pub fn json(report: &ExplainReport) -> Result<String, serde_json::Error> {
    crate::json::line(&ExplainJson {
        format: crate::json::FORMAT,
        tool: report.tool.clone(),
        kernel: report.kernel.clone(),
        version: report.version.clone(),
        arch: report.arch.clone(),
        config: report.config.clone(),
        all: report.all,
        symbols: report.rows.iter().map(symbol).collect(),
    })
}

fn symbol(row: &ExplainRow) -> SymbolJson {
    SymbolJson {
        symbol: row.symbol.clone(),
        function: row.explained.asked.function.clone(),
        time_ns: row.time_ns,
        places: row.explained.places.iter().map(place).collect(),
    }
}

fn place(place: &Place) -> PlaceJson {
    let modular = match place.modular {
        Module::Possible => "possible",
        Module::Bool => "bool",
        Module::Always => "always",
        Module::Library => "library",
    };
    let made_by = place.made_by.as_ref().map(|(name, line)| MacroJson {
        name: name.clone(),
        line: *line,
    });
    PlaceJson {
        file: place.file.clone(),
        line: place.line,
        level: place.level.map(|l| l.text()),
        made_by,
        included_by: place.included_by.clone(),
        module: place.module.clone(),
        modular: modular.to_owned(),
        state: place.state.map(|s| s.text().to_owned()),
        conditions: place.conditions.iter().map(condition).collect(),
        options: place.options.iter().map(option).collect(),
        params: place.params.clone(),
        delays: place.delays.iter().map(delay).collect(),
    }
}

fn condition(condition: &Condition) -> ConditionJson {
    let part = match condition.part {
        Part::Folder => "folder",
        Part::Object => "object",
        Part::Member => "member",
        Part::Source => "source",
    };
    ConditionJson {
        any: condition.any.clone(),
        on: condition.on,
        part: part.to_owned(),
    }
}

fn option(option: &OptionInfo) -> OptionJson {
    OptionJson {
        name: option.name.clone(),
        kind: option.kind.text().to_owned(),
        value: option.value.clone(),
        prompt: option.prompt.clone(),
        help: option.help.clone(),
        depends: option.depends.clone(),
        selected_by: option.selected_by.clone(),
        file: option.defined.as_ref().map(|d| d.0.clone()),
        line: option.defined.as_ref().map(|d| d.1),
    }
}

fn delay(delay: &Delay) -> DelayJson {
    DelayJson {
        call: delay.call.clone(),
        how: delay.how.text().to_owned(),
        ns: delay.ns,
        most_ns: delay.most_ns,
        in_loop: delay.in_loop,
        times: delay.times,
        line: delay.line,
        path: delay.path.clone(),
    }
}

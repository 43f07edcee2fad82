//! What a record says, by the description of its fields.

use std::fmt::Write;

use super::bytes::Order;
use super::format::Format;
use super::symbols::Symbols;
use crate::ftrace::body;
use crate::trace::{Function, Task, What, is_asleep};

/// Fields of an event that nothing is known of, as text.
const MAX_TEXT: usize = 200;

/// Events whose fields are taken one by one.
const WRITTEN_BY_FIELD: [&str; 14] = [
    "sched_switch",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_waking",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "task_newtask",
    "task_rename",
    "initcall_level",
    "console",
    "print",
    "module_load",
    "module_request",
];

/// What turns a record into an event.
pub(super) struct Decoder<'f> {
    pub(super) order: Order,
    pub(super) symbols: &'f Symbols,
}

/// The thread that a record is of.
pub(super) fn pid(record: &[u8], order: Order) -> Option<u32> {
    u32::try_from(order.signed(record.get(4..8)?)).ok()
}

impl<'f> Decoder<'f> {
    /// What `record` of the kind `format` says; `text` keeps what is written
    /// for it.
    pub(super) fn what<'r>(
        &self,
        format: &'r Format,
        record: &'r [u8],
        text: &'r mut String,
    ) -> What<'r>
    where
        'f: 'r,
    {
        let read = Fields {
            format,
            record,
            order: self.order,
        };
        text.clear();
        let _ = self.write(&read, text);
        let text = &**text;
        let other = What::Other {
            name: &format.name,
            fields: text,
        };
        self.known(&read, text).unwrap_or(other)
    }

    fn known<'r>(&self, read: &Fields<'r>, text: &'r str) -> Option<What<'r>>
    where
        'f: 'r,
    {
        Some(match &*read.format.name {
            "function" => What::Enter {
                name: self.function(read.number("ip")?, text)?.name,
            },
            "funcgraph_entry" | "fgraph_entry" | "fgraph_retaddr_entry" => What::Call {
                function: self.function(read.number("func")?, text)?,
                depth: read.number("depth")? as u32,
            },
            "funcgraph_exit" | "fgraph_exit" => {
                let (from, to) = (read.number("calltime"), read.number("rettime"));
                What::Return {
                    name: self.function(read.number("func")?, text).map(|f| f.name),
                    depth: read.number("depth")? as u32,
                    duration_ns: from.zip(to).map(|(from, to)| to.wrapping_sub(from)),
                    value: text.split_once(' ').map(|(_, value)| value),
                }
            }
            "sched_switch" => What::Switch {
                from: read.task("prev_comm", "prev_pid")?,
                asleep: is_asleep(read.number("prev_state")?),
                to: read.task("next_comm", "next_pid")?,
            },
            "sched_wakeup" | "sched_wakeup_new" | "sched_waking" => What::Wakeup {
                task: read.task("comm", "pid")?,
            },
            "sched_process_fork" => What::Fork {
                parent: read.task("parent_comm", "parent_pid")?,
                child: read.task("child_comm", "child_pid")?,
            },
            "sched_process_exec" => What::Exec {
                program: read.text("filename")?,
                pid: read.pid("pid")?,
            },
            "sched_process_exit" => What::Exit {
                task: read.task("comm", "pid")?,
            },
            "task_newtask" => What::New {
                task: read.task("comm", "pid")?,
                is_thread: read.number("clone_flags")? & 0x1_0000 != 0,
            },
            "task_rename" => What::Rename {
                task: read.task("newcomm", "pid")?,
            },
            "initcall_level" => What::InitcallLevel {
                level: read.text("level")?,
            },
            "initcall_start" => What::InitcallStart {
                function: self.function(read.number("func")?, text)?,
            },
            "initcall_finish" => What::InitcallFinish {
                function: self.function(read.number("func")?, text)?,
                ret: text.split_once(' ')?.1,
            },
            "module_load" => What::ModuleLoad {
                module: read.text("name")?,
            },
            "module_request" => What::ModuleRequest {
                module: read.text("name")?,
            },
            "console" => What::Printk {
                text: read.text("msg").or_else(|| read.text("text"))?,
            },
            "print" => What::Note {
                text: read.text("buf")?,
            },
            name => body::event(name, text),
        })
    }

    /// What has to be written for [`Self::known`]: values that the events of
    /// the text have as text, and addresses of functions that have no name.
    fn write(&self, read: &Fields<'_>, out: &mut String) -> Option<()> {
        let name = &*read.format.name;
        match name {
            "function"
            | "funcgraph_entry"
            | "fgraph_entry"
            | "fgraph_retaddr_entry"
            | "funcgraph_exit"
            | "fgraph_exit"
            | "initcall_start"
            | "initcall_finish" => {
                let address = read.number(if name == "function" { "ip" } else { "func" })?;
                if self.symbols.function(address as u64).is_none() {
                    let _ = write!(out, "0x{address:x}");
                }
                let value = read.number("retval").or_else(|| read.number("ret"));
                if let Some(value) = value {
                    let _ = write!(out, " {value}");
                }
            }
            "sys_enter" => {
                let args = read.format.field("args")?;
                let args = args.numbers(read.record, self.order.long)?;
                let _ = write!(out, "NR {} (", read.number("id")?);
                for (i, arg) in args.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    let _ = write!(out, "{comma}{:x}", self.order.number(arg));
                }
            }
            "sys_exit" => {
                let _ = write!(out, "NR {} = {}", read.number("id")?, read.number("ret")?);
            }
            _ if name.starts_with("sys_exit_") => {
                let _ = write!(out, "0x{:x}", read.number("ret")?);
            }
            _ if name.starts_with("sys_enter_") => read.list(out, ": 0x", ", ", true),
            _ if WRITTEN_BY_FIELD.contains(&name) => {}
            _ => read.list(out, "=", " ", false),
        }
        Some(())
    }

    /// The function at `address`, or else the address, which was written.
    fn function<'r>(&self, address: i64, text: &'r str) -> Option<Function<'r>>
    where
        'f: 'r,
    {
        self.symbols.function(address as u64).or_else(|| {
            let name = text.split(' ').next().filter(|name| !name.is_empty())?;
            Some(Function {
                name,
                module: None,
                args: "",
            })
        })
    }
}

/// The fields of one record.
struct Fields<'r> {
    format: &'r Format,
    record: &'r [u8],
    order: Order,
}

impl<'r> Fields<'r> {
    fn number(&self, name: &str) -> Option<i64> {
        self.format.field(name)?.number(self.record, self.order)
    }

    fn pid(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    fn text(&self, name: &str) -> Option<&'r str> {
        self.format.field(name)?.text(self.record, self.order)
    }

    fn task(&self, comm: &str, pid: &str) -> Option<Task<'r>> {
        Some(Task {
            comm: self.text(comm)?,
            pid: self.pid(pid)?,
        })
    }

    /// `name=value name=value`
    fn list(&self, out: &mut String, is: &str, and: &str, hex: bool) {
        for field in &self.format.fields {
            if out.len() > MAX_TEXT || field.name == "__syscall_nr" || field.name == "nr" {
                continue;
            }
            let apart = if out.is_empty() { "" } else { and };
            if let Some(text) = field.text(self.record, self.order) {
                let _ = write!(out, "{apart}{}={text}", field.name);
            } else if let Some(number) = field.number(self.record, self.order) {
                let _ = if hex {
                    write!(out, "{apart}{}{is}{number:x}", field.name)
                } else {
                    write!(out, "{apart}{}{is}{number}", field.name)
                };
            }
        }
    }
}

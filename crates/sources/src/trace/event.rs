//! One event of a kernel trace, whichever program wrote it down.

use bootlap_model::{ClockId, Evidence, Stamp};

/// When and where something is said.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) clock: ClockId,
    pub(crate) at: Stamp,
    pub(crate) evidence: Evidence,
}

/// An event, and the thread that it happened in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    /// When; `function_graph` without `funcgraph-abstime` has no times.
    pub(crate) at: Option<Stamp>,
    pub(crate) cpu: Option<u32>,
    /// The thread's name; empty if it is not known.
    pub(crate) comm: &'a str,
    pub(crate) pid: Option<u32>,
    pub(crate) what: What<'a>,
}

/// A function as the kernel names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) module: Option<&'a str>,
    /// `funcgraph-args` of Linux 6.15; else empty.
    pub(crate) args: &'a str,
}

/// A thread that an event speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task<'a> {
    pub(crate) comm: &'a str,
    pub(crate) pid: u32,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// `function_graph`: a function is entered, at a depth in any unit.
    Call { function: Function<'a>, depth: u32 },
    /// `function_graph`: a function that called nothing that was recorded.
    Leaf {
        function: Function<'a>,
        depth: u32,
        duration_ns: Option<i64>,
        value: Option<&'a str>,
    },
    /// `function_graph`: a function has returned.
    Return {
        /// Only with `funcgraph-tail`.
        name: Option<&'a str>,
        depth: u32,
        duration_ns: Option<i64>,
        value: Option<&'a str>,
    },
    /// The function tracer: a function is entered; it is not said when it
    /// returns.
    Enter { name: &'a str },
    /// A CPU goes from one thread to another.
    Switch {
        from: Task<'a>,
        /// It waits for something; else it was only interrupted.
        asleep: bool,
        to: Task<'a>,
    },
    /// A thread is made runnable.
    Wakeup { task: Task<'a> },
    /// A process or thread is made.
    Fork { parent: Task<'a>, child: Task<'a> },
    /// It is known whether a new one is a thread of its parent.
    New { task: Task<'a>, is_thread: bool },
    /// It has another name from now on.
    Rename { task: Task<'a> },
    /// A program is executed.
    Exec { program: &'a str, pid: u32 },
    /// Something else that is known of a process: its command line, its exit.
    Fact {
        key: &'static str,
        value: &'a str,
        pid: u32,
    },
    /// A process or thread ends.
    Exit { task: Task<'a> },
    /// It has ended by now, and nobody saw when.
    Gone { pid: u32 },
    /// All that it has used of the CPUs, ns.
    Used { task: Task<'a>, cpu_ns: i64 },
    /// The kernel begins the initcalls of a level.
    InitcallLevel { level: &'a str },
    /// An initcall begins.
    InitcallStart { function: Function<'a> },
    /// An initcall has returned.
    InitcallFinish {
        function: Function<'a>,
        ret: &'a str,
    },
    /// A module was loaded; its initcall follows.
    ModuleLoad { module: &'a str },
    /// The kernel asks user space for a module.
    ModuleRequest { module: &'a str },
    /// A system call begins.
    SysEnter { name: &'a str, args: &'a str },
    /// The kernel has read a path that a system call was given.
    Path { path: &'a str },
    /// A system call has returned.
    SysExit { name: &'a str, ret: &'a str },
    /// The thread was running, in this function if that is known.
    Sample { symbol: Option<&'a str> },
    /// A CPU runs at another frequency from now on.
    Frequency { cpu: u32, khz: u32 },
    /// A line goes to the kernel's log.
    Printk { text: &'a str },
    /// A program or the kernel wrote a note into the trace.
    Note { text: &'a str },
    /// Any other event.
    Other { name: &'a str, fields: &'a str },
    /// Belongs to another event, and adds nothing here: a stack's rows.
    Nothing,
}

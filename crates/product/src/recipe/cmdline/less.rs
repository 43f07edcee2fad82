//! Parameters that go.

use super::{Line, name_of};
use crate::cmdline::{self, is_parameter, value_of};
use crate::recipe::{Recipe, RecipeMeta};
use crate::{Edit, Parts, Target};

/// Takes words from the command line.
pub(in crate::recipe) struct Less {
    meta: &'static RecipeMeta,
    /// What it looks for, for a line that has none of it.
    what: &'static str,
    /// Whether a word goes.
    goes: fn(&str) -> bool,
    /// What speaks against it, and what comes in its place.
    instead: fn(&[&str]) -> Result<Option<&'static str>, String>,
}

impl Recipe for Less {
    fn meta(&self) -> &RecipeMeta {
        self.meta
    }

    fn edits(&self, target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
        let line = Line::of(target, parts)?;
        let words = cmdline::words(&line.text);
        if !words.iter().any(|w| (self.goes)(w)) {
            return Err(format!("the command line is without {} already", self.what));
        }
        let instead = (self.instead)(&words)?;
        let less = cmdline::changed(&line.text, |w| (!(self.goes)(w)).then(|| w.to_owned()));
        line.set_if_ready_is_seen(match instead {
            Some(word) => cmdline::with(&less, word),
            None => less,
        })
    }
}

/// Parameters that are for debugging whatever their value.
const DEBUG: [&str; 24] = [
    "bootmem_debug",
    "boot_delay",
    "debug",
    "drm.debug",
    "dyndbg",
    "earlycon",
    "earlyprintk",
    "ftrace",
    "ftrace_dump_on_oops",
    "ftrace_filter",
    "ftrace_graph_filter",
    "ftrace_graph_notrace",
    "ftrace_notrace",
    "ignore_loglevel",
    "initcall_debug",
    "keep_bootcon",
    "memtest",
    "no_hash_pointers",
    "sched_debug",
    "sched_verbose",
    "slab_debug",
    "slub_debug",
    "tp_printk",
    "trace_event",
];

/// Parameters that switch debugging on with one value.
const DEBUG_VALUES: [&str; 7] = [
    "apic=debug",
    "apic=verbose",
    "debug_pagealloc=on",
    "kmemleak=on",
    "memblock=debug",
    "page_owner=on",
    "page_poison=1",
];

fn is_debug(word: &str) -> bool {
    let switched = |known: &str| {
        let (name, value) = known.split_once('=').unwrap_or((known, ""));
        value_of(word, name) == Some(value)
    };
    // Behind memtest=0 and the like is nothing to save.
    DEBUG.iter().any(|name| is_parameter(word, name))
        || DEBUG_VALUES.iter().any(|known| switched(known))
        || name_of(word).ends_with(".dyndbg")
        || matches!(
            value_of(word, "loglevel").map(str::parse),
            Some(Ok(8_u32..))
        )
}

/// What was added to look into a boot is taken away.
///
/// `initcall_debug`, `ignore_loglevel`, `debug`, early consoles, tracers, tests
/// of memory and checking allocators: each costs a share of every boot that it
/// is forgotten in. An early console is slowest, as it waits for each byte.
pub(in crate::recipe) const LESS_DEBUG: Less = Less {
    meta: &RecipeMeta {
        name: "cmdline-less-debug",
        title: "what was added to debug a boot goes from the command line",
        risk: "a kernel that hangs early says less about where",
        values: &[],
    },
    what: "parameters for debugging",
    goes: is_debug,
    instead: |_| Ok(None),
};

/// The kernel does not set up the network.
///
/// `ip=` makes the kernel wait for a link and, with `dhcp`, for an answer,
/// before anything is mounted: 12 s at each boot in one report. Only a root on
/// the network needs it; for everything else user space does the same after
/// the application.
pub(in crate::recipe) const NO_IP: Less = Less {
    meta: &RecipeMeta {
        name: "cmdline-no-ip",
        title: "the kernel does not set up the network",
        risk: "there is no address until user space gives one",
        values: &[],
    },
    what: "ip=",
    goes: |word| value_of(word, "ip").is_some(),
    instead: |words| {
        let needs = |w: &&&str| {
            is_parameter(w, "nfsroot")
                || is_parameter(w, "cifsroot")
                || matches!(value_of(w, "root"), Some("/dev/nfs" | "/dev/cifs"))
        };
        match words.iter().find(needs) {
            Some(word) => Err(format!(
                "{word} needs the network before anything is mounted"
            )),
            None => Ok(None),
        }
    },
};

/// Whether the word makes a console of a screen.
fn is_screen(word: &str) -> bool {
    cmdline::console_of(word).is_some_and(cmdline::is_screen)
}

/// The screen is no console.
///
/// Each line is drawn, and a full screen scrolled, before the kernel goes on; on
/// a frame buffer without acceleration that costs more than a serial port.
pub(in crate::recipe) const NO_TTY_CONSOLE: Less = Less {
    meta: &RecipeMeta {
        name: "cmdline-no-tty-console",
        title: "the kernel does not print on the screen",
        risk: "messages only on the serial console; /dev/console is then that one",
        values: &[],
    },
    what: "a console= on the screen",
    goes: is_screen,
    instead: |words| {
        let mut others = words.iter().filter(|w| value_of(w, "console").is_some());
        match others.any(|w| !is_screen(w)) {
            true => Ok(None),
            false => Err("the screen is the only console; name a serial one too".into()),
        }
    },
};

/// The kernel does not wait a fixed time for the root's device.
///
/// Right where the root is not on a device that comes late, or where `rootwait`
/// waits for it anyway: both together wait the whole time.
pub(in crate::recipe) const NO_ROOTDELAY: Less = Less {
    meta: &RecipeMeta {
        name: "cmdline-no-rootdelay",
        title: "the kernel does not wait a fixed time before it mounts the root",
        risk: "a root on a device that comes late (USB, SD card) is not found without rootwait",
        values: &[],
    },
    what: "rootdelay=",
    goes: |word| is_parameter(word, "rootdelay"),
    instead: |_| Ok(None),
};

/// The kernel waits for the root's device exactly as long as it takes.
///
/// `rootdelay=5` waits five seconds, also for a device that is there after one;
/// `rootwait` looks again and again, every 5 ms.
pub(in crate::recipe) const ROOTWAIT: Less = Less {
    meta: &RecipeMeta {
        name: "cmdline-rootwait",
        title: "the kernel waits for the root's device only until it is there",
        risk: "a device that never comes is waited for without an end",
        values: &[],
    },
    what: "rootdelay=",
    goes: |word| is_parameter(word, "rootdelay"),
    instead: |words| {
        let there = words.iter().any(|w| is_parameter(w, "rootwait"));
        Ok((!there).then_some("rootwait"))
    },
};

//! Lines of a kernel's stack dump: a warning, an oops, a stalled task.
//!
//! Dozens of lines that come at once, often with one stamp for all of them, and with a
//! slow console as the only thing that takes time. None of them says what the machine did.

/// How such lines begin, by architecture: x86, Arm, Arm64, RISC-V and MIPS, PowerPC.
const STARTS: [&str; 41] = [
    // Of all.
    "------------[ cut here ]",
    "---[ end trace",
    "Modules linked in:",
    "Call Trace:",
    "Call trace:",
    "Hardware name: ",
    "Workqueue: ",
    "WARNING: CPU: ",
    "<TASK>",
    "</TASK>",
    "<IRQ>",
    "</IRQ>",
    "irq event stamp: ",
    // x86.
    "RIP: ",
    "RSP: ",
    "RAX: ",
    "RDX: ",
    "RBP: ",
    "R10: ",
    "R13: ",
    "FS:  ",
    "CS:  ",
    "CR2: ",
    "DR0: ",
    "EIP: ",
    "EAX: ",
    "ESI: ",
    // Arm.
    "Backtrace:",
    "Stack: (",
    "Exception stack(",
    "pc : ",
    "lr : ",
    "sp : ",
    "psr: ",
    "pstate: ",
    // RISC-V, MIPS.
    "epc : ",
    "$ 0   :",
    "Hi    :",
    // PowerPC.
    "NIP: ",
    "GPR00: ",
    "Instruction dump:",
];

/// Whether a line of the kernel's log, without its time, is part of a stack dump.
pub(crate) fn is_dump(text: &str) -> bool {
    // Whoever runs, with its thread: "CPU: 0 PID: 1 Comm: swapper/0 Not tainted 6.1.0 #1".
    let who = || text.starts_with("CPU: ") && text.contains(" PID: ");
    let first = text.as_bytes().first();
    let starts = |start: &&str| start.as_bytes().first() == first && text.starts_with(*start);
    who() || STARTS.iter().any(starts) || is_frame(text) || is_stack(text)
}

/// `? do_one_initcall+0x40/0x1f0`, `[<c010e5c8>] (show_stack) from [<c0a3d9e4>]`; but not
/// what `initcall_debug` says of a function.
pub(crate) fn is_frame(text: &str) -> bool {
    if text.starts_with("[<") {
        return true;
    }
    let name = text.strip_prefix("? ").unwrap_or(text);
    // A symbol begins the line: most lines have something else long before any plus.
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let Some((symbol, offset)) = name.split_once('+') else {
        return false;
    };
    let Some(offset) = offset.strip_prefix("0x") else {
        return false;
    };
    let digits = offset.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    !symbol.is_empty() && symbol.chars().all(is_symbol) && digits.starts_with("/0x")
}

/// Words of the stack or of registers: `x29: ffff80001005bc10 x28: 0000000000000000`,
/// `bf00: 00000000 c0d04ec8`.
fn is_stack(text: &str) -> bool {
    let Some((name, value)) = text.split_once(':') else {
        return false;
    };
    let name = name.trim();
    let is_hex = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_hexdigit());
    let is_register = name.len() <= 4
        && (is_hex(name) && name.len() == 4
            || name.starts_with(['x', 'r']) && name[1..].trim().parse::<u8>().is_ok());
    let first = value.split_whitespace().next();
    is_register && first.is_some_and(|word| word.len() >= 8 && is_hex(word))
}

#[cfg(test)]
mod tests {
    use super::is_dump;

    #[test]
    fn lines_of_dumps_and_lines_like_them() {
        let dump = [
            "------------[ cut here ]------------",
            "WARNING: CPU: 0 PID: 1 at drivers/regulator/core.c:2017 _regulator_put+0x3c/0x48",
            "CPU: 1 PID: 1 Comm: swapper/0 Not tainted 5.10.0 #1",
            "Hardware name: Generic DT based system",
            "Modules linked in:",
            "do_syscall_64+0x57/0x190",
            "? __wake_up_pollfree+0x40/0x40",
            "__pfx_kernel_init+0x10/0x10",
            "RIP: 0010:urandom_read+0x268/0x480",
            "CR2: 0000000000000038",
            "x29: ffff80001005bc10 x28: 0000000000000000",
            "r10: c0d04ec8  r9 : 00000000",
            "bf00: 00000000 c0d04ec8 00000001",
            "[<c010e5c8>] (show_stack) from [<c0a3d9e4>] (dump_stack+0x8c/0xa0)",
            "---[ end trace 43ef301ad4cafb21 ]---",
        ];
        let others = [
            "Linux version 6.1.0 (gcc) #1 SMP",
            "calling  slow_init+0x0/0x40 @ 1",
            "initcall slow_init+0x0/0x40 returned 0 after 500000 usecs",
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "pci 0000:00:1f.2: [8086:2922] type 00 class 0x010601",
            "CPU: ARMv7 Processor [412fc0f1] revision 1 (ARMv7), cr=10c5387d",
            "smp: Brought up 1 node, 4 CPUs",
            "r8169 0000:02:00.0 eth0: link up",
            "rtc: 12345678",
            "Process accounting resumed",
            "status: ready",
            "mem auto-init: stack:all(zero)",
            "",
        ];
        for line in dump {
            assert!(is_dump(line), "{line}");
        }
        for line in others {
            assert!(!is_dump(line), "{line}");
        }
    }
}

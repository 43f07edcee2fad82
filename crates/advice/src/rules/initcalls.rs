//! Initcalls that take long, as `initcall_debug` shows them.

use std::collections::BTreeSet;

use super::seen::{built_in, init_ns, is_module, is_probe, ms, of_initcalls, options_on};
use super::{Rule, rule};
use crate::boot::{Found, evidence, total_ns};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &SLOW,
    &NO_DEVICE,
    &SLOW_PROBE,
    &USB_HOST,
    &JITTER,
    &DISABLE_UNUSED,
    &TRACING,
    &FTRACE,
    &CERTIFICATES,
    &BTF,
];

/// From here on an initcall is worth a look.
const SLOW_NS: i64 = 10_000_000;

/// How many of them one boot is told of.
const AT_MOST: usize = 5;

/// What no kernel can do without: to leave it out is no advice.
const CORE: &[&str] = &[
    "acpi_init",
    "inet_init",
    "chr_dev_init",
    "driver_init",
    "pci_subsys_init",
    "pcibios_assign_resources",
    "pnpacpi_init",
    "of_platform_default_populate_init",
    "init_acpi_pm_clocksource",
    "tty_init",
    "smp_init",
];

/// What other rules say more of, and what no rule has to say anything of.
const KNOWN: &[&[&str]] = &[
    CORE,
    BTF_INITCALLS,
    &["crypto_algapi_init", "crypto_algboss_init"],
    &[
        "populate_rootfs",
        "ip_auto_config",
        "raid6_select_algo",
        "calibrate_xor_blocks",
    ],
    &[
        "kunit_init",
        "event_trace_self_tests_init",
        "trace_selftest_init",
    ],
    USB_HOSTS,
    JITTER_INITCALLS,
    DISABLERS,
    TRACERS,
    CERTIFICATE_LISTS,
    super::legacy::INITCALLS,
];

rule! {
    /// An initcall of the kernel takes long.
    ///
    /// **Why.** What is built in is initialised one after the other, before the first
    /// program runs, whether the application needs it early or not.
    ///
    /// **Evidence.** Built-in initcalls of 10 ms and more in a boot with
    /// `initcall_debug`, the five longest, apart from those that have rules of their own,
    /// those that found no device, and what no kernel can do without (`acpi_init`).
    ///
    /// **Fix.** Leave the driver out; build it as a module (`=m`) and load it after the
    /// application; or let it probe beside others (`driver_async_probe=`). Of a kernel that
    /// is built from source, the option is named (`kernel-options=NAME=n`), and whether the
    /// target gets ready without it, `try` shows; of others, `bootlap explain` names it.
    ///
    /// **Risk.** What needs the driver comes later, or not at all.
    ///
    /// **Figures.** 950 ms by building as modules what is not needed at boot (SAMA5D3x,
    /// Free Electrons); 3 s to 0.3 s with asynchronous probes, deferred memory and
    /// trimmed modules (Intel, LPC 2019).
    SLOW = "initcall-slow", Kernel, slow
}

fn slow(boot: &Boot<'_>) -> Vec<Finding> {
    let mut calls = boot.initcalls(|name| !KNOWN.iter().any(|known| known.contains(&name)));
    calls.retain(|c| c.ns() >= SLOW_NS && !is_probe(c) && !is_module(c) && found_device(c));
    calls.sort_by_key(|c| std::cmp::Reverse(c.ns()));
    calls.truncate(AT_MOST);
    let findings = calls.iter().filter_map(|call| {
        let title = format!("initcall {} takes long", call.name());
        let finding = of_initcalls(boot, std::slice::from_ref(call), &title)?;
        let Some(option) = boot.facts().initcall_options.get(call.name()) else {
            return Some(finding.fix(format!(
                "find out what {} belongs to (`bootlap explain`); if nothing needs it early, \
                 build it as a module and load it after the application, or leave it out",
                call.name()
            )));
        };
        let finding = finding.fix(format!(
            "CONFIG_{option} builds it in: if nothing needs it early, build it as a module and \
             load it after the application, or leave it out"
        ));
        Some(finding.recipe(boot.recipe(&format!("kernel-options={option}=n"))))
    });
    findings.collect()
}

/// Errors that say: the hardware is not there.
const ABSENT: [&str; 3] = ["-19", "-6", "-2"];

fn found_device(call: &Found<'_>) -> bool {
    call.arg("ret").is_none_or(|ret| !ABSENT.contains(&ret))
}

rule! {
    /// Drivers look for hardware that is not there.
    ///
    /// **Why.** A driver that is built in looks for its device at each boot; on a product
    /// whose hardware is known, it never finds it.
    ///
    /// **Evidence.** Built-in initcalls that returned -19 (no such device), -6 or -2 in a
    /// boot with `initcall_debug`, and took 1 ms or more each.
    ///
    /// **Fix.** Build the kernel without these drivers (`kernel-options=` names their
    /// options, if it is built from source); `initcall_blacklist=` does the same for a
    /// kernel that cannot be built.
    ///
    /// **Risk.** A product variant that has the device loses it.
    ///
    /// **Figures.** None is published for these alone; the boot itself tells.
    NO_DEVICE = "initcall-no-device", Kernel, no_device
}

fn no_device(boot: &Boot<'_>) -> Option<Finding> {
    let mut calls = boot.initcalls(|name| !super::legacy::INITCALLS.contains(&name));
    calls.retain(|c| c.ns() >= 1_000_000 && !is_probe(c) && !is_module(c) && !found_device(c));
    let names: Vec<&str> = calls.iter().map(Found::name).collect();
    let list = names.join(",");
    let finding = of_initcalls(boot, &calls, "drivers look for hardware that is not there")?;
    let finding = finding
        .fix(format!(
            "build the kernel without these drivers, or add `initcall_blacklist={list}` to the \
             command line"
        ))
        .recipe(
            without_options(boot, &names)
                .unwrap_or_else(|| boot.recipe(&format!("cmdline-initcall-blacklist={list}"))),
        );
    Some(finding)
}

/// The recipe that builds the kernel without these initcalls, if the option of
/// each is known.
fn without_options(boot: &Boot<'_>, names: &[&str]) -> Option<Result<String, String>> {
    let option = |name: &&str| boot.facts().initcall_options.get(*name);
    let options: Option<BTreeSet<&String>> = names.iter().map(option).collect();
    let off: Vec<String> = options?.iter().map(|o| format!("{o}=n")).collect();
    Some(boot.recipe(&format!("kernel-options={}", off.join(","))))
}

/// From here on a probe is worth running beside others.
const SLOW_PROBE_NS: i64 = 20_000_000;

rule! {
    /// Slow devices are probed one after the other.
    ///
    /// **Why.** A driver's probe runs inside its initcall, unless the driver asks to be
    /// probed beside others; waiting for hardware then makes everything wait.
    ///
    /// **Evidence.** `probe of DEVICE returned 0 after N usecs` with 20 ms and more,
    /// before the first program, in a boot with `initcall_debug`; at least two of them,
    /// as one alone has nothing to run beside.
    ///
    /// **Fix.** `driver_async_probe=DRIVER,...` on the command line (since 5.0; `*` for
    /// all since 6.1). The driver of a device:
    /// `basename $(readlink /sys/bus/*/devices/DEVICE/driver)`.
    ///
    /// **Risk.** Devices are numbered in the order in which they come: `mmcblk0` may
    /// become `mmcblk1`; mount by UUID or alias. Drivers with hidden dependencies break.
    ///
    /// **Figures.** 3.08 s to 2.20 s by loading modules in parallel (two-core Turion);
    /// part of 3 s to 0.3 s (Intel, LPC 2019).
    SLOW_PROBE = "cmdline-async-probe", Kernel, slow_probe
}

fn slow_probe(boot: &Boot<'_>) -> Option<Finding> {
    let mut probes = boot.initcalls(|_| true);
    let init = init_ns(boot).unwrap_or(i64::MAX);
    probes.retain(|p| is_probe(p) && p.ns() >= SLOW_PROBE_NS && p.end_ns <= init);
    // A bridge's probe contains those of what is behind it: only the innermost
    // can run beside others.
    let all = probes.clone();
    let inside = |outer: &Found<'_>, p: &Found<'_>| {
        p.start_ns >= outer.start_ns && p.end_ns <= outer.end_ns && p.ns() < outer.ns()
    };
    probes.retain(|outer| !all.iter().any(|p| inside(outer, p)));
    let longest = probes.iter().max_by_key(|p| p.ns())?;
    if probes.len() < 2 {
        return None;
    }
    let named = probes.iter().take(AT_MOST);
    let named: Vec<String> = named
        .map(|p| format!("{} ({})", p.name(), ms(p.ns())))
        .collect();
    let rest_ns = total_ns(&probes).saturating_sub(longest.ns());
    let finding = Finding::new("slow devices are probed one after the other")
        .why(named.join(", "))
        .saves(
            rest_ns,
            "at most: all but the longest of these probes, if they run beside it",
        )
        .fix(
            "add `driver_async_probe=` with the drivers of these devices to the command line; \
             `basename $(readlink /sys/bus/*/devices/DEVICE/driver)` names them",
        )
        .seen(evidence(&probes));
    Some(finding)
}

const USB_HOSTS: &[&str] = &[
    "ehci_hcd_init",
    "ehci_pci_init",
    "ehci_platform_init",
    "ohci_hcd_mod_init",
    "ohci_pci_init",
    "ohci_platform_init",
    "uhci_hcd_init",
    "xhci_hcd_init",
    "xhci_pci_init",
    "xhci_plat_init",
    "dwc2_platform_driver_init",
    "dwc3_driver_init",
    "musb_init",
];

rule! {
    /// USB hosts start before the application.
    ///
    /// **Why.** Resetting a USB host controller and its ports takes tens to hundreds of
    /// ms, mostly waiting; few products need USB to become ready.
    ///
    /// **Evidence.** The initcalls of the host drivers (`ehci_hcd_init`, `xhci_pci_init`,
    /// `dwc2_platform_driver_init` ...) in a boot with `initcall_debug`.
    ///
    /// **Fix.** Build them as modules and load them after the application.
    ///
    /// **Risk.** A keyboard, a stick or a root filesystem on USB comes later.
    ///
    /// **Figures.** 530 ms (x86, Linux 2.6.27, ehci and uhci); 0.1 s for
    /// `ehci_hcd_init` (OMAP EVM, T. Bird).
    USB_HOST = "initcall-usb-host", Kernel, usb_host
}

fn usb_host(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, USB_HOSTS);
    let finding = of_initcalls(boot, &calls, "USB hosts start before the application")?;
    Some(finding.fix("build the USB host drivers as modules and load them after the application"))
}

const JITTER_INITCALLS: &[&str] = &["jent_mod_init"];

rule! {
    /// The kernel collects jitter as entropy at each boot.
    ///
    /// **Why.** The jitter generator tests itself when it is initialised: it measures its
    /// own memory accesses a thousand times and more.
    ///
    /// **Evidence.** The initcall `jent_mod_init` in a boot with `initcall_debug`.
    ///
    /// **Fix.** `CONFIG_CRYPTO_JITTERENTROPY=m` (or off), if neither FIPS 140 nor the DRBG
    /// needs it: with a hardware generator the kernel has better sources.
    ///
    /// **Risk.** `CONFIG_CRYPTO_DRBG` selects it; one of the two may have to go with it.
    ///
    /// **Figures.** None is published; the boot itself tells.
    JITTER = "config-jitterentropy", Kernel, jitter
}

fn jitter(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, JITTER_INITCALLS);
    let finding = of_initcalls(
        boot,
        &calls,
        "the kernel collects jitter as entropy at each boot",
    )?;
    Some(
        finding
            .fix("build the kernel with CONFIG_CRYPTO_JITTERENTROPY=m, unless FIPS 140 wants it"),
    )
}

const DISABLERS: &[&str] = &[
    "clk_disable_unused",
    "regulator_init_complete",
    "genpd_power_off_unused",
    "imx_clk_disable_uart",
];

rule! {
    /// The kernel switches unused clocks off before the first program.
    ///
    /// **Why.** After all drivers, each clock, regulator and power domain that nobody
    /// asked for is switched off; some wait for hardware, others for a slow bus.
    ///
    /// **Evidence.** The initcalls `clk_disable_unused`, `genpd_power_off_unused` and
    /// `regulator_init_complete` in a boot with `initcall_debug`.
    ///
    /// **Fix.** Let the boot loader leave off what is not used, so that nothing is to be
    /// done; `clk_ignore_unused` and `pd_ignore_unused` skip it.
    ///
    /// **Risk.** With these parameters unused hardware stays on and takes power.
    ///
    /// **Figures.** 270 ms for `clk_disable_unused` (OMAP EVM, T. Bird).
    DISABLE_UNUSED = "initcall-disable-unused", Kernel, disable_unused
}

fn disable_unused(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, DISABLERS);
    let title = "the kernel switches unused clocks off before the first program";
    let finding = of_initcalls(boot, &calls, title)?;
    Some(finding.fix(
        "let the boot loader leave off what is not used; to see what it costs, boot with \
         `clk_ignore_unused pd_ignore_unused`",
    ))
}

const TRACERS: &[&str] = &[
    "init_graph_trace",
    "init_function_trace",
    "tracer_init_tracefs",
    "trace_eval_init",
    "trace_eval_sync",
    "event_trace_init",
    "init_kprobe_trace",
    "init_uprobe_trace",
    "init_dynamic_event",
    "init_trace_events",
    "init_blk_tracer",
    "dynamic_debug_init",
    "dynamic_debug_init_control",
    "init_kprobes",
    "bpf_event_init",
];

rule! {
    /// The kernel makes ready for tracing at each boot.
    ///
    /// **Why.** Trace events get a folder with files each, probes and debug messages a
    /// table; a product that is not traced needs none of it.
    ///
    /// **Evidence.** The initcalls `tracer_init_tracefs`, `trace_eval_init`,
    /// `dynamic_debug_init`, `init_kprobes` and their like in a boot with
    /// `initcall_debug`.
    ///
    /// **Fix.** `CONFIG_FTRACE=n`, `CONFIG_KPROBES=n`, `CONFIG_DYNAMIC_DEBUG=n`.
    ///
    /// **Risk.** No tracing in the field; BPF tools and some security products need it.
    ///
    /// **Figures.** About 0.5 s for tracing and debugging options (AGNOS, SDM845).
    TRACING = "config-tracing", Kernel, tracing
}

fn tracing(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, TRACERS);
    let calls: Vec<Found<'_>> = calls.into_iter().filter(|c| c.ns() >= 500_000).collect();
    let finding = of_initcalls(
        boot,
        &calls,
        "the kernel makes ready for tracing at each boot",
    )?;
    let fix = "build the kernel without CONFIG_FTRACE, CONFIG_KPROBES and CONFIG_DYNAMIC_DEBUG, if \
               nothing in the product traces";
    Some(finding.fix(fix))
}

rule! {
    /// The kernel patches each of its functions for tracing.
    ///
    /// **Why.** With the function tracer built in, the call at the start of each function
    /// is turned into a no-op, one by one, before anything else.
    ///
    /// **Evidence.** The time from `ftrace: allocating N entries` to the next line.
    ///
    /// **Fix.** `CONFIG_FUNCTION_TRACER=n`. Since 5.16 the build can sort the list
    /// (`CONFIG_BUILDTIME_MCOUNT_SORT`), which takes part of it away.
    ///
    /// **Risk.** No function tracing; live patching needs it.
    ///
    /// **Figures.** None is published alone; the boot itself tells.
    FTRACE = "config-function-tracer", Kernel, ftrace
}

fn ftrace(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line("ftrace: allocating ")?;
    let finding = Finding::new("the kernel patches each of its functions for tracing")
        .why(format!(
            "`{}` and what follows take {}",
            line.text,
            ms(line.ns())
        ))
        .saves(line.ns(), "from that line to the next")
        .fix("build the kernel with CONFIG_FUNCTION_TRACER=n, if nothing in the product traces")
        .at(Some(line.at()))
        .seen([line.evidence]);
    Some(finding)
}

const CERTIFICATE_LISTS: &[&str] = &[
    "load_system_certificate_list",
    "load_revocation_certificate_list",
    "regulatory_init_db",
    "load_builtin_regdb_keys",
];

rule! {
    /// The kernel loads and checks built-in certificates at each boot.
    ///
    /// **Why.** Each certificate in the kernel is parsed, and its signature checked with
    /// RSA or ECDSA, before the first program.
    ///
    /// **Evidence.** The initcalls `load_system_certificate_list`,
    /// `load_revocation_certificate_list` and `regulatory_init_db` in a boot with
    /// `initcall_debug`; else the time from `Loading compiled-in X.509 certificates` to
    /// the line behind the last `Loaded X.509 cert`.
    ///
    /// **Fix.** Build in only the keys that the product checks with: one key for modules
    /// in `CONFIG_SYSTEM_TRUSTED_KEYS`; elliptic curves instead of RSA; `cfg80211` as a
    /// module.
    ///
    /// **Risk.** Modules or images signed with a key that is left out are refused.
    ///
    /// **Figures.** None is published; the boot itself tells.
    CERTIFICATES = "config-system-certificates", Kernel, certificates
}

fn certificates(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel loads and checks built-in certificates at each boot";
    let fix = "build in only the keys that the product checks with (CONFIG_SYSTEM_TRUSTED_KEYS); \
               keys of elliptic curves are checked faster than RSA";
    let calls = built_in(boot, CERTIFICATE_LISTS);
    if let Some(finding) = of_initcalls(boot, &calls, title) {
        return Some(finding.fix(fix));
    }
    let first = boot.line("Loading compiled-in X.509 certificates")?;
    let init = init_ns(boot)?;
    let mut loaded = boot.lines().iter().filter(|l| {
        l.text.contains("Loaded X.509 cert") && (first.start_ns..init).contains(&l.start_ns)
    });
    let last = loaded.next_back()?;
    let ns = last.start_ns.saturating_sub(first.start_ns);
    let finding = Finding::new(title)
        .why(format!("it takes {}", ms(ns)))
        .saves(ns, "at most: from the first of these lines to the last")
        .fix(fix)
        .at(Some([first.start_ns, last.start_ns]))
        .seen([first.evidence]);
    Some(finding)
}

/// The first that registers functions for BPF parses all types; which that is
/// depends on the kernel: cubictcp_register of 6.1, bpf_tcp_ca_kfunc_init of 6.12.
const BTF_INITCALLS: &[&str] = &[
    "btf_vmlinux_init",
    "cubictcp_register",
    "bpf_tcp_ca_kfunc_init",
];

rule! {
    /// The kernel carries its types for BPF (BTF).
    ///
    /// **Why.** BTF describes all types of the kernel, some MB that are loaded with it;
    /// each module brings its own, which is checked when it is loaded.
    ///
    /// **Evidence.** The initcalls `btf_vmlinux_init`, `cubictcp_register` (6.1) and
    /// `bpf_tcp_ca_kfunc_init` (6.12), the first of which parses all types, in a boot with
    /// `initcall_debug`; else `CONFIG_DEBUG_INFO_BTF=y`.
    ///
    /// **Fix.** `CONFIG_DEBUG_INFO_BTF=n`; if only modules suffer,
    /// `CONFIG_DEBUG_INFO_BTF_MODULES=n`.
    ///
    /// **Risk.** BPF programs that are compiled once for all kernels (CO-RE), and
    /// systemd's BPF features, do not work.
    ///
    /// **Figures.** None is published; it is bytes of the image divided by the speed of
    /// storage and decompression.
    BTF = "config-debug-info-btf", Kernel, btf
}

fn btf(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel carries its types for BPF";
    let fix = "build the kernel with CONFIG_DEBUG_INFO_BTF=n, if nothing in the product uses BPF";
    let calls = built_in(boot, BTF_INITCALLS);
    if let Some(finding) = of_initcalls(boot, &calls, title).filter(|f| f.saving.ns >= 1_000_000) {
        return Some(finding.fix(fix));
    }
    if options_on(boot, &["DEBUG_INFO_BTF"]).is_empty() {
        return None;
    }
    let finding = Finding::new(title)
        .why("the kernel is built with CONFIG_DEBUG_INFO_BTF")
        .saves_unknown("some MB of the image less: it depends on storage and compression")
        .fix(fix);
    Some(finding)
}

//! Initcalls that take long, as `initcall_debug` shows them.

use std::collections::BTreeSet;

use super::checks;
use super::seen::{
    built_in, init_ns, is_kernels, is_module, is_probe, ms, of_initcalls, options_on,
};
use crate::boot::{Found, evidence, total_ns};
use crate::lines::{Begin, Line};
use crate::{Boot, Finding};

checks! {
    "initcall-slow" => slow,
    "initcall-no-device" => no_device,
    "cmdline-async-probe" => slow_probe,
    "initcall-usb-host" => usb_host,
    "config-jitterentropy" => jitter,
    "initcall-disable-unused" => disable_unused,
    "config-tracing" => tracing,
    "config-function-tracer" => ftrace,
    "config-system-certificates" => certificates,
    "config-debug-info-btf" => btf,
}

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
    "slab_sysfs_init",
    "param_sysfs_init",
    "ksysfs_init",
    "topology_sysfs_init",
    "cacheinfo_sysfs_init",
    "init_per_zone_wmark_min",
    "kswapd_init",
    "clocksource_done_booting",
    "init_clocksource_sysfs",
    "genhd_device_init",
    "irq_sysfs_init",
    "acpi_event_init",
    "dmi_init",
    "pci_iommu_init",
    "pci_sysfs_init",
    "proc_genhd_init",
    "init_vdso",
    "default_bdi_init",
    "kcompactd_init",
    "oom_init",
    "slab_late_init",
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

fn slow(boot: &Boot<'_>) -> Vec<Finding> {
    let is_known = |c: &Found<'_>| KNOWN.iter().any(|known| known.contains(&c.name()));
    let mut calls = boot.long_initcalls(SLOW_NS);
    calls.retain(|c| boot.own_ns(c) >= SLOW_NS && !is_known(c));
    calls.retain(|c| !is_probe(c) && !is_module(c) && found_device(c));
    calls.sort_by_key(|c| std::cmp::Reverse(boot.own_ns(c)));
    calls.truncate(AT_MOST);
    let findings = calls.iter().filter_map(|call| {
        let title = format!("initcall {} takes long", call.name());
        let finding = of_initcalls(boot, std::slice::from_ref(call))?.titled(title);
        let Some(option) = boot.facts().initcall_options.get(call.name()) else {
            return Some(finding.fix(format!(
                "find out what {} belongs to (`bootlap explain` with the kernel's source): what \
                 the core needs has to stay; a driver can be left out, or, if its option is a \
                 tristate, be a module that is loaded after the application",
                call.name()
            )));
        };
        let finding = finding.fix(format!(
            "CONFIG_{option} builds it in: leave it out if nothing needs it, or, if that option is \
             a tristate, build it as a module and load it after the application"
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

fn no_device(boot: &Boot<'_>) -> Option<Finding> {
    let mut calls = boot.long_initcalls(1_000_000);
    calls.retain(|c| !super::legacy::INITCALLS.contains(&c.name()));
    calls.retain(|c| !is_probe(c) && !is_module(c) && !found_device(c));
    let names: Vec<&str> = calls.iter().map(Found::name).collect();
    let list = names.join(",");
    let finding = of_initcalls(boot, &calls)?;
    Some(
        finding
            .fix(format!(
                "build the kernel without these drivers, or add `initcall_blacklist={list}` to the \
             command line"
            ))
            .recipe(
                without_options(boot, &names)
                    .unwrap_or_else(|| boot.recipe(&format!("cmdline-initcall-blacklist={list}"))),
            ),
    )
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

fn slow_probe(boot: &Boot<'_>) -> Option<Finding> {
    let mut probes = boot.long_initcalls(SLOW_PROBE_NS);
    let init = init_ns(boot).unwrap_or(i64::MAX);
    probes.retain(|p| is_probe(p) && p.end_ns <= init);
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
    Some(
        Finding::new()
            .why(named.join(", "))
            .saves(
                rest_ns,
                "at most: all but the longest of these probes, if they run beside it",
            )
            .seen(evidence(&probes)),
    )
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

fn usb_host(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, USB_HOSTS);
    of_initcalls(boot, &calls)
}

const JITTER_INITCALLS: &[&str] = &["jent_mod_init"];

fn jitter(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, JITTER_INITCALLS);
    of_initcalls(boot, &calls)
}

const DISABLERS: &[&str] = &[
    "clk_disable_unused",
    "regulator_init_complete",
    "genpd_power_off_unused",
    "imx_clk_disable_uart",
];

fn disable_unused(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, DISABLERS);
    of_initcalls(boot, &calls)
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

fn tracing(boot: &Boot<'_>) -> Option<Finding> {
    let beside = beside_the_check(boot);
    let mut calls = built_in(boot, TRACERS);
    calls.retain(|c| c.ns() >= 500_000 && beside.iter().all(|b| b.name() != c.name()));
    of_initcalls(boot, &calls)
}

fn ftrace(boot: &Boot<'_>) -> Option<Finding> {
    let of_check = of_check(boot);
    let Some(line) = boot.line("ftrace: allocating ") else {
        return of_check;
    };
    let why = format!("`{}` and what follows take {}", line.text, ms(line.ns()));
    let finding = Finding::new().at(Some(line.at())).seen([line.evidence]);
    let Some(check) = of_check else {
        let basis = "from that line to the next";
        return Some(finding.why(why).saves(line.ns(), basis));
    };
    let both_ns = line.ns().saturating_add(check.saving.ns);
    let basis = format!("at most: from that line to the next, and {ITS_CALLS}");
    let finding = finding.why(format!("{why}; {}", check.why));
    Some(finding.saves(both_ns, basis).seen(check.evidence))
}

/// Since Linux 5.19 a kernel thread looks at each function's name once more. Where it gets the CPU
/// first, an initcall waits: in Linux 6.12 the one right behind, in 6.1 the first that starts
/// a thread. Both do little themselves.
const BESIDE_THE_CHECK: &[&str] = &["trace_eval_init", "default_bdi_init"];

const ITS_CALLS: &str = "the initcalls beside which the check runs";

fn beside_the_check<'a>(boot: &Boot<'a>) -> Vec<Found<'a>> {
    let mut calls = built_in(boot, BESIDE_THE_CHECK);
    let is_checked = !built_in(boot, &["ftrace_check_for_weak_functions"]).is_empty();
    calls.retain(|c| is_checked && c.ns() >= SLOW_NS);
    calls
}

fn of_check(boot: &Boot<'_>) -> Option<Finding> {
    let calls = beside_the_check(boot);
    let names: Vec<&str> = calls.iter().map(Found::name).collect();
    let finding = of_initcalls(boot, &calls)?;
    let ns = total_ns(&calls);
    Some(
        finding
            .why(format!(
                "{} takes {}, beside which the kernel checks the list of its functions",
                names.join(", "),
                ms(ns)
            ))
            .saves(ns, format!("at most: {ITS_CALLS}")),
    )
}

const CERTIFICATE_LISTS: &[&str] = &[
    "load_system_certificate_list",
    "load_revocation_certificate_list",
    "regulatory_init_db",
    "load_builtin_regdb_keys",
];

fn certificates(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, CERTIFICATE_LISTS);
    if let Some(finding) = of_initcalls(boot, &calls) {
        return Some(finding);
    }
    // Others load lists of their own, which say so in front: `cfg80211: `.
    let lines = boot.lines();
    let begins = Begin("Loading compiled-in X.509 certificates");
    let at = lines.places(begins).next()?;
    let first = lines.get(at).filter(|l| is_kernels(boot, l))?;
    let loads = |l: &&Line<'_>| l.text.starts_with("Loaded X.509 cert");
    let last = lines[at + 1..].iter().take_while(loads).last()?;
    let ns = last.start_ns.saturating_sub(first.start_ns);
    Some(
        Finding::new()
            .why(format!("it takes {}", ms(ns)))
            .saves(ns, "at most: from the first of these lines to the last")
            .at(Some([first.start_ns, last.start_ns]))
            .seen([first.evidence]),
    )
}

/// The first that registers functions for BPF parses all types; which that is
/// depends on the kernel: cubictcp_register of 6.1, bpf_tcp_ca_kfunc_init of 6.12. The dummy
/// looks through them for its own.
const BTF_INITCALLS: &[&str] = &[
    "bpf_dummy_struct_ops_init",
    "btf_vmlinux_init",
    "cubictcp_register",
    "bpf_tcp_ca_kfunc_init",
];

fn btf(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, BTF_INITCALLS);
    if let Some(finding) = of_initcalls(boot, &calls).filter(|f| f.saving.ns >= 1_000_000) {
        return Some(finding);
    }
    if options_on(boot, &["DEBUG_INFO_BTF"]).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why("the kernel is built with CONFIG_DEBUG_INFO_BTF")
            .saves_unknown("some MB of the image less: it depends on storage and compression"),
    )
}

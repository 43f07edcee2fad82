//! Each rule on a boot that shows what it looks for, and on one that does not.

mod common;
#[path = "common/kernels.rs"]
mod kernels;
#[path = "common/logs.rs"]
mod logs;

use bootlap_advice::{Boot, Facts, SavingKind, advise};
use bootlap_model::TrackKind::{Bootloader, Console, Initcall, Kernel, Unit, Userspace};
use bootlap_model::{Milestone, SpanEnd, Stamp};
use bootlap_product::Machine;

use common::{Builder, MS, found, target, target_with};
use kernels::{bzimage_of, vmlinux_of, zimage_of};

fn at(ns: i64) -> SpanEnd {
    SpanEnd::At(Stamp::new(ns, 0))
}

#[test]
fn nothing_seen_nothing_advised() {
    assert_eq!(Builder::new().advice(), []);
    let empty = bootlap_model::Timeline::default();
    assert_eq!(advise(&Boot::new(&empty).explained(Some(&empty))), []);
}

#[test]
fn the_longest_comes_first_whether_or_not_it_is_known_how_much_goes() {
    let blame = "9.012s NetworkManager-wait-online.service\n\
        1.600s systemd-modules-load.service\n5.214s snapd.service\n";
    let timeline = logs::read(&[blame]);
    let advice = advise(&Boot::new(&timeline));
    let rules: Vec<&str> = advice.iter().map(|f| &*f.rule).collect();
    let expected = [
        "systemd-wait-online",
        "systemd-snapd",
        "systemd-modules-load",
    ];
    assert_eq!(rules, expected);
    // What is known is less than some of them take, and more than others do.
    let log = "[    0.000000] Linux version 6.1.0 (cc) #1\n\
        [    0.100000] Waiting 3 sec before mounting root device...\n\
        [    3.100000] VFS: Mounted root (ext4 filesystem) readonly on device 179:2.\n\
        [    3.120000] Run /sbin/init as init process\n";
    let timeline = logs::read(&[blame, log]);
    let advice = advise(&Boot::new(&timeline));
    let rules: Vec<&str> = advice.iter().map(|f| &*f.rule).collect();
    let (before, after) = expected.split_at(2);
    assert_eq!(rules, [before, &["cmdline-root-wait"], after].concat());
}

#[test]
fn waiting_for_a_key() {
    let waits = |ns| Builder::new().span(Bootloader, "autoboot wait", 7, 7 + ns);
    let (target, parts) = target();
    let boot = waits(2_000 * MS);
    let advice = boot.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "uboot-bootdelay").unwrap();
    assert_eq!(finding.saving.ns, 2_000 * MS);
    assert_eq!(finding.saving.kind, SavingKind::ThisBoot);
    assert_eq!(finding.recipe.as_deref(), Some("uboot-bootdelay"));
    assert_eq!(finding.at_ns, Some([7, 7 + 2_000 * MS]));
    assert_eq!(finding.evidence, [boot.timeline.spans[0].evidence]);

    assert_eq!(waits(MS - 1).advice(), []);
    let unknown = |end| Builder::new().with_args(Bootloader, "autoboot wait", (7, end), &[]);
    assert_eq!(unknown(SpanEnd::Unknown).advice(), []);
    assert_eq!(unknown(SpanEnd::OpenAtCut).advice(), []);
    // Of that name, but somewhere else.
    let user = Builder::new().span(Userspace, "autoboot wait", 0, 5_000 * MS);
    assert_eq!(user.advice(), []);
}

#[test]
fn a_machine_that_works_waits_for_no_random_numbers() {
    // Two ns an instruction; how many until the numbers are there.
    let boot = |until: u64| {
        let says = |boot: Builder, text, ms| boot.span(Console, text, ms * MS, ms * MS);
        let boot = Builder::new().milestone(Milestone::InitStart, 900 * MS);
        let boot = says(says(boot, "a", 0), "b", 500);
        let boot = says(says(boot, "c", 1000), "random: crng init done", 1300);
        let mut boot = says(boot, "d", 1310);
        let counted = [0, 250_000_000, 500_000_000, until, until + 5_000_000];
        for (span, insns) in boot.timeline.spans.iter_mut().zip(counted) {
            span.start.insns = Some(insns);
        }
        boot
    };
    let waits = boot(500_001_000).advice();
    let saves = found(&waits, "cmdline-trust-entropy").unwrap().saving.ns;
    assert!((298 * MS..=300 * MS).contains(&saves), "{saves}");
    let works = boot(650_000_000).advice();
    assert_eq!(found(&works, "cmdline-trust-entropy"), None);
}

#[test]
fn what_is_done_already_has_no_recipe() {
    let (target, parts) = target_with(&[("= \"2\"", "= \"0\""), ("crc32", "none")]);
    let boot = Builder::new()
        .span(Bootloader, "autoboot wait", 0, 50 * MS)
        .span(Bootloader, "hash check", 50 * MS, 90 * MS);
    let advice = boot.advice_for(Some((&target, &parts)));
    assert_eq!(advice.len(), 2);
    assert!(advice.iter().all(|f| f.recipe.is_none()), "{advice:?}");
}

#[test]
fn the_option_behind_an_initcall_is_named() {
    let build = "9600n8\"\nbuild = { source = \"linux\", architecture = \"x86\", \
                 config = \"allnoconfig\" }";
    let (target, parts) = target_with(&[("9600n8\"", build)]);
    let boot = Builder::new()
        .span(Initcall, "e1000_init_module", 0, 400 * MS)
        .span(Initcall, "tun_init", 400 * MS, 450 * MS);
    let option = [("e1000_init_module".to_owned(), "E1000".to_owned())];
    let facts = Facts {
        initcall_options: option.into(),
        ..Facts::default()
    };
    let known = Boot::new(&boot.timeline).of(&target, &parts).knowing(facts);
    let advice = advise(&known);
    let slow: Vec<_> = advice
        .iter()
        .filter(|f| f.rule == "initcall-slow")
        .collect();
    let [known, unknown] = slow[..] else {
        panic!("{advice:?}")
    };
    assert_eq!(known.recipe.as_deref(), Some("kernel-options=E1000=n"));
    assert!(known.fix.contains("CONFIG_E1000"), "{}", known.fix);
    assert_eq!(unknown.recipe, None);
    assert!(unknown.fix.contains("bootlap explain"), "{}", unknown.fix);

    // A driver without its device goes in the same way.
    let ret = [("ret", "-19")];
    let boot = Builder::new().with_args(Initcall, "bt_drv_init", (0, at(50 * MS)), &ret);
    let facts = Facts {
        initcall_options: [("bt_drv_init".to_owned(), "BT_DRV".to_owned())].into(),
        ..Facts::default()
    };
    let advice = advise(&Boot::new(&boot.timeline).of(&target, &parts).knowing(facts));
    let finding = found(&advice, "initcall-no-device").unwrap();
    assert_eq!(finding.recipe.as_deref(), Some("kernel-options=BT_DRV=n"));
}

#[test]
fn checking_hashes() {
    let boot = Builder::new()
        .span(Bootloader, "hash check", 10 * MS, 20 * MS)
        .span(Bootloader, "hash check", 30 * MS, 60 * MS);
    let (target, parts) = target();
    let advice = boot.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "fit-no-hash").unwrap();
    assert_eq!(finding.saving.ns, 40 * MS, "both together");
    assert_eq!(finding.at_ns, Some([30 * MS, 60 * MS]), "the longest");
    assert_eq!(finding.recipe.as_deref(), Some("fit-no-hash"));
    assert_eq!(finding.evidence.len(), 2);
    let short = Builder::new().span(Bootloader, "hash check", 0, MS - 1);
    assert_eq!(short.advice(), []);
    // A signature is what makes a boot secure.
    let args = [("algo", "sha256,rsa2048:key")];
    let signed = Builder::new().with_args(Bootloader, "hash check", (0, at(90 * MS)), &args);
    assert_eq!(signed.advice(), []);
}

/// A boot whose loader moves 1000 bytes in `copy_ns`.
fn copies(copy_ns: i64) -> Builder {
    let args = [("bytes", "1000")];
    Builder::new().with_args(Bootloader, "load ramdisk", (0, at(copy_ns)), &args)
}

#[test]
fn decompressing_the_kernel() {
    // 1000 bytes in 10 us: a kernel of 1 000 000 bytes takes 10 ms to copy.
    let boot = copies(10_000).span(Bootloader, "uncompress kernel", 0, 300 * MS);
    for image in ["\"Image\"", "\"Image.gz\""] {
        let (target, parts) = target_with(&[("\"Image\"", image)]);
        let advice = boot.advice_for(Some((&target, &parts)));
        let finding = found(&advice, "kernel-compression").unwrap();
        assert_eq!(finding.saving.ns, 290 * MS, "{image}: by its size unpacked");
        assert_eq!(finding.recipe.as_deref(), Some("kernel-compression=none"));
        assert_eq!(
            finding.why,
            "it takes 300 ms; a copy would take about 10 ms"
        );
    }
    let (target, parts) = target();
    // What is hashed is larger then: 1 ns a byte for a kernel that has 900 000 more.
    let args = [("image", "kernel"), ("bytes", "100000")];
    let checks = boot.with_args(Bootloader, "hash check", (0, at(100_000)), &args);
    let advice = checks.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "kernel-compression").unwrap();
    assert_eq!(finding.saving.ns, 290 * MS - 900_000);
    // A copy that is slower than the decompression saves nothing.
    let slow = copies(400_000).span(Bootloader, "uncompress kernel", 0, 300 * MS);
    assert_eq!(slow.advice_for(Some((&target, &parts))), []);
}

#[test]
fn a_kernel_that_unpacks_itself() {
    let (target, mut parts) = target();
    let boot = |end: i64| {
        Builder::new()
            .milestone(Milestone::KernelImage, 10 * MS)
            .milestone(Milestone::KernelEntry, end)
    };
    let slow = boot(4_010 * MS);
    assert!(
        found(
            &slow.advice_for(Some((&target, &parts))),
            "kernel-unpacks-itself"
        )
        .is_none()
    );
    parts.kernel.as_mut().unwrap().bytes = zimage_of(&[7; 1_000_000]).into();
    let advice = slow.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "kernel-unpacks-itself").unwrap();
    assert_eq!(finding.saving.ns, 4_000 * MS, "at most");
    assert_eq!(finding.at_ns, Some([10 * MS, 4_010 * MS]));
    assert_eq!(finding.recipe.as_deref(), Some("kernel-compression=gzip"));
    // The kernel unpacks 500 000 bytes of initramfs in 100 ms.
    let slow = slow.span(Kernel, "unpack initramfs", 5_000 * MS, 5_100 * MS);
    let advice = slow.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "kernel-unpacks-itself").unwrap();
    assert_eq!(finding.saving.ns, 3_800 * MS);
    let quick = boot(12 * MS).advice_for(Some((&target, &parts)));
    assert!(found(&quick, "kernel-unpacks-itself").is_none());
    // Done already.
    let (target, _) = target_with(&[("9600n8\"", "9600n8\"\nunpacked-by = \"bootloader\"")]);
    let advice = slow.advice_for(Some((&target, &parts)));
    assert!(found(&advice, "kernel-unpacks-itself").is_none());
}

#[test]
fn what_a_machine_starts_is_chosen_by_its_storage() {
    let boot = Builder::new()
        .milestone(Milestone::KernelImage, 10 * MS)
        .milestone(Milestone::KernelEntry, 4_010 * MS);
    let advised = |board: &str| {
        let (mut target, mut parts) = target_with(&[
            ("[kernel]\n", &format!("{board}[kernel]\n")),
            ("compression = \"gzip\"\ncmdline", "cmdline"),
        ]);
        target.spec.bootloader = None;
        target.spec.flash = None;
        target.spec.fit = None;
        if let Machine::Qemu(machine) = &mut target.machine {
            machine.program = "qemu-system-x86_64".to_owned();
        }
        let inside = vmlinux_of(1_000_000);
        parts.kernel.as_mut().unwrap().bytes = bzimage_of(&inside).into();
        let advice = boot.advice_for(Some((&target, &parts)));
        let finding = found(&advice, "kernel-unpacks-itself").unwrap();
        assert!(finding.fix.contains("CONFIG_KERNEL_LZ4"), "{}", finding.fix);
        (finding.recipe.clone().unwrap(), finding.saving.clone())
    };
    let (recipe, saving) = advised("");
    assert_eq!(recipe, "kernel-compression=none");
    assert_eq!(saving.ns, 4_000 * MS);
    assert!(saving.basis.contains("at most"), "{}", saving.basis);
    let board = |mb_per_s: u32| {
        format!(
            "[board]\ninstructions-per-second = 1e9\nbaud = 115200\n\
             storage-bandwidth = \"{mb_per_s} MB/s\"\n"
        )
    };
    // A million bytes, of which the bzImage has next to none.
    let (recipe, saving) = advised(&board(500));
    assert_eq!(recipe, "kernel-compression=none");
    assert_eq!(saving.ns / MS, 3_998);
    let (recipe, saving) = advised(&board(2));
    assert_eq!(recipe, "kernel-compression=lz4");
    assert_eq!(saving.ns / MS, 3_803);
}

#[test]
fn decompressing_a_kernel_of_unknown_size() {
    for boot in [
        copies(10_000).span(Bootloader, "uncompress kernel", 0, 300 * MS),
        Builder::new().span(Bootloader, "uncompress kernel", 0, 300 * MS),
    ] {
        let advice = boot.advice();
        let finding = found(&advice, "kernel-compression").unwrap();
        assert_eq!(finding.saving.ns, 300 * MS);
        assert_eq!(finding.recipe, None);
        assert!(
            !finding.why.contains("copy"),
            "nothing is known of it: {}",
            finding.why
        );
        assert!(
            finding.saving.basis.contains("at most"),
            "{}",
            finding.saving.basis
        );
    }
}

#[test]
fn decompressing_the_initramfs() {
    // 500 000 bytes at 10 ns each: 5 ms to write them, and as much to move them,
    // but for the 1000 bytes that are moved already.
    let boot = copies(10_000).span(Kernel, "unpack initramfs", 0, 200 * MS);
    let (target, parts) = target();
    let advice = boot.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "initramfs-compression").unwrap();
    assert_eq!(finding.saving.ns, 190 * MS + 10_000);
    assert!(finding.saving.basis.starts_with("at most"), "no initcalls");
    assert_eq!(
        finding.recipe.as_deref(),
        Some("initramfs-compression=none")
    );
    // What is hashed is larger then, as well: 10 ns for each of 400 000 bytes.
    let args = [("image", "ramdisk"), ("bytes", "100000")];
    let checks = copies(10_000).span(Kernel, "unpack initramfs", 0, 200 * MS);
    let checks = checks.with_args(Bootloader, "hash check", (0, at(MS)), &args);
    let advice = checks.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "initramfs-compression").unwrap();
    assert_eq!(finding.saving.ns, 186 * MS + 10_000);

    // Initcalls run beside it, and have half of the one CPU.
    let initcalls = Builder::new()
        .span(Kernel, "unpack initramfs", 0, 400 * MS)
        .span(Initcall, "populate_rootfs", 0, 400 * MS)
        .span(Initcall, "init_blk_tracer", 0, 100 * MS)
        .span(Initcall, "crypto_kdf108_init", 100 * MS, 200 * MS);
    let saved = |said: &str| {
        let boot = copies(10_000)
            .span(Kernel, "unpack initramfs", 0, 200 * MS)
            .span(Console, said, 0, 0);
        let boot = Boot::new(&boot.timeline).explained(Some(&initcalls.timeline));
        let advice = advise(&boot.of(&target, &parts));
        let finding = found(&advice, "initramfs-compression").unwrap();
        assert!(finding.saving.basis.starts_with("unpacking minus"));
        finding.saving.ns
    };
    assert_eq!(saved("smp: Brought up 1 node, 1 CPU"), 140 * MS + 10_000);
    assert_eq!(saved("smp: Brought up 1 node, 4 CPUs"), 90 * MS + 10_000);

    assert_eq!(boot.advice(), [], "it may not be compressed at all");
    let (target, parts) = target_with(&[("compression = \"gzip\"\nfiles", "files")]);
    assert_eq!(boot.advice_for(Some((&target, &parts))), []);
}

#[test]
fn testing_ciphers() {
    let tests = |ns| Builder::new().span(Initcall, "crypto_algapi_init", 5, 5 + ns);
    let (target, parts) = target();
    let own = tests(700 * MS);
    let advice = own.advice_for(Some((&target, &parts)));
    let finding = found(&advice, "cmdline-no-crypto-tests").unwrap();
    assert_eq!(finding.saving.ns, 700 * MS);
    assert_eq!(finding.recipe.as_deref(), Some("cmdline-no-crypto-tests"));
    assert_eq!(finding.at_ns, Some([5, 5 + 700 * MS]));
    assert_eq!(finding.evidence.len(), 1);

    // Seen in another boot, whose times mean nothing in this one.
    let plain = Builder::new();
    let advice = advise(&Boot::new(&plain.timeline).explained(Some(&own.timeline)));
    let finding = found(&advice, "cmdline-no-crypto-tests").unwrap();
    assert_eq!((finding.at_ns, finding.evidence.len()), (None, 0));
    assert_eq!(finding.saving.ns, 700 * MS);

    assert_eq!(tests(MS - 1).advice(), []);

    let basis = |version| {
        let text = format!("[    0.000000] Linux version {version}-amd64 (x) (gcc 12) #1 SMP");
        let boot = tests(700 * MS).span(Console, &text, 0, 1);
        let advice = boot.advice();
        let finding = found(&advice, "cmdline-no-crypto-tests").unwrap();
        finding.saving.basis.clone()
    };
    assert!(basis("6.12.118").contains("goes on testing"));
    assert!(!basis("6.1.176").contains("goes on testing"));
}

#[test]
fn what_another_boot_explains_is_pointed_at_in_this_one() {
    let explained = Builder::new()
        .span(
            Console,
            "[    0.700000] evm: HMAC attrs: 0x1",
            10 * MS,
            11 * MS,
        )
        .span(
            Console,
            "[    0.700100] calling  crypto_algapi_init+0x0/0xb0 @ 1",
            12 * MS,
            13 * MS,
        )
        .span(Initcall, "crypto_algapi_init", 13 * MS, 713 * MS);
    let boot = |silence| {
        Builder::new()
            .span(
                Console,
                "[    0.600000] evm: HMAC attrs: 0x1",
                5 * MS,
                6 * MS,
            )
            .span(
                Console,
                "[    1.300000] clk: off",
                6 * MS + silence,
                900 * MS,
            )
    };
    let place = |silence| {
        let own = boot(silence);
        let advice = advise(&Boot::new(&own.timeline).explained(Some(&explained.timeline)));
        let finding = found(&advice, "cmdline-no-crypto-tests").unwrap();
        (finding.at_ns, finding.evidence.len())
    };
    assert_eq!(place(690 * MS), (Some([6 * MS, 696 * MS]), 1));
    // A silence of another length is another matter.
    assert_eq!(place(20 * MS), (None, 0));
}

const CALIBRATING: &str = "Calibrating delay loop... 262.96 BogoMIPS (lpj=1314816)";

#[test]
fn calibrating_the_delay_loop() {
    let boot = |text: &str, ns| {
        Builder::new()
            .span(Console, "before", 0, MS)
            .span(Console, text, 2 * MS, 3 * MS)
            .span(Console, "after", 2 * MS + ns, 900 * MS)
    };
    let (target, parts) = target();
    let advice = boot(CALIBRATING, 60 * MS).advice_for(Some((&target, &parts)));
    let finding = found(&advice, "cmdline-lpj").unwrap();
    assert_eq!(finding.saving.ns, 60 * MS);
    assert_eq!(finding.recipe.as_deref(), Some("cmdline-lpj=1314816"));
    assert_eq!(finding.fix, "add `lpj=1314816` to the command line");
    assert_eq!(finding.at_ns, Some([2 * MS, 62 * MS]));

    let timer = "Calibrating delay loop (skipped), value calculated using timer frequency.. \
                 125.00 BogoMIPS (lpj=625000)";
    let preset = "Calibrating delay loop (skipped) preset value.. 1 BogoMIPS (lpj=5)";
    for (text, ns) in [(timer, 60 * MS), (preset, 60 * MS), (CALIBRATING, MS - 1)] {
        assert_eq!(boot(text, ns).advice(), [], "{text}");
    }
    // Nothing after it, so nobody knows when it was over.
    let last = Builder::new().span(Console, CALIBRATING, 0, 60 * MS);
    assert_eq!(last.advice(), []);
    // Cut before the number.
    let advice = boot("Calibrating delay loop...", 60 * MS).advice_for(Some((&target, &parts)));
    let finding = found(&advice, "cmdline-lpj").unwrap();
    assert_eq!(finding.recipe, None);
    assert_eq!(finding.fix, "add `lpj=<value>` to the command line");
    // What follows the number is not part of it.
    let text = "Calibrating delay loop... 1 BogoMIPS (lpj=77) x2 <b>";
    let advice = boot(text, 60 * MS).advice_for(Some((&target, &parts)));
    let finding = found(&advice, "cmdline-lpj").unwrap();
    assert_eq!(finding.recipe.as_deref(), Some("cmdline-lpj=77"));
}

/// `boot_bytes` printed before the kernel, `kernel_bytes` by it, and more
/// after its first program started.
fn prints(boot_bytes: usize, kernel_bytes: usize) -> Builder {
    Builder::new()
        .says_uboot(boot_bytes, 0)
        .milestone(Milestone::KernelEntry, 10)
        .printed(kernel_bytes, 10)
        .milestone(Milestone::UserEntry, 20)
        .printed(100_000, 20)
}

#[test]
fn printing_on_the_console() {
    let (target, parts) = target();
    let advice = prints(960, 1920).advice_for(Some((&target, &parts)));
    // 960 bytes a second at 9600 baud.
    let kernel = found(&advice, "cmdline-quiet").unwrap();
    assert_eq!(kernel.saving.ns, 2_000 * MS);
    assert_eq!(kernel.saving.kind, SavingKind::PredictedBoard);
    assert_eq!(
        kernel.saving.basis,
        "1920 bytes at 9600 baud, ten bits each"
    );
    assert_eq!(kernel.recipe.as_deref(), Some("cmdline-quiet"));
    let loader = found(&advice, "uboot-silent").unwrap();
    assert_eq!(loader.saving.ns, 1_000 * MS);
    assert_eq!(loader.recipe.as_deref(), Some("uboot-silent"));

    assert_eq!(prints(255, 255).advice(), []);
    // 115 200 baud unless the target says otherwise.
    let advice = prints(0, 11_520).advice();
    let finding = found(&advice, "cmdline-quiet").unwrap();
    assert_eq!((finding.saving.ns, &finding.recipe), (1_000 * MS, &None));
    assert!(found(&advice, "uboot-silent").is_none());
}

#[test]
fn a_loader_that_cannot_be_silent_is_named() {
    let (target, mut parts) = target();
    parts.bootloader.as_mut().unwrap().bytes = Vec::new().into();
    let advice = prints(960, 0).advice_for(Some((&target, &parts)));
    let finding = found(&advice, "uboot-silent").unwrap();
    assert_eq!(finding.recipe, None);
    assert!(
        finding.fix.contains("CONFIG_SILENT_CONSOLE"),
        "{}",
        finding.fix
    );
    let advice = prints(960, 0).advice();
    let finding = found(&advice, "uboot-silent").unwrap();
    assert_eq!(finding.fix, "set `silent=1` in U-Boot's environment");
}

#[test]
fn a_quiet_kernel_is_not_told_to_be_quiet() {
    let quiet = [("n8", "n8 quiet")];
    let (target, parts) = target_with(&quiet);
    let advice = prints(0, 11_520).advice_for(Some((&target, &parts)));
    let quiet = found(&advice, "cmdline-quiet");
    assert_eq!(quiet, None, "what it still prints is what is wrong");
}

#[test]
fn without_a_known_start_of_the_kernel_nobody_is_blamed() {
    // Everything would be the kernel's otherwise: user space's messages, too.
    assert_eq!(Builder::new().printed(50_000, 0).advice(), []);
    let handover = Builder::new()
        .says_uboot(500, 0)
        .milestone(Milestone::BootloaderHandover, 10)
        .printed(600, 10)
        .milestone(Milestone::InitStart, 20)
        .printed(700, 20);
    let advice = handover.advice();
    let of = |rule| found(&advice, rule).unwrap().why.clone();
    assert!(of("uboot-silent").starts_with("500 bytes"));
    assert!(of("cmdline-quiet").starts_with("600 bytes"));
}

#[test]
fn the_largest_saving_of_this_boot_comes_first() {
    let boot = prints(960, 96_000)
        .span(Bootloader, "hash check", 0, 30 * MS)
        .span(Bootloader, "autoboot wait", 0, 20 * MS)
        .span(Initcall, "crypto_algapi_init", 0, 40 * MS);
    let advice = boot.advice();
    let order: Vec<&str> = advice.iter().map(|f| f.rule.as_str()).collect();
    assert_eq!(
        order,
        [
            "cmdline-no-crypto-tests",
            "fit-no-hash",
            "uboot-bootdelay",
            "cmdline-quiet",
            "uboot-silent",
        ],
        "predicted savings come last, however large"
    );
    assert_eq!(boot.advice(), advice, "and always the same");
}

#[test]
fn hostile_times_and_texts_do_no_harm() {
    let names = [
        (Bootloader, "autoboot wait"),
        (Bootloader, "hash check"),
        (Bootloader, "uncompress kernel"),
        (Bootloader, "load ramdisk"),
        (Kernel, "unpack initramfs"),
        (Initcall, "crypto_algapi_init"),
        (Console, CALIBRATING),
        (Console, "Calibrating delay loop lpj="),
        (Console, "Calibrating delay loop lpj=\u{661}\u{1f600}"),
        (Console, "x"),
        (Console, "U-Boot SPL 2023.01 (x)"),
        (Console, "U-Boot 2023.01 (x)"),
        (Console, "Trying to boot from MMC1"),
        (
            Console,
            "Kernel image @ 0xffffffffffffffff [ 0xff - 0xffffffffffffffff ]",
        ),
        (Console, "Data Size:    18446744073709551615 Bytes"),
        (Console, "CPU: 1 MHz (running at 0 MHz)"),
        (
            Console,
            "ubi0: attached mtd0 (size 18446744073709551615 MiB)",
        ),
        (Console, "Successfully loaded SELinux policy in 1e300ms."),
        (Console, "Successfully loaded SELinux policy in \u{661}ms."),
        (Console, "Freeing initrd memory: 99999999999999999999K"),
        (Console, "Timed out waiting for device ."),
        (Console, "Linux version ."),
        (Console, "VFS: Mounted root (jffs2 filesystem)"),
        (Console, "Boot mode: "),
        (Bootloader, "read mmc"),
        (Bootloader, "read file"),
        (Bootloader, "load kernel"),
        (Bootloader, "load environment"),
        (Userspace, "generators"),
        (Userspace, "Starting x"),
        (Unit, "snapd.service"),
        (Unit, "a.service"),
    ];
    let times = [i64::MIN, -1, 0, 1, i64::MAX];
    let bytes = ["", "0", "-1", "1", "1e-300", "1e300", "nan", "inf", "x"];
    let (target, parts) = target_with(&[("9600n8", "0,1"), ("= \"2\"", "= \"x\"")]);
    for start in times {
        for end in times {
            for bytes in bytes {
                let mut boot = Builder::new();
                for kind in [Milestone::KernelEntry, Milestone::UserEntry] {
                    boot = boot.milestone(kind, end);
                }
                for (kind, name) in names.iter().chain(&names) {
                    let args = [("bytes", bytes)];
                    boot = boot.with_args(*kind, name, (start, at(end)), &args);
                    boot = boot.with_args(*kind, name, (end, SpanEnd::Unknown), &args);
                }
                for finding in boot
                    .advice_for(Some((&target, &parts)))
                    .iter()
                    .chain(&boot.advice())
                {
                    let known = finding.saving.kind != SavingKind::Unknown;
                    assert!(!known || finding.saving.ns >= MS, "{finding:?}");
                }
            }
        }
    }
}

#[test]
fn what_no_log_shows_is_said_only_where_it_can_be_tried() {
    let says = |boot: Builder, ms: i64, text| boot.span(Console, text, ms * MS, ms * MS);
    let boot = says(Builder::new(), 0, "rcu: Hierarchical RCU implementation.");
    let boot = says(boot, 300, "smp: Bringing up secondary CPUs ...");
    let boot = says(boot, 304, "smp: Brought up 1 node, 4 CPUs");
    let boot = says(
        boot,
        310,
        "mem auto-init: stack:off, heap alloc:on, heap free:off",
    );
    let (target, parts) = target();
    for rule in ["cmdline-rcu-expedited", "cmdline-no-zeroing"] {
        assert_eq!(found(&boot.advice(), rule), None);
        let tried = boot.advice_for(Some((&target, &parts)));
        let finding = found(&tried, rule).expect("it can be tried");
        assert_eq!(finding.saving.kind, SavingKind::Unknown);
        assert!(finding.recipe.is_some());
    }
}

#[test]
fn an_image_holds_what_is_in_use() {
    // Of 1 GiB the kernel keeps some for itself, and files can be read again.
    let boot = |free: f64| {
        let mut boot = Builder::new()
            .span(Console, "Memory: 988868K/1048576K available", MS, MS)
            .span(
                Console,
                "VFS: Mounted root (squashfs filesystem) readonly on device 179:2.",
                900 * MS,
                900 * MS,
            )
            .milestone(Milestone::InitStart, 1000 * MS)
            .milestone(Milestone::Ready, 12_000 * MS);
        for (name, value) in [("free", free), ("buffers", 0.0), ("cached", 100_000.0)] {
            let clock = boot.timeline.spans[0].clock;
            let evidence = boot.timeline.spans[0].evidence;
            boot.timeline.counters.push(bootlap_model::Counter {
                clock,
                name: boot.timeline.symbols.intern(&format!("memory {name}")),
                unit: boot.timeline.symbols.intern("kB"),
                samples: vec![(0, 0.0), (5, value)],
                evidence,
            });
        }
        boot.advice()
    };
    let much = boot(848_576.0);
    let why = &found(&much, "resume-image").unwrap().why;
    assert!(why.contains("an image of 102 MB"), "{why}");
    assert_eq!(found(&boot(100_000.0), "resume-image"), None);
}

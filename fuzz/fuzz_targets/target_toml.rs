#![no_main]

use bootlap_target::{Edit, Target};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let target = Target::parse("t".into(), text.to_owned(), "t.toml");
    let Ok(target) = target else {
        return;
    };
    let edit = Edit::set("kernel.cmdline", "quiet");
    let changed = target
        .with(&[edit])
        .expect("a target always has a command line");
    assert_eq!(changed.spec.kernel.cmdline, "quiet");
    let edit = Edit::set("bootloader.environment.bootdelay", "0");
    if target.spec.bootloader.is_some() {
        let changed = target
            .with(&[edit])
            .expect("a boot loader may have variables");
        let bootloader = changed.spec.bootloader.expect("it was there");
        assert_eq!(bootloader.environment["bootdelay"], "0");
    }
});

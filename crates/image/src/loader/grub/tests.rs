//! Configurations as GRUB's makers, Yocto, RAUC and Fedora write them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::table::{Partition, TableKind};
use crate::volume::paper::Tree;

const GRUBENV: &str = "# GRUB\nsaved_entry=old>two\nkernelopts=root=/dev/vda3 ro\n####";

fn volume(uuid: &str, files: &[(&'static str, &'static str)]) -> Volume {
    Volume {
        kind: "ext4",
        uuid: uuid.to_owned(),
        label: format!("label-{uuid}"),
        files: Some(Box::new(Tree(BTreeMap::from_iter(files.iter().copied())))),
        trouble: None,
    }
}

/// What is read of a GPT with these partitions.
fn read_from(volumes: &[Volume]) -> Loader {
    let partitions = (1..).take(volumes.len()).map(|number| Partition {
        number,
        partuuid: format!("part-{number}"),
        ..Partition::default()
    });
    let table = Table {
        kind: TableKind::Gpt,
        partitions: partitions.collect(),
        ..Table::default()
    };
    read(&table, volumes).unwrap()
}

/// A configuration on a disk with two partitions, of which it is on the first.
fn loader(text: &str) -> Loader {
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    read_from(&[
        volume(
            "aaaa-0001",
            &[("boot/grub/grub.cfg", text), ("boot/grub/grubenv", GRUBENV)],
        ),
        volume(
            "0123-abcd",
            &[("boot/vmlinuz-6.1", "kernel"), ("there", "")],
        ),
    ])
}

const MADE: &str = r#"
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
else
   set default="DEFAULT"
fi
if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
fi
export menuentry_id_option
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
  fi
}
terminal_input console serial
if [ "${recordfail}" = 1 ] ; then
  set timeout=30
else
  if [ x$feature_timeout_style = xy ] ; then
    set timeout_style=menu
    set timeout=5
  else
    set timeout=7
  fi
fi
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'simple' {
	load_video
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	search --no-floppy --fs-uuid --set=root --hint-bios=hd0,gpt1 0123-abcd
	echo	'Loading Linux ...'
	linux	/boot/vmlinuz-6.1 root=UUID=0123-abcd ro  quiet "dyndbg=file a.c +p"
	initrd	/boot/microcode.img ($root)/boot/initrd.img-6.1
}
submenu 'Advanced options' $menuentry_id_option 'old' {
	menuentry 'one' --id 'one' { linux /boot/vmlinuz-6.0 single; }
	menuentry 'two' --id 'two' {
		linux /boot/vmlinuz-5.9
	}
}
"#;

#[test]
fn what_grub_mkconfig_writes_is_run() {
    let found = loader(&MADE.replace("DEFAULT", "0"));
    assert_eq!(found.wait, Wait::Tenths(50));
    assert_eq!(found.default, Some(0));
    assert_eq!(found.entries.len(), 3);
    let first = &found.entries[0];
    assert_eq!(first.title, "Debian GNU/Linux");
    assert_eq!(first.volume, Some(1));
    assert_eq!(first.kernel, "/boot/vmlinuz-6.1");
    assert_eq!(
        first.cmdline,
        "root=UUID=0123-abcd ro quiet \"dyndbg=file a.c +p\""
    );
    assert_eq!(
        first.initramfs,
        ["/boot/microcode.img", "/boot/initrd.img-6.1"]
    );
    assert_eq!(found.entries[1].cmdline, "single");
}

#[test]
fn the_default_is_found_by_place_title_and_id() {
    for (default, at) in [
        ("0", 0),
        ("1", 1),
        ("1>1", 2),
        ("old>two", 2),
        ("Advanced options>one", 1),
        ("simple", 0),
        ("Debian GNU/Linux", 0),
        ("9", 0),
        ("${saved_entry}", 2),
    ] {
        let text = MADE.replace("DEFAULT", default);
        assert_eq!(loader(&text).default, Some(at), "{default}");
    }
}

#[test]
fn a_menu_without_a_timeout_waits() {
    let found = loader("menuentry 'a' {\n linux /a\n}\n");
    assert_eq!(found.wait, Wait::Forever);
    assert_eq!(
        loader("set timeout=-1\nmenuentry a {\n}\n").wait,
        Wait::Forever
    );
    assert_eq!(loader("configfile /x\n").wait, Wait::Unknown);
}

#[test]
fn variables_do_not_grow_for_ever() {
    let doubling = format!("set a=aaaaaaaa\n{}", "set a=$a$a\n".repeat(100));
    let found = loader(&format!("{doubling}menuentry x {{ linux $a $a $a; }}\n"));
    assert!(found.entries[0].cmdline.len() < 2 * (4 << 20));
}

/// Pieces of the language.
const PIECES: [&str; 48] = [
    "if ",
    "then ",
    "elif ",
    "else ",
    "fi\n",
    "for x in a b; ",
    "while ",
    "until [ $a = b ]; ",
    "do ",
    "done\n",
    "menuentry 'x' ",
    "submenu y ",
    "function f ",
    "{ ",
    "}\n",
    "f 1 2\n",
    "set a=$a$b\n",
    "set a='f;f'\n",
    "set default=1\n",
    "source $prefix/grub.cfg\n",
    "configfile $prefix/grub.cfg\n",
    "[ -e /x ] ",
    "[ ",
    "] ",
    "test ",
    "! ",
    "-o ",
    "= ",
    "$a ",
    "$1 ",
    "\"",
    "'",
    "\\",
    "#",
    "\n",
    ";",
    "linux /v $a\n",
    "chainloader $a\n",
    "initrd /i\n",
    "search --set=root --label x\n",
    "regexp --set 1:a b c\n",
    "eval $a\n",
    "break\n",
    "return\n",
    "boot\n",
    "load_env\n",
    "${",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn any_pieces_can_be_run(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        let _ = loader(&pieces.concat());
    }
}

#[test]
fn any_text_can_be_run() {
    for text in [
        "}",
        "fi fi }",
        "if if if",
        "menuentry {",
        "'",
        "\\",
        "${",
        "submenu x {} }",
        "{{{{",
    ] {
        let _ = loader(text);
        let _ = loader(&text.repeat(100));
    }
}

#[test]
fn what_yocto_writes_is_run() {
    let found = loader(
        "serial --unit=0 --speed=115200\ndefault=boot\ntimeout=5\n\nmenuentry 'rescue'{\n\
         linux /rescue root=/dev/sda1\n}\nmenuentry 'boot'{\n\
         linux /bzImage root=PARTUUID=1-02 rootwait \\\n  quiet\n}\n",
    );
    assert_eq!(found.wait, Wait::Tenths(50));
    assert_eq!(found.default, Some(1));
    let entry = &found.entries[1];
    assert_eq!(
        (entry.title.as_str(), entry.kernel.as_str()),
        ("boot", "/bzImage")
    );
    assert_eq!(entry.cmdline, "root=PARTUUID=1-02 rootwait quiet");
    assert_eq!(entry.line, Some(9));
}

/// Two slots, and what is known of each.
const SLOTS: &str = r#"
default=0
set ORDER="A B"
set A_OK=1
set A_TRY=0
set B_OK=1
set B_TRY=0
load_env --file=(hd0,gpt2)/env
for SLOT in $ORDER; do
    if [ "$SLOT" == "A" ]; then
        INDEX=0
        OK=$A_OK
        TRY=$A_TRY
    else
        INDEX=1
        OK=$B_OK
        TRY=$B_TRY
    fi
    if [ "$OK" -eq 1 -a "$TRY" -eq 0 ]; then
        default=$INDEX
        break
    fi
done
CMDLINE="panic=60 quiet"
menuentry "Slot A (OK=$A_OK TRY=$A_TRY)" {
    linux (hd0,gpt2)/kernel root=/dev/sda2 $CMDLINE
}
menuentry "Slot B (OK=$B_OK TRY=$B_TRY)" {
    linux (hd0,2)/kernel root=/dev/sda3 $CMDLINE
}
"#;

#[test]
fn a_slot_is_chosen_by_what_its_environment_says() {
    for (environment, slot) in [
        ("", "A"),
        ("A_OK=0\n", "B"),
        ("ORDER=B A\n", "B"),
        ("ORDER=B A\nB_TRY=1\n", "A"),
    ] {
        let found = read_from(&[
            volume("a", &[("boot/grub/grub.cfg", SLOTS)]),
            volume("b", &[("env", environment), ("kernel", "")]),
        ]);
        let entry = &found.entries[found.default.unwrap()];
        assert!(
            entry.title.starts_with(&format!("Slot {slot} ")),
            "{entry:?}"
        );
        assert!(entry.cmdline.ends_with("panic=60 quiet"), "{entry:?}");
        assert_eq!(entry.volume, Some(1), "{entry:?}");
        assert_eq!(found.guess, None);
    }
}

#[test]
fn one_configuration_leads_to_another() {
    let stub = "search.fs_uuid b root hd0,gpt2\nset prefix=($root)'/boot/grub'\n\
                configfile $prefix/grub.cfg\n";
    let own = "source $prefix/own.cfg\nset timeout=3\nmenuentry b { linux /vmlinuz $words; }\n";
    let old = "menuentry old { linux /old; }\n";
    let found = read_from(&[
        volume(
            "a",
            &[("EFI/debian/grub.cfg", stub), ("boot/grub/grub.cfg", "")],
        ),
        volume(
            "b",
            &[
                ("boot/grub/grub.cfg", own),
                ("boot/grub/own.cfg", "set words='quiet ro'\n"),
                ("vmlinuz", ""),
            ],
        ),
        volume("c", &[("boot/grub/grub.cfg", old)]),
    ]);
    let config = Place {
        volume: 1,
        path: "boot/grub/grub.cfg".to_owned(),
    };
    assert_eq!(found.config, Some(config));
    assert_eq!(found.entries.len(), 1);
    assert_eq!(found.entries[0].cmdline, "quiet ro");
    assert_eq!(found.entries[0].volume, Some(1));
}

#[test]
fn entries_of_the_specification_are_the_newest_first_and_filled_in() {
    let entry = |version: &str| {
        let text = format!(
            "title Fedora {version}\nlinux /vmlinuz-{version}\n\
             initrd /initramfs-{version} $tuned_initrd\noptions $kernelopts $tuned_params quiet\n"
        );
        &*Box::leak(text.into_boxed_str())
    };
    let (old, new) = (entry("5.9"), entry("5.10"));
    let config = "load_env\nset timeout=5\ninsmod blscfg\nblscfg\n";
    let found = read_from(&[volume(
        "a",
        &[
            ("grub2/grub.cfg", config),
            ("grub2/grubenv", GRUBENV),
            ("loader/entries/0a-5.10.conf", new),
            ("loader/entries/0a-5.9.conf", old),
        ],
    )]);
    assert_eq!(found.default, Some(0));
    let first = &found.entries[0];
    assert_eq!(first.title, "Fedora 5.10");
    assert_eq!(first.cmdline, "root=/dev/vda3 ro quiet");
    assert_eq!(first.initramfs, ["/initramfs-5.10"]);
    assert_eq!(first.line, None);
}

#[test]
fn words_reach_linux_as_grub_hands_them_over() {
    let config = "menuentry a { linux /k inst.stage2=hd:LABEL=A\\x20B 'a b' c\\d 'e\\f' g\\ h; }\n";
    let found = loader(config);
    let want = "inst.stage2=hd:LABEL=A\\x20B \"a b\" cd e\\\\f \"g h\"";
    assert_eq!(found.entries[0].cmdline, want);
}

#[test]
fn a_kernel_that_is_a_program_of_uefi_is_chainloaded() {
    // An arm64 `Image`: its size, its flags, its magic.
    const IMAGE: &str = "MZ\0\0\0\0\0\0\0\0\0\0\0\0\0\0@\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\
                         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0ARMd\0\0\0\0";
    let config = "menuentry a { chainloader /EFI/grub.efi; }\n\
                  menuentry b { chainloader $prefix/kernel.efi quiet initrd=\\\\i; }\n";
    let found = read_from(&[volume(
        "a",
        &[
            ("EFI/ubuntu/grub.cfg", config),
            ("EFI/ubuntu/kernel.efi", IMAGE),
            ("EFI/grub.efi", "MZ"),
        ],
    )]);
    assert_eq!(found.entries[0].kernel, "");
    assert_eq!(found.entries[1].kernel, "/EFI/ubuntu/kernel.efi");
    assert_eq!(found.entries[1].cmdline, "quiet initrd=\\i");
}

#[test]
fn what_is_started_without_a_menu_is_found() {
    let found = loader("linux /bzImage root=/dev/sda2\ninitrd /i\nboot\n");
    assert_eq!((found.default, found.wait), (Some(0), Wait::Tenths(0)));
    assert_eq!(found.entries[0].kernel, "/bzImage");
    assert_eq!(found.entries[0].initramfs, ["/i"]);
}

#[test]
fn what_only_the_machine_knows_is_named_where_it_decides() {
    let two = "menuentry a { linux /a; }\nmenuentry b { linux /b; }\n";
    let asks = "[ \"$grub_platform\" = efi ]";
    let then = |what: &str| format!("if {asks}; then {what}; fi\n");
    let entry = "menuentry x { linux /x; }";
    for (text, guess) in [
        (then("insmod efi_gop") + two, None),
        (then("set default=1") + two, Some(asks)),
        (then("set default=1") + "set default=0\n" + two, None),
        (
            then("set k=1") + "if [ \"$k\" = 1 ]; then set default=1; fi\n" + two,
            Some(asks),
        ),
        (then(entry) + two, Some(asks)),
        (then(entry) + "set default=b\n" + two, None),
        (two.to_owned() + &then(entry), None),
        (then("menuentry 'Firmware' { fwsetup; }") + two, None),
        (
            "menuentry a { if hwmatch /list; then linux /a; else linux /b; fi; }\n".to_owned(),
            Some("hwmatch /list"),
        ),
        (
            then("set slot=a") + "menuentry a { linux /$slot/a; }\n",
            Some(asks),
        ),
        (then("linux /a") + "linux /b\nboot\n", Some(asks)),
        (then(entry) + "linux /b\nboot\n", None),
        (
            then("set words=a") + "menuentry a { linux /a $words; }\n",
            None,
        ),
        (
            "if [ -e /boot/there ]; then set default=1; fi\n".to_owned() + two,
            None,
        ),
        (
            "regexp --set 1:best '([0-9]*)' a1\nset default=x-$best\n".to_owned() + two,
            Some("regexp --set 1:best '([0-9]*)' a1"),
        ),
        (
            "search --set=root --label other\n\
             if search --set=x --label other; then set default=1; fi\n"
                .to_owned()
                + two,
            Some("search --set=x --label other"),
        ),
    ] {
        assert_eq!(loader(&text).guess.as_deref(), guess, "{text}");
    }
}

#[test]
fn conditions_are_joined_and_turned_round() {
    for (condition, met) in [
        ("[ a = a -a b = c ]", false),
        ("[ a = a -o b = c ]", true),
        ("[ ! a = b ]", true),
        ("[ ! -e /nowhere ]", true),
        ("[ -e (hd0,gpt2)/there ]", true),
        ("[ -s (hd0,gpt2)/there ]", false),
        ("[ -f /boot/grub/grub.cfg -a -d /boot/grub ]", true),
        ("test 09 -lt 10", true),
        ("[ $nothing = a ]", true),
        ("[ x$nothing = xa ]", false),
        ("[ a = b -a c = c -o d = d ]", true),
        ("[ a = a -o b = c -a c = d ]", true),
        ("[ ]", true),
        ("[ \"\" ]", false),
        ("[ -z $nothing ]", true),
        ("[ -n \"$nothing\" ]", false),
        ("! false", true),
    ] {
        let text = format!(
            "if {condition}; then set default=1; fi\n\
             menuentry a {{ linux /a; }}\nmenuentry b {{ linux /b; }}\n"
        );
        assert_eq!(loader(&text).default, Some(usize::from(met)), "{condition}");
    }
}

#[test]
fn what_leads_to_itself_ends() {
    for text in [
        "source $prefix/grub.cfg\n",
        "configfile $prefix/grub.cfg\n",
        "function f { f; }\nf\n",
        "submenu a { source $prefix/grub.cfg; }\nsubmenu b { source $prefix/grub.cfg; }\n",
        "while true; do set a=b; done\n",
        "while do done\n",
        &"! ".repeat(100_000),
        "for x in a b; do for y in a b; do source $prefix/grub.cfg; done; done\n",
        "eval \"eval eval\"\nset a='eval $a'\neval $a\n",
    ] {
        let _ = loader(text);
    }
}

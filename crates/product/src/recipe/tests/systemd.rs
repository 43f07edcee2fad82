//! Recipes for units of systemd.

use super::super::Choice;
use super::{base, base_parts, of_systemd, refused};

#[test]
fn units_are_masked_and_deferred_with_what_needs_them() {
    let target = of_systemd();
    let parts = base_parts("systemd-mask");
    let why = |recipe: &str| refused(recipe, &target, &parts);
    let needed = why("systemd-mask=late.service");
    assert!(
        needed.contains("web.service does not start without"),
        "{needed}"
    );
    let unknown = why("systemd-defer=no.service");
    assert!(
        unknown.contains("not started by multi-user.target"),
        "{unknown}"
    );
    let early = why("systemd-defer=early.service");
    assert!(early.contains("early boot"), "{early}");
    let named = why("systemd-defer=named.service");
    assert!(named.contains("multi-user.target itself starts"), "{named}");
    let target = why("systemd-defer=multi-user.target");
    assert!(target.contains("only services"), "{target}");
    let choice = Choice::parse("systemd-defer=web.service,late.service").unwrap();
    let later = choice.apply(&of_systemd(), &parts).unwrap();
    let disk = later.spec.disk.unwrap();
    let wants = "0:/etc/systemd/system/multi-user.target.wants";
    assert_eq!(
        disk.remove,
        ["web", "late"].map(|name| format!("{wants}/{name}.service"))
    );
    let link = &disk.links[&format!("{wants}/bootlap-later.timer")];
    assert_eq!(link, "../bootlap-later.timer");
    let timer = &disk.texts["0:/etc/systemd/system/bootlap-later.timer"];
    assert!(timer.contains("After=multi-user.target\n"), "{timer}");
}

#[test]
fn what_comes_first_waits_for_nothing_and_all_else_follows() {
    let target = base("systemd-first");
    let parts = base_parts("systemd-first");
    let why = |recipe: &str| refused(recipe, &target, &parts);
    let unknown = why("systemd-first=no.service");
    assert!(
        unknown.contains("not started by multi-user.target"),
        "{unknown}"
    );
    let kind = why("systemd-first=multi-user.target");
    assert!(kind.contains("only services"), "{kind}");
    let choice = Choice::parse("systemd-first=early.service,web.service").unwrap();
    let first = choice.apply(&target, &parts).unwrap();
    let words = &first.spec.kernel.as_ref().unwrap().cmdline;
    assert!(
        words.ends_with(" systemd.unit=bootlap-first.target"),
        "{words}"
    );
    let disk = first.spec.disk.as_ref().unwrap();
    let text = |name: &str| disk.texts.get(&format!("0:/etc/systemd/system/{name}"));
    let start = text("bootlap-first.target").unwrap();
    assert!(
        start.contains(" early.service web.service bootlap-rest.service "),
        "{start}"
    );
    // What the web needs comes with it, and is not done once more.
    assert!(
        !text("web.service.d/bootlap-first.conf")
            .unwrap()
            .contains("Remain")
    );
    let late = text("late.service.d/bootlap-first.conf").unwrap();
    assert!(late.contains("DefaultDependencies=no\n"), "{late}");
    assert!(late.contains("RemainAfterExit=yes\n"), "{late}");
    // That waits for nothing as it is.
    assert_eq!(text("early.service.d/bootlap-first.conf"), None);
    let rest = text("bootlap-rest.service").unwrap();
    assert!(rest.contains("After=early.service web.service\n"), "{rest}");
    assert!(rest.contains("start multi-user.target\n"), "{rest}");
    assert!(first.spec.ready.later.is_some());
    let twice = refused("systemd-first=alone.service", &first, &parts);
    assert!(twice.contains("come first already"), "{twice}");
    let both = refused("systemd-defer=web.service,late.service", &first, &parts);
    assert!(both.contains("web.service comes before all else"), "{both}");
}

#[test]
fn a_unit_waits_no_more_for_what_it_does_without() {
    let target = of_systemd();
    let parts = base_parts("systemd-unordered");
    let why = |recipe: &str| refused(recipe, &target, &parts);
    let needs = why("systemd-unordered=web.service/late.service");
    assert!(needs.contains("does not start without"), "{needs}");
    let apart = why("systemd-unordered=web.service/early.service");
    assert!(apart.contains("does not wait for early.service"), "{apart}");
    let other = why("systemd-unordered=multi-user.target/alone.service");
    assert!(other.contains("in another's"), "{other}");
    let half = why("systemd-unordered=web.service");
    assert!(half.contains("a slash"), "{half}");
    let choice = Choice::parse("systemd-unordered=web.service/alone.service").unwrap();
    let apart = choice.apply(&target, &parts).unwrap();
    let texts = apart.spec.disk.unwrap().texts;
    let text = &texts["0:/etc/systemd/system/web.service"];
    assert_eq!(text, "[Unit]\nRequires=late.service\nAfter=late.service\n");
}

#[test]
fn a_service_with_a_socket_starts_on_demand() {
    let target = of_systemd();
    let parts = base_parts("systemd-on-demand");
    let why = |recipe: &str| refused(recipe, &target, &parts);
    let nobody = why("systemd-on-demand=web.service");
    assert!(nobody.contains("nothing starts web.service"), "{nobody}");
    let needed = why("systemd-on-demand=late.service");
    assert!(
        needed.contains("web.service does not start without"),
        "{needed}"
    );
    let choice = Choice::parse("systemd-on-demand=alone.service").unwrap();
    let disk = choice.apply(&target, &parts).unwrap().spec.disk.unwrap();
    let folder = "0:/etc/systemd/system";
    let gone = format!("{folder}/multi-user.target.wants/alone.service");
    assert_eq!(disk.remove, [gone]);
    let link = &disk.links[&format!("{folder}/sockets.target.wants/alone.socket")];
    assert_eq!(link, "/usr/lib/systemd/system/alone.socket");
}

#[test]
fn an_image_is_made_of_a_root_that_stays_as_it_is() {
    let recipe = "resume-image=src/recipe/testdata/static-program,web.service";
    let (target, parts) = (base(recipe), base_parts(recipe));
    let choice = Choice::parse(recipe).unwrap();
    let changed = choice.apply(&target, &parts).unwrap();
    let words = &changed.spec.kernel.as_ref().unwrap().cmdline;
    assert_eq!(words, "root=/dev/vda ro", "it said rw");
    let disk = changed.spec.disk.as_ref().unwrap();
    assert_eq!(disk.room["0:/var/lib/bootlap/resume.image"], 64);
    let unit = &disk.texts["0:/etc/systemd/system/bootlap-resume-image.service"];
    assert!(
        unit.contains("After=multi-user.target web.service\n"),
        "{unit}"
    );
    let wants = "0:/etc/systemd/system/multi-user.target.wants/bootlap-resume-image.service";
    assert_eq!(disk.links[wants], "../bootlap-resume-image.service");

    let why = |recipe: &str, target| refused(recipe, target, &parts);
    let program = "src/recipe/testdata/static-program";
    for (recipe, said) in [
        (
            "resume-image=".to_owned(),
            "needs the path of a bootlap-agent",
        ),
        ("resume-image=none".to_owned(), "cannot read none"),
        ("resume-image=Cargo.toml".to_owned(), "is no static program"),
        (
            format!("resume-image={program},no.service"),
            "no.service is not started",
        ),
    ] {
        let why = why(&recipe, &target);
        assert!(why.contains(said), "{recipe}: {why}");
    }
    let whole = super::of_distribution("root=/dev/vda");
    let small = why(recipe, &whole);
    assert!(small.contains("/init of initramfs-minimal"), "{small}");
    let text = target
        .text
        .replace("root=/dev/vda", "nohibernate root=/dev/vda");
    let never = why(recipe, &super::parse(&text).unwrap());
    assert!(never.contains("forbids it: nohibernate"), "{never}");
}

#[test]
fn a_service_has_a_checkpoint_where_criu_is() {
    let recipe = "systemd-checkpoint=web.service";
    let (target, parts) = (base(recipe), base_parts(recipe));
    let choice = Choice::parse(recipe).unwrap();
    let changed = choice.apply(&target, &parts).unwrap();
    let disk = changed.spec.disk.as_ref().unwrap();
    let drop_in = &disk.texts["0:/etc/systemd/system/web.service.d/bootlap-checkpoint.conf"];
    let starts = "ExecStart=\nExecStart=/usr/lib/bootlap/checkpoint start web.service /web\n";
    assert!(drop_in.ends_with(starts), "{drop_in}");
    assert!(disk.texts["0:/usr/lib/bootlap/checkpoint"].starts_with("#!/bin/sh\n"));

    let without = refused(recipe, &target, &base_parts("systemd-mask"));
    assert!(without.contains("has no /usr/sbin/criu"), "{without}");
    let loaders = refused(recipe, &of_systemd(), &parts);
    assert!(loaders.contains("bootloader-none first"), "{loaders}");
    let unit = "[disk.texts]\n\"0:/etc/systemd/system/web.service\" = \
                \"[Service]\\nUser=a\\nExecStart=/web\"\n";
    let text = format!("{}\n{unit}", target.text);
    let of_user = refused(recipe, &super::parse(&text).unwrap(), &parts);
    assert!(of_user.contains("says User="), "{of_user}");
}

#[test]
fn a_root_that_keeps_what_is_written_is_booted_once() {
    let recipe = "systemd-booted-once";
    let (target, parts) = (base(recipe), base_parts(recipe));
    let choice = Choice::parse(recipe).unwrap();
    let changed = choice.apply(&target, &parts).unwrap();
    let disk = changed.spec.disk.as_ref().unwrap();
    let folder = "0:/etc/systemd/system";
    let unit = &disk.texts[&format!("{folder}/bootlap-booted-once.service")];
    // systemd's own signs are doubled in a command.
    assert!(unit.contains("case $$(stat -f -c %%T /etc/"), "{unit}");
    assert!(
        unit.contains("rm /etc/systemd/system/bootlap-booted-once.service /etc/"),
        "{unit}"
    );
    let links: Vec<_> = disk.links.keys().collect();
    assert_eq!(
        links,
        [&format!(
            "{folder}/multi-user.target.wants/bootlap-booted-once.service"
        )]
    );
    let again = refused(recipe, &changed, &parts);
    assert!(again.contains("after a first one already"), "{again}");
    let never = refused(recipe, &of_systemd(), &base_parts("systemd-mask"));
    assert!(never.contains("the root is a squashfs"), "{never}");
}

use proptest::prelude::*;

use super::*;

fn script(name: &str, header: &str) -> Script {
    let text = format!("#!/bin/sh\n### BEGIN INIT INFO\n{header}### END INIT INFO\n");
    Script {
        name: name.to_owned(),
        number: None,
        header: Header::read(text.as_bytes()),
    }
}

fn numbered(name: &str, number: u8) -> Script {
    Script {
        name: name.to_owned(),
        number: Some(number),
        header: None,
    }
}

fn order_of(scripts: &[Script], facilities: Facilities) -> Result<Order, OrderError> {
    order(&Folder {
        scripts: scripts.to_vec(),
        facilities,
        ..Folder::default()
    })
}

/// `b<a` for each wait, and why.
fn waits(scripts: &[Script]) -> Vec<String> {
    let order = order_of(scripts, Facilities::default()).unwrap();
    let name = |at: usize| scripts[at].name.as_str();
    let of = |(at, waits): (usize, &Vec<Wait>)| {
        let texts = waits
            .iter()
            .map(|w| format!("{}<{} {}", name(at), name(w.on), w.why));
        texts.collect::<Vec<_>>()
    };
    order.waits.iter().enumerate().flat_map(of).collect()
}

fn error(scripts: &[Script]) -> (String, String) {
    let error = order_of(scripts, Facilities::default()).unwrap_err();
    (error.to_string(), error.hint())
}

#[test]
fn headers() {
    let text = "#! /bin/sh\r\n# comment\r\n### BEGIN INIT INFO\r\n# Provides:\tnet networking\r\n\
                # required-start: $local_fs, udev \\\r\n#\tmore\r\n# Should-Start:\r\n\
                #    Required-Stop: nothing\r\n# X-Start-Before: $network\r\n\
                # Default-Start: S\r\n# X-Interactive: TRUE\r\n\
                # Description: Starts\r\n#  the Provides: network\r\n### END INIT INFO\r\n\
                # Provides: nothing\r\n";
    let header = Header::read(text.as_bytes()).unwrap();
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(header.provides, names(&["net", "networking"]));
    assert_eq!(header.required_start, names(&["$local_fs", "udev", "more"]));
    assert_eq!(header.should_start, names(&[]));
    assert_eq!(header.start_before, names(&["$network"]));
    assert_eq!(header.default_start, Some(names(&["S"])));
    assert!(header.interactive && !header.open);

    assert_eq!(Header::read(b"#!/bin/sh\nexit 0\n"), None);
    let open = Header::read(b"### BEGIN INIT INFO\n# Provides: a\nexit 0\n# Provides: b\n");
    let open = open.unwrap();
    assert_eq!((open.provides, open.open), (names(&["a"]), true));
}

#[test]
fn waits_are_those_of_the_headers() {
    let scripts = [
        script("mountall", "# Provides: mountall\n"),
        script(
            "mountnfs",
            "# Provides: mountnfs\n# Required-Start: $local_fs $network\n",
        ),
        script(
            "networking",
            "# Provides: networking\n# Should-Start: ifmodem\n",
        ),
        script(
            "firewall",
            "# Provides: firewall\n# X-Start-Before: $network absent\n",
        ),
        script(
            "kiosk",
            "# Provides: kiosk\n# Required-Start: $remote_fs $syslog $null\n",
        ),
        script("last", "# Provides: last\n# Required-Start: $all\n"),
    ];
    assert_eq!(
        waits(&scripts),
        [
            "mountnfs<mountall Required-Start: $local_fs",
            "mountnfs<networking Required-Start: $network",
            "networking<firewall the other's X-Start-Before: $network",
            "kiosk<mountnfs Required-Start: $remote_fs",
            "last<kiosk Required-Start: $all",
        ]
    );
    let order = order_of(&scripts, Facilities::default()).unwrap();
    assert_eq!(
        order.notes,
        ["no script here provides $syslog: taken as there from the beginning"]
    );
}

#[test]
fn numbers_count_without_a_header() {
    let mut with = script("S30app", "# Provides: app\n");
    with.number = Some(30);
    let scripts = [
        numbered("S10a", 10),
        numbered("S20b", 20),
        numbered("S20c", 20),
        with,
    ];
    let why = "by number, as one of them has no header";
    let expected = ["S20b<S10a", "S20c<S10a", "S30app<S20b", "S30app<S20c"];
    assert_eq!(waits(&scripts), expected.map(|w| format!("{w} {why}")));
}

#[test]
fn level_s_comes_first() {
    let scripts = [
        script("a", "# Provides: a\n# Default-Start: 2 3\n"),
        script(
            "b",
            "# Provides: b\n# Default-Start: S\n# Should-Start: a\n",
        ),
    ];
    assert_eq!(waits(&scripts), ["a<b level S comes first"]);
}

#[test]
fn missing_providers_are_named() {
    let (said, hint) = error(&[
        script("dbus", "# Provides: dbus-daemon\n"),
        script(
            "kiosk",
            "# Provides: kiosk\n# Required-Start: dbus-deamon $netwerk\n",
        ),
        script("app", "# Provides: app\n# Required-Start: kiosk\n"),
    ]);
    assert_eq!(
        said,
        "kiosk requires dbus-deamon, which no script here provides (did you mean dbus-daemon?); \
         behind it wait app\nkiosk requires $netwerk, which no script here provides (did you mean \
         $network?); behind it wait app"
    );
    assert!(hint.contains("Should-Start"), "{hint}");
}

#[test]
fn circles_are_named() {
    let (said, hint) = error(&[
        script("x", "# Provides: x\n"),
        script("a", "# Provides: a\n# Required-Start: b x\n"),
        script("b", "# Provides: b\n# Should-Start: c\n"),
        script("c", "# Provides: c\n# Required-Start: a\n"),
    ]);
    assert_eq!(
        said,
        "scripts wait for each other in a circle:\n  a waits for b (Required-Start: b)\n  \
         b waits for c (Should-Start: c)\n  c waits for a (Required-Start: a)"
    );
    assert_eq!(
        hint,
        "the least needed may be c in the header of b: take it out"
    );
    let (said, _) = error(&[script("a", "# Provides: a\n# Required-Start: a\n")]);
    assert!(
        said.ends_with("a waits for a (Required-Start: a)"),
        "{said}"
    );
}

#[test]
fn the_plan_is_the_agents() {
    let golden = include_bytes!("../../../../agent/tests/corpus/rc/golden");
    let plan = Plan::parse(golden).unwrap();
    assert_eq!(plan.dir, "/etc/rcS.d");
    assert_eq!(plan.scripts[2].after, [0, 1]);
    assert!(plan.scripts[2].alone);
    assert_eq!(plan.to_text().unwrap().as_bytes(), golden);
    for cut in 0..golden.len() {
        assert!(Plan::parse(&golden[..cut]).is_err());
        let mut damaged = golden.to_vec();
        damaged[cut] ^= 1;
        assert!(Plan::parse(&damaged).is_err());
    }
}

#[test]
fn facilities_of_a_conf_replace_the_usual() {
    let conf = Facilities::of_conf(b"$network +net # comment\n$own $network +x\n<interactive> a\n");
    assert_eq!(conf.scripts("$network"), ["$network", "net"]);
    assert_eq!(conf.scripts("$own"), ["$own", "$network", "x", "net"]);
    assert!(conf.knows("$syslog") && !conf.knows("$other"));
    let circular = Facilities::of_conf(b"$a $b\n$b $a\n");
    assert_eq!(circular.scripts("$a"), ["$a", "$b"]);
}

#[test]
fn what_packages_say_is_added_to_the_facilities() {
    let root = tempfile::tempdir().unwrap();
    let etc = root.path().join("etc");
    for folder in ["init.d", "insserv.conf.d/old"] {
        std::fs::create_dir_all(etc.join(folder)).unwrap();
    }
    std::fs::write(etc.join("insserv.conf.d/xdm"), "$x-display-manager xdm\n").unwrap();
    std::fs::write(etc.join("insserv.conf.d/bind9"), "$named bind9\n").unwrap();
    let facilities = Folder::read(&etc.join("init.d")).unwrap().facilities;
    assert_eq!(
        facilities.scripts("$x-display-manager"),
        ["$x-display-manager", "xdm"]
    );
    let named = facilities.scripts("$named");
    assert!(named.contains(&"bind9") && named.contains(&"dnsmasq"));
    std::fs::write(etc.join("insserv.conf"), "$named +own\n").unwrap();
    let facilities = Folder::read(&etc.join("init.d")).unwrap().facilities;
    assert_eq!(facilities.scripts("$named"), ["$named", "own", "bind9"]);
}

#[test]
fn a_runlevel_finds_what_the_boot_has_provided() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, header: &str| {
        let path = root.path().join("etc").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("### BEGIN INIT INFO\n{header}### END INIT INFO\n");
        std::fs::write(path, text).unwrap();
    };
    write("rcS.d/S03udev", "# Provides: udev\n");
    write("rcS.d/S05mountnfs.sh", "# Provides: mountnfs\n");
    write(
        "rcS.d/S06nfs",
        "# Provides: nfs-common\n# Required-Start: udev\n",
    );
    write(
        "rc2.d/S02nfsd",
        "# Provides: nfsd\n# Required-Start: nfs-common $remote_fs $time\n",
    );
    let folder = Folder::read(&root.path().join("etc/rc2.d")).unwrap();
    let order = order(&folder).unwrap();
    assert!(order.waits.iter().all(Vec::is_empty));
    assert_eq!(
        order.notes,
        ["no script here provides $time: taken as there from the beginning"]
    );
    write("rc2.d/S03x", "# Provides: x\n# Required-Start: y\n");
    let folder = Folder::read(&root.path().join("etc/rc2.d")).unwrap();
    assert!(super::order(&folder).is_err());
}

/// Scripts whose edges go to earlier ones only, shuffled by name.
fn acyclic() -> impl Strategy<Value = Vec<Script>> {
    proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..24), 1..24).prop_map(
        |rows| {
            let of = |(at, row): (usize, &Vec<bool>)| {
                let before = row.iter().take(at).enumerate().filter(|(_, waits)| **waits);
                let names: Vec<String> = before.map(|(on, _)| format!("p{on}")).collect();
                let keys = ["Required-Start", "Should-Start"];
                let header = format!(
                    "# Provides: p{at}\n# {}: {}\n",
                    keys[at % 2],
                    names.join(" ")
                );
                script(&format!("n{at}"), &header)
            };
            rows.iter().enumerate().map(of).collect()
        },
    )
}

#[test]
fn what_is_missing_has_an_end() {
    let names: Vec<String> = (0..64).map(|n| format!("absent{n}")).collect();
    let header = format!("# Provides: a\n# Required-Start: {}\n", names.join(" "));
    let (error, _) = error(&[script("a", &header)]);
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 17);
    assert!(lines[15].starts_with("a requires absent15, which"));
    assert_eq!(lines[16], "48 more requirements that no script here meets");
}

#[test]
fn a_facility_of_many_facilities_is_its_scripts_once() {
    let conf: String = (0..4000)
        .map(|n| format!("$f{n} $f{} +a\n", n + 1))
        .collect();
    let facilities = Facilities::of_conf(conf.as_bytes());
    let scripts = [
        script("a", "# Provides: a $f1 $f2 $f3\n"),
        script("b", "# Provides: b\n# Required-Start: $f0 $f1\n"),
    ];
    let order = order_of(&scripts, facilities).unwrap();
    let waits = order.waits[1].iter().map(|w| w.on).collect::<Vec<_>>();
    assert_eq!(waits, [0]);
}

proptest! {
    #[test]
    fn all_edges_follow_from_the_waits(scripts in acyclic()) {
        let order = order_of(&scripts, Facilities::default()).unwrap();
        let mut before: Vec<Vec<usize>> = Vec::new();
        for (at, waits) in order.waits.iter().enumerate() {
            let mut all: Vec<usize> = waits.iter().map(|w| w.on).collect();
            for wait in waits {
                prop_assert!(wait.on < at);
                all.extend(before[wait.on].clone());
            }
            let header = scripts[at].header.as_ref().unwrap();
            for name in header.required_start.iter().chain(&header.should_start) {
                let on: usize = name[1..].parse().unwrap();
                prop_assert!(all.contains(&on));
            }
            before.push(all);
        }
    }

    #[test]
    fn hostile_headers_do_no_harm(text in "(### (BEGIN|END) INIT INFO\n|# [A-Za-z-]{0,20}: ?[ $a-z\t]{0,30}\n|\\PC{0,40}\n|#\t\\PC{0,20}\n){0,20}") {
        let header = Header::read(text.as_bytes());
        let script = Script { name: "a".to_owned(), number: None, header };
        let _ = order_of(&[script], Facilities::default());
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut text = b"### BEGIN INIT INFO\n# Provides: ".to_vec();
        text.extend(&bytes);
        let header = Header::read(&text);
        let plain = |name: &String| !name.contains(char::is_control);
        prop_assert!(header.is_none_or(|h| h.provides.iter().all(plain)));
        let _ = Facilities::of_conf(&bytes);
        let _ = Plan::parse(&bytes);
    }
}

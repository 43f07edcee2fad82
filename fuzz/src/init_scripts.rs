//! A folder of init scripts that mean harm, and the plan that comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bootlap_rootfs::init_scripts::{
    Facilities, Folder, Header, Order, OrderError, Plan, Planned, Script, order,
};
use bootlap_rootfs::shell::{Beside, rewrite};

/// Stands before each file of an input, with its name behind it.
const MARK: &[u8] = b"%% ";

/// Reads the folder in `input`, orders it and makes a plan. What stands before the
/// first mark is a plan, too; a file `insserv.conf` is one.
pub fn check(input: &[u8]) {
    let (first, mut files) = files(input);
    if let Ok(plan) = Plan::parse(first) {
        let text = plan.to_text().expect("it was read from such a text");
        assert_eq!(Plan::parse(text.as_bytes()), Ok(plan));
    }
    let conf = files.remove("insserv.conf");
    let facilities = conf.map_or_else(Facilities::default, Facilities::of_conf);
    for facility in facilities.names() {
        assert!(facilities.scripts(facility).contains(&facility));
    }
    files.values().for_each(|script| rewrites(script));
    let names: Vec<String> = files.keys().cloned().collect();
    let head = |name: &str| Ok(files.get(name).copied().unwrap_or_default().to_vec());
    let folder = Folder {
        facilities,
        ..Folder::default()
    };
    let folder = folder.with(names, head, Path::new("/etc/init.d"));
    let Ok(folder) = folder else {
        return;
    };
    let listed = folder.scripts.len() + folder.left_out.len();
    let hidden = files.keys().filter(|name| name.starts_with('.')).count();
    assert_eq!(listed + hidden, files.len());
    for script in &folder.scripts {
        let bytes = files.get(&script.name).copied().unwrap_or_default();
        script.header.iter().for_each(|header| is_of(header, bytes));
    }
    match order(&folder) {
        Ok(order) => is_kept(&folder.scripts, &order),
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
            if let OrderError::Cycle(chain) = error {
                let next = chain.iter().cycle().skip(1);
                assert!(!chain.is_empty() && chain.iter().zip(next).all(|(a, b)| a.1 == b.0));
            }
        }
    }
}

/// A rewritten script has all lines of the old one, and is not rewritten again.
fn rewrites(script: &[u8]) {
    let text = String::from_utf8_lossy(script);
    let Ok(new) = rewrite(&text, &Beside::default()) else {
        return;
    };
    assert_eq!(new.text.lines().count(), text.lines().count() + 1);
    assert!(!new.replaced.is_empty() && new.text.len() > text.len());
    assert!(new.replaced.iter().all(|r| r.forks > 0 && r.line <= text.lines().count()));
    assert!(rewrite(&new.text, &Beside::default()).is_err());
}

fn files(input: &[u8]) -> (&[u8], BTreeMap<String, &[u8]>) {
    let mut first = None;
    let mut all = BTreeMap::new();
    let mut rest = input;
    loop {
        let end = rest.windows(MARK.len()).position(|w| w == MARK);
        let part = &rest[..end.unwrap_or(rest.len())];
        if first.is_none() {
            first = Some(part);
        } else {
            let line = part.iter().position(|b| *b == b'\n').unwrap_or(part.len());
            let name = String::from_utf8_lossy(&part[..line]).replace(['/', '\0'], "");
            if !name.is_empty() {
                all.insert(name, part.get(line + 1..).unwrap_or_default());
            }
        }
        let Some(end) = end else {
            return (first.unwrap_or_default(), all);
        };
        rest = &rest[end + MARK.len()..];
    }
}

/// A header says nothing that the script does not, and nothing twice.
fn is_of(header: &Header, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lists = [
        &header.provides,
        &header.required_start,
        &header.should_start,
        &header.start_before,
        header.default_start.as_ref().unwrap_or(&Vec::new()),
    ]
    .map(Clone::clone);
    for list in lists {
        assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len());
        assert!(list.iter().all(|name| text.contains(name)));
    }
}

/// Each script is behind what it requires, and there is a plan of it.
fn is_kept(scripts: &[Script], order: &Order) {
    assert_eq!(order.waits.len(), scripts.len());
    let mut sequence: Vec<usize> = Vec::new();
    // For each script all that is over when it starts.
    let mut before: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    while sequence.len() < scripts.len() {
        let known = sequence.len();
        for (at, waits) in order.waits.iter().enumerate() {
            if before.contains_key(&at) || !waits.iter().all(|w| before.contains_key(&w.on)) {
                continue;
            }
            let mut all = BTreeSet::new();
            for wait in waits {
                all.insert(wait.on);
                all.extend(&before[&wait.on]);
            }
            before.insert(at, all);
            sequence.push(at);
        }
        assert!(sequence.len() > known, "an order without a circle");
    }
    for (at, script) in scripts.iter().enumerate() {
        let required = script.header.iter().flat_map(|h| &h.required_start);
        // Who is there for a facility is not said by those who provide its name.
        for name in required.filter(|name| !name.starts_with('$')) {
            let provides = |other: &Script| {
                let mut headers = other.header.iter();
                headers.any(|h| h.provides.contains(name))
            };
            for (on, _) in scripts
                .iter()
                .enumerate()
                .filter(|(_, other)| provides(other))
            {
                assert!(on == at || before[&at].contains(&on));
            }
        }
    }
    let place = |on: usize| sequence.iter().position(|at| *at == on).expect("all are");
    let planned = sequence.iter().map(|at| Planned {
        name: scripts[*at].name.clone(),
        alone: scripts[*at].header.as_ref().is_some_and(|h| h.interactive),
        after: order.waits[*at].iter().map(|w| place(w.on)).collect(),
    });
    let plan = Plan {
        dir: "/etc/init.d".to_owned(),
        scripts: planned.collect(),
    };
    match plan.to_text() {
        Ok(text) => assert_eq!(Plan::parse(text.as_bytes()), Ok(plan)),
        Err(error) => assert!(scripts.len() > 100, "{error}: its names are those of plans"),
    }
}

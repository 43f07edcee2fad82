//! The units that systemd would start, as the files of a root say it.
//!
//! What `systemd.unit(5)` says of search paths, aliases, templates, drop-ins and the folders
//! `.wants` and `.requires`. Generators are not run, so what they make (mounts of `fstab`, the
//! login on the console) is not among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::volume::Files;

/// Folders with units, the one that counts most first.
const FOLDERS: [&str; 4] = [
    "etc/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
/// Where a masked unit is a link to `/dev/null`.
pub const MASKS: &str = "/etc/systemd/system";
/// More than any system starts.
const MOST: usize = 4096;
/// What is started if nobody says otherwise.
const DEFAULT: &str = "default.target";

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The file that it is read from, or its template's, without drop-ins.
    pub file: String,
    /// What it calls itself.
    pub description: String,
    /// It does not start without these.
    pub requires: BTreeSet<String>,
    /// It starts these, and does without them.
    pub wants: BTreeSet<String>,
    /// It starts behind these, if they start.
    pub after: BTreeSet<String>,
    /// It starts before these.
    pub before: BTreeSet<String>,
    /// It is a part of the early boot: not behind `sysinit.target`.
    pub early: bool,
    /// It does something and ends (`Type=oneshot`): started again, it does it again.
    pub ends: bool,
    /// Links in folders `.wants` and `.requires` that have it started, and the unit of each.
    pub links: Vec<(String, String)>,
}

/// All units that are started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// What the boot aims at: the name behind `default.target`.
    pub default: String,
    /// By name.
    pub started: BTreeMap<String, Unit>,
}

impl Units {
    /// Those of a root; `None` if it has no systemd.
    pub fn of(files: &dyn Files) -> Option<Self> {
        // Merged systems have one of them by two names.
        let merged = files.link("lib").is_some();
        let known = FOLDERS.map(|folder| match merged && folder.starts_with("lib/") {
            true => Vec::new(),
            false => files.list(folder).unwrap_or_default(),
        });
        if known.iter().all(Vec::is_empty) {
            return None;
        }
        let root = Root { files, known };
        let mut started: BTreeMap<String, Unit> = BTreeMap::new();
        let mut rest = vec![DEFAULT.to_owned()];
        while let Some(name) = rest.pop() {
            if started.contains_key(&name) || started.len() >= MOST {
                continue;
            }
            let Some((name, unit)) = root.load(&name, 0) else {
                continue;
            };
            rest.extend(unit.requires.iter().chain(&unit.wants).cloned());
            started.entry(name).or_insert(unit);
        }
        // An alias is started as what it stands for.
        let links: Vec<(String, String, String)> = root.links(&started);
        for (of, name, path) in links {
            let real = root.load(&name, 0).map_or(name, |(name, _)| name);
            if let Some(unit) = started.get_mut(&real) {
                unit.links.push((path, of));
            }
        }
        let default = root.load(DEFAULT, 0).map(|(name, _)| name);
        Some(Self {
            default: default.unwrap_or_else(|| DEFAULT.to_owned()),
            started,
        })
    }

    /// The started units that do not start without this one.
    pub fn need(&self, name: &str) -> Vec<&str> {
        let all = self.started.iter();
        let need = all.filter(|(_, unit)| unit.requires.contains(name));
        need.map(|(name, _)| name.as_str()).collect()
    }
}

/// A root's files, and the names in its folders with units.
struct Root<'f> {
    files: &'f dyn Files,
    known: [Vec<String>; 4],
}

impl Root<'_> {
    /// The folders that have this name, the one that counts most first.
    fn places<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'static str> + 'n {
        let all = FOLDERS.iter().zip(&self.known);
        all.filter(move |(_, names)| names.iter().any(|known| known == name))
            .map(|(folder, _)| *folder)
    }

    /// A unit under its own name; `None` if there is none, or it is masked.
    fn load(&self, name: &str, aliases: usize) -> Option<(String, Unit)> {
        const MOST_ALIASES: usize = 8;
        let template = template(name);
        let file = self
            .places(name)
            .next()
            .map(|folder| format!("{folder}/{name}"))
            .or_else(|| {
                let template = template.as_ref()?;
                let folder = self.places(template).next()?;
                Some(format!("{folder}/{template}"))
            })?;
        if let Some(to) = self.files.link(&file) {
            let real = to.rsplit('/').next().unwrap_or_default();
            if to == "/dev/null" {
                return None;
            }
            if real != name && Some(real) != template.as_deref() && aliases < MOST_ALIASES {
                // An instance of an alias is one of what it stands for.
                return self.load(real, aliases + 1);
            }
        }
        let text = self.files.text(&file)?;
        let mut unit = Unit {
            file,
            ..Unit::default()
        };
        unit.read(&text, name);
        for folder in self.drop_ins(name, template.as_deref()) {
            for path in self.files.ending(&folder, ".conf") {
                unit.read(&self.files.text(&path).unwrap_or_default(), name);
            }
        }
        for (kind, set) in [("wants", &mut unit.wants), ("requires", &mut unit.requires)] {
            let folder = format!("{name}.{kind}");
            for place in self.places(&folder) {
                let names = self.files.list(&format!("{place}/{folder}"));
                set.extend(names.unwrap_or_default());
            }
        }
        Some((name.to_owned(), unit))
    }

    fn drop_ins(&self, name: &str, template: Option<&str>) -> Vec<String> {
        let names = [Some(name), template];
        let names = names.into_iter().flatten().map(|name| format!("{name}.d"));
        let found = names.flat_map(|name| {
            let places: Vec<String> = self
                .places(&name)
                .map(|place| format!("{place}/{name}"))
                .collect();
            places
        });
        found.collect()
    }

    /// Links by which started units have others started: whose, to what, and the path.
    fn links(&self, started: &BTreeMap<String, Unit>) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for (folder, names) in FOLDERS.iter().zip(&self.known) {
            for name in names {
                let of = name
                    .strip_suffix(".wants")
                    .or(name.strip_suffix(".requires"));
                let Some(of) = of else { continue };
                let real = self.load(of, 0).map(|(real, _)| real);
                let Some(of) = real.filter(|real| started.contains_key(real)) else {
                    continue;
                };
                for unit in self
                    .files
                    .list(&format!("{folder}/{name}"))
                    .unwrap_or_default()
                {
                    let path = format!("/{folder}/{name}/{unit}");
                    found.push((of.clone(), unit, path));
                }
            }
        }
        found
    }
}

/// `getty@.service` of `getty@tty1.service`.
fn template(name: &str) -> Option<String> {
    let (base, rest) = name.split_once('@')?;
    let (instance, kind) = rest.rsplit_once('.')?;
    (!instance.is_empty()).then(|| format!("{base}@.{kind}"))
}

impl Unit {
    /// Adds what a file says; `name` is whose it is.
    fn read(&mut self, text: &str, name: &str) {
        let instance = name
            .split_once('@')
            .and_then(|(_, rest)| rest.rsplit_once('.'));
        let instance = instance.map_or("", |(instance, _)| instance);
        let text = text.replace("\\\n", " ");
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            if section == "Service" && key.trim() == "Type" {
                self.ends = value.trim() == "oneshot";
            }
            if section != "Unit" || line.starts_with(['#', ';']) {
                continue;
            }
            let value = value.trim().replace("%i", instance).replace("%I", instance);
            let set = match key.trim() {
                "Description" => {
                    self.description = value;
                    continue;
                }
                "DefaultDependencies" => {
                    self.early = matches!(value.as_str(), "no" | "false" | "0" | "off");
                    continue;
                }
                "Requires" | "BindsTo" => &mut self.requires,
                "Wants" | "Upholds" => &mut self.wants,
                "After" => &mut self.after,
                "Before" => &mut self.before,
                _ => continue,
            };
            set.extend(value.split_whitespace().map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::paper::Tree;

    #[test]
    fn what_is_started_is_found() {
        let tree = Tree(BTreeMap::from([
            (
                "etc/systemd/system/default.target",
                "->/usr/lib/systemd/system/multi-user.target",
            ),
            (
                "usr/lib/systemd/system/multi-user.target",
                "[Unit]\nRequires=basic.target\nAfter=\\\n basic.target\n",
            ),
            (
                "usr/lib/systemd/system/basic.target",
                "[Unit]\nDescription=Basic\nWants=gone.service\n",
            ),
            (
                "usr/lib/systemd/system/basic.target.wants/off.service",
                "->../off.service",
            ),
            ("usr/lib/systemd/system/off.service", "[Unit]\n"),
            ("etc/systemd/system/off.service", "->/dev/null"),
            (
                "etc/systemd/system/multi-user.target.wants/ssh.service",
                "->/usr/lib/systemd/system/ssh.service",
            ),
            (
                "etc/systemd/system/multi-user.target.wants/alias.service",
                "->x",
            ),
            ("usr/lib/systemd/system/alias.service", "->web.service"),
            (
                "usr/lib/systemd/system/web.service",
                "[Unit]\nDescription=old\nRequires=db@a.service\nDefaultDependencies=no\n[Service]\nDescription=no\nType=oneshot\n",
            ),
            (
                "etc/systemd/system/web.service.d/10.conf",
                "[Unit]\nDescription=new\n",
            ),
            (
                "usr/lib/systemd/system/db@.service",
                "[Unit]\nAfter=dev-%i.device\n",
            ),
            (
                "usr/lib/systemd/system/ssh.service",
                "[Unit]\n#Wants=no.service\n",
            ),
            ("usr/lib/systemd/system/idle.service", "[Unit]\n"),
        ]));
        let units = Units::of(&tree).unwrap();
        let names: Vec<&str> = units.started.keys().map(String::as_str).collect();
        let want = [
            "basic.target",
            "db@a.service",
            "multi-user.target",
            "ssh.service",
            "web.service",
        ];
        assert_eq!(names, want);
        let web = &units.started["web.service"];
        assert_eq!((web.description.as_str(), web.early), ("new", true));
        assert_eq!(web.file, "usr/lib/systemd/system/web.service");
        assert!(web.ends && !units.started["ssh.service"].ends);
        let link = "/etc/systemd/system/multi-user.target.wants/alias.service";
        assert_eq!(
            web.links,
            [(link.to_owned(), "multi-user.target".to_owned())]
        );
        assert!(units.started["db@a.service"].after.contains("dev-a.device"));
        assert!(
            units.started["multi-user.target"]
                .after
                .contains("basic.target")
        );
        assert_eq!(units.need("db@a.service"), ["web.service"]);
        assert_eq!(Units::of(&Tree(BTreeMap::new())), None);
    }
}

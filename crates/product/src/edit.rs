//! Changes of a `target.toml` that keep its comments, order and formatting.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

/// One change of a `target.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The dotted path of the key as TOML writes it, e.g.
    /// `bootloader.environment.bootdelay` or `initramfs.files."/bin/sh"`.
    pub key: String,
    /// Its new value; empty if the key goes.
    pub value: String,
    /// What is done with it.
    #[serde(default, skip_serializing_if = "How::is_text")]
    pub how: How,
}

/// What an edit does with its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Writes it as text.
    #[default]
    Text,
    /// Writes it as a number.
    Number,
    /// Removes the key, or the whole table of that name.
    Remove,
    /// Adds it to a list of texts, unless it is in there.
    Add,
}

impl How {
    fn is_text(&self) -> bool {
        *self == How::Text
    }
}

/// As TOML writes it: `fit.hash = "none"`.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            How::Text => write!(f, "{} = {:?}", self.key, self.value),
            How::Number => write!(f, "{} = {}", self.key, self.value),
            How::Remove => write!(f, "{} is removed", self.key),
            How::Add => write!(f, "{} has {:?} too", self.key, self.value),
        }
    }
}

impl Edit {
    /// Sets `key` to the text `value`.
    pub fn set(key: &str, value: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
            how: How::Text,
        }
    }

    /// Sets `key` to a number.
    pub fn number(key: &str, value: u32) -> Self {
        Self {
            key: key.to_owned(),
            value: value.to_string(),
            how: How::Number,
        }
    }

    /// Sets `key` to an address.
    pub fn address(key: &str, value: u32) -> Self {
        Self {
            key: key.to_owned(),
            value: format!("{value:#x}"),
            how: How::Number,
        }
    }

    /// Removes `key`, with all that is in it. It need not be there.
    pub fn remove(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: String::new(),
            how: How::Remove,
        }
    }

    /// Adds the text `value` to the list `key`.
    pub fn add(key: &str, value: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
            how: How::Add,
        }
    }

    /// Lets the target's initramfs and root hold what lies at `path`, outside of
    /// the target's own folder.
    pub fn allow(path: impl Into<String>) -> Self {
        Self::add("outside", path)
    }

    /// Whether it names other parts, or other files in them: those have to be
    /// found anew.
    pub(crate) fn names_parts(&self) -> bool {
        let places = [
            "archive",
            "dirs",
            "files",
            "image",
            "links",
            "minimal",
            "module-compression",
            "modules",
            "only",
            "order",
            "python-modules",
            "remove",
            "room",
            "signatures",
            "strip",
            "texts",
            "tree",
        ];
        let names = Key::parse(&self.key).unwrap_or_default();
        // What its loader is told is on the disk.
        if names
            .first()
            .is_some_and(|section| section.get() == "loader")
        {
            return true;
        }
        names.get(1).is_some_and(|n| places.contains(&n.get()))
    }

    /// Makes the change. Whatever way the file writes its tables (sections,
    /// inline or as dotted keys) is kept; what is missing is added in that way.
    pub(crate) fn apply(&self, doc: &mut DocumentMut) -> Result<(), String> {
        let names = Key::parse(&self.key).map_err(|e| format!("{}: {e}", self.key))?;
        let value = match self.how {
            How::Text => Value::from(self.value.as_str()),
            How::Number => {
                let number = self.value.parse::<Value>().ok();
                let number = number.filter(Value::is_integer);
                number.ok_or_else(|| format!("{}: {} is no number", self.key, self.value))?
            }
            How::Remove => {
                remove(doc.as_table_mut(), &names);
                return Ok(());
            }
            How::Add => {
                let there = names.iter().try_fold(doc.as_item(), |i, k| i.get(k.get()));
                let mut list = match there {
                    None => Array::new(),
                    Some(item) => item
                        .as_array()
                        .cloned()
                        .ok_or_else(|| format!("{} is no list", self.key))?,
                };
                if !list.iter().any(|v| v.as_str() == Some(&self.value)) {
                    list.push(self.value.as_str());
                }
                Value::from(list)
            }
        };
        set(doc.as_table_mut(), Way::Section, &names, value)
            .map_err(|name| format!("{name} is not what {} needs it to be", self.key))
    }
}

/// Removes what the names lead to, if they lead to anything.
fn remove(table: &mut dyn TableLike, names: &[Key]) {
    match names {
        [] => {}
        [last] => drop(table.remove(last.get())),
        [name, rest @ ..] => {
            let inner = table.get_mut(name.get());
            if let Some(inner) = inner.and_then(Item::as_table_like_mut) {
                remove(inner, rest);
            }
        }
    }
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// `[kernel]`
    Section,
    /// `kernel = { … }`
    Inline,
    /// `kernel.image = …`
    Dotted,
}

impl Way {
    fn of(item: &Item) -> Self {
        match item {
            Item::Value(_) => Way::Inline,
            Item::Table(table) if table.is_dotted() => Way::Dotted,
            _ => Way::Section,
        }
    }

    /// A table inside one that is written like this.
    fn new_table(self) -> Item {
        if self == Way::Inline {
            return Item::Value(Value::InlineTable(InlineTable::new()));
        }
        let mut table = Table::new();
        table.set_dotted(self == Way::Dotted);
        // No header of its own if all it holds is another section.
        table.set_implicit(true);
        Item::Table(table)
    }
}

/// On failure: the name that is in the way.
fn set(table: &mut dyn TableLike, way: Way, names: &[Key], value: Value) -> Result<(), String> {
    let Some((name, rest)) = names.split_first() else {
        return Ok(());
    };
    let name = name.get();
    let blocked = || name.to_owned();
    if rest.is_empty() {
        return put(table, way, name, value).ok_or_else(blocked);
    }
    if !table.contains_key(name) {
        make_room(table, way);
        table.insert(name, way.new_table());
    }
    let item = table.get_mut(name).ok_or_else(blocked)?;
    let way = Way::of(item);
    let inner = item.as_table_like_mut().ok_or_else(blocked)?;
    set(inner, way, rest, value)
}

/// Sets a value in place, or adds it at the end; `None` if `name` is a table.
fn put(table: &mut dyn TableLike, way: Way, name: &str, mut value: Value) -> Option<()> {
    match table.get_mut(name) {
        Some(item) => {
            let old = item.as_value().filter(|v| !v.is_inline_table())?;
            *value.decor_mut() = old.decor().clone();
            // Not `insert`, which would format the key anew.
            *item = Item::Value(value);
        }
        None => {
            make_room(table, way);
            table.insert(name, Item::Value(value));
        }
    }
    Some(())
}

/// The space before the brace of `{ a = 1 }` belongs to the 1: without it, the
/// comma comes where it should.
fn make_room(table: &mut dyn TableLike, way: Way) {
    if way == Way::Inline
        && let Some((_, Item::Value(last))) = table.iter_mut().last()
        && last.decor().suffix().and_then(|s| s.as_str()) == Some(" ")
    {
        last.decor_mut().set_suffix("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, key: &str, value: &str) -> Result<String, String> {
        let mut doc: DocumentMut = text.parse().unwrap();
        Edit::set(key, value).apply(&mut doc)?;
        let text = doc.to_string();
        // What was written is what is read.
        let doc = text.parse::<DocumentMut>().unwrap();
        let names = Key::parse(key).unwrap();
        let read = names.iter().fold(doc.as_item(), |i, k| &i[k.get()]);
        assert_eq!(read.as_str(), Some(value), "{text}");
        Ok(text)
    }

    #[test]
    fn only_the_value_changes() {
        let text = "# top\n[a]  # section\n  x   =   'old'   # why\n\ty=1\n\n# end\n";
        let want = text.replace("'old'", "\"new\"");
        assert_eq!(edited(text, "a.x", "new").unwrap(), want);
    }

    #[test]
    fn every_way_to_write_a_table_can_be_edited() {
        for (text, want) in [
            ("b.e = { d = '2' }\n", "b.e = { d = \"0\" }\n"),
            ("b = { e = { d = '2' } }\n", "b = { e = { d = \"0\" } }\n"),
            ("b.e.d = '2' # x\n", "b.e.d = \"0\" # x\n"),
            ("[b]\ne.d = '2'\n", "[b]\ne.d = \"0\"\n"),
            ("[b]\n[b.e]\nd = 2\n", "[b]\n[b.e]\nd = \"0\"\n"),
            ("['b']\n\"e\" = {d=''}\n", "['b']\n\"e\" = {d=\"0\"}\n"),
        ] {
            assert_eq!(edited(text, "b.e.d", "0").unwrap(), want);
        }
    }

    #[test]
    fn what_is_missing_is_added_in_the_same_way() {
        for (text, want) in [
            ("b = { i = 1 }\n", "b = { i = 1, e = { d = \"0\" } }\n"),
            ("b = {i=1}\n", "b = {i=1, e = { d = \"0\" } }\n"),
            ("b = { e = {} }\n", "b = { e = { d = \"0\" } }\n"),
            (
                "b = { e = { x = 1 } }\n",
                "b = { e = { x = 1, d = \"0\" } }\n",
            ),
            ("b.i = 1\nz = 2\n", "b.i = 1\nb.e.d = \"0\"\nz = 2\n"),
            ("b.e.x = 1\n", "b.e.x = 1\nb.e.d = \"0\"\n"),
            (
                "[b]\ni = 1\n\n[c]\nz = 2\n",
                "[b]\ni = 1\n\n[b.e]\nd = \"0\"\n\n[c]\nz = 2\n",
            ),
            ("[b.e]\nx = 1\n[c]\n", "[b.e]\nx = 1\nd = \"0\"\n[c]\n"),
            ("x = 1\n", "x = 1\n\n[b.e]\nd = \"0\"\n"),
        ] {
            assert_eq!(edited(text, "b.e.d", "0").unwrap(), want);
        }
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        for (text, named) in [
            ("b = 1\n", "b"),
            ("[b]\ne = 'x'\n", "e"),
            ("[[b]]\ne = {}\n", "b"),
            ("[b.e.d]\n", "d"),
            ("b.e.d = {}\n", "d"),
        ] {
            let error = edited(text, "b.e.d", "0").unwrap_err();
            assert_eq!(error, format!("{named} is not what b.e.d needs it to be"));
        }
        assert!(edited("", "a..b", "0").unwrap_err().contains("a..b"));
    }

    fn changed(text: &str, edit: &Edit) -> String {
        let mut doc: DocumentMut = text.parse().unwrap();
        edit.apply(&mut doc).unwrap();
        doc.to_string()
    }

    #[test]
    fn tables_and_keys_can_go() {
        for (text, want) in [
            ("[a]\nx = 1\n\n[b]\ny = 1 # y\n", "\n[b]\ny = 1 # y\n"),
            ("[a]\n[a.e]\nx = 1\n[b]\n", "[b]\n"),
            ("a.x = 1\nb = 1\n", "b = 1\n"),
            ("a = { x = 1 }\nb = 1\n", "b = 1\n"),
            ("b = 1\n", "b = 1\n"),
        ] {
            assert_eq!(changed(text, &Edit::remove("a")), want);
        }
        let one = |text| changed(text, &Edit::remove("a.x"));
        assert_eq!(one("[a]\nx = 1\ny = 2\n"), "[a]\ny = 2\n");
        assert_eq!(one("a = 1\n"), "a = 1\n");
    }

    #[test]
    fn lists_grow_by_what_is_not_in_them() {
        let allowed = changed("format = 1\n[a]\nx = 1\n", &Edit::allow("/b"));
        assert_eq!(allowed, "format = 1\noutside = [\"/b\"]\n[a]\nx = 1\n");
        let more = changed(&allowed, &Edit::allow("/c"));
        assert!(more.contains("outside = [\"/b\", \"/c\"]\n"), "{more}");
        assert_eq!(changed(&more, &Edit::allow("/b")), more);
        let mut doc: DocumentMut = "outside = 1".parse().unwrap();
        let said = Edit::allow("/b").apply(&mut doc).unwrap_err();
        assert_eq!(said, "outside is no list");
    }

    #[test]
    fn addresses_are_numbers() {
        let edit = Edit::address("a.x", 0x4000_0040);
        assert_eq!(
            changed("[a]\nx = 1 # y\n", &edit),
            "[a]\nx = 0x40000040 # y\n"
        );
        assert_eq!(edit.to_string(), "a.x = 0x40000040");
        let text = "key = 'a.x'\nvalue = '0x1'\nhow = 'number'";
        let read: Edit = toml_edit::de::from_str(text).unwrap();
        assert_eq!(read, Edit::address("a.x", 1));
        // What was written before there were others.
        let read: Edit = toml_edit::de::from_str("key = 'a'\nvalue = 'b'").unwrap();
        assert_eq!(read, Edit::set("a", "b"));
        let mut broken = edit;
        broken.value = "\"x\"".into();
        let mut doc = DocumentMut::new();
        assert!(broken.apply(&mut doc).unwrap_err().contains("is no number"));
    }

    #[test]
    fn odd_values_and_keys_come_back() {
        for value in ["", "a\"b'c\\", "two\nlines", "\u{1}\u{7f}é", "# no comment"] {
            edited("[a]\nx = 'y' # z\n", "a.x", value).unwrap();
            edited("[a]\n", "a.\"/bin/x y.z\"", value).unwrap();
        }
    }
}

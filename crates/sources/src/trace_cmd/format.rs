//! What the fields of each event are, as the kernel describes them.
//!
//! ```text
//! name: sched_process_exec
//! ID: 303
//! format:
//!  field:unsigned short common_type; offset:0; size:2; signed:0;
//!  field:int common_pid; offset:4; size:4; signed:1;
//!
//!  field:__data_loc char[] filename; offset:8; size:4; signed:0;
//!  field:pid_t pid; offset:12; size:4; signed:1;
//! ```

use std::collections::HashMap;

use super::bytes::Order;
use crate::text;

/// More fields than any event has.
const MAX_FIELDS: usize = 200;

/// The events of a file, by their number.
#[derive(Default)]
pub(super) struct Formats(HashMap<u32, Format>);

/// One kind of event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) name: String,
    /// Without those that all events have.
    pub(super) fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    offset: usize,
    size: usize,
    signed: bool,
    text: Text,
}

/// Whether a field is a text, and where that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    No,
    /// Here, up to a NUL.
    Here,
    /// The field says where.
    Elsewhere {
        relative: bool,
    },
}

impl Formats {
    /// Adds what `format` describes.
    pub(super) fn add(&mut self, format: &str) {
        let (mut id, mut name, mut fields) = (None, "", Vec::new());
        for line in format.lines() {
            let line = line.trim();
            if let Some(text) = line.strip_prefix("name: ") {
                name = text;
            } else if let Some(text) = line.strip_prefix("ID: ") {
                id = text.parse().ok();
            } else if let Some(text) = line.strip_prefix("field:")
                && fields.len() < MAX_FIELDS
            {
                fields.extend(field(text).filter(|f| !f.name.starts_with("common_")));
            }
        }
        if let Some(id) = id {
            let name = name.to_owned();
            self.0.insert(id, Format { name, fields });
        }
    }

    /// The kind of event of this number.
    pub(super) fn get(&self, id: u32) -> Option<&Format> {
        self.0.get(&id)
    }
}

impl Format {
    /// The field of this name.
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }
}

impl Field {
    /// Its value in `record`, if that is long enough.
    pub(super) fn number(&self, record: &[u8], order: Order) -> Option<i64> {
        let bytes = record.get(self.offset..self.offset.checked_add(self.size)?)?;
        Some(if self.signed {
            order.signed(bytes)
        } else {
            order.number(bytes) as i64
        })
    }

    /// Its text in `record`, if it is a text.
    pub(super) fn text<'r>(&self, record: &'r [u8], order: Order) -> Option<&'r str> {
        let bytes = match self.text {
            Text::No => return None,
            Text::Here if self.size == 0 => record.get(self.offset..)?,
            Text::Here => record.get(self.offset..self.offset.checked_add(self.size)?)?,
            Text::Elsewhere { relative } => {
                let place = self.number(record, order)? as u32;
                let (mut from, len) = ((place & 0xffff) as usize, (place >> 16) as usize);
                if relative {
                    from += self.offset + self.size;
                }
                record.get(from..from + len)?
            }
        };
        let len = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        Some(text::valid(&bytes[..len]))
    }

    /// Whether it is an array of this many numbers.
    pub(super) fn numbers<'r>(&self, record: &'r [u8], each: usize) -> Option<Vec<&'r [u8]>> {
        let bytes = record.get(self.offset..self.offset.checked_add(self.size)?)?;
        Some(bytes.chunks(each.max(1)).collect())
    }
}

/// `__data_loc char[] filename; offset:8; size:4; signed:0;`
fn field(line: &str) -> Option<Field> {
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", n)) => offset = n.parse().ok(),
            Some(("size", n)) => size = n.parse().ok(),
            Some(("signed", n)) => signed = n == "1",
            _ => {}
        }
    }
    // `char comm[16]`, `__data_loc char[] name`, `struct ftrace_graph_ent.func`
    let (kind, name) = declaration.rsplit_once([' ', '*'])?;
    let (name, array) = match name.split_once('[') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let text = match kind {
        _ if kind.starts_with("__data_loc") && kind.contains("char") => {
            Text::Elsewhere { relative: false }
        }
        _ if kind.starts_with("__rel_loc") && kind.contains("char") => {
            Text::Elsewhere { relative: true }
        }
        _ if array && kind.trim_end().ends_with("char") => Text::Here,
        _ => Text::No,
    };
    Some(Field {
        name: name.to_owned(),
        offset: offset?,
        size: size?,
        signed,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_any_kind() {
        let mut formats = Formats::default();
        formats.add(concat!(
            "name: x\nID: 7\nformat:\n",
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n",
            "\tfield:char comm[4];\toffset:2;\tsize:4;\tsigned:0;\n",
            "\tfield:int graph.ret;\toffset:6;\tsize:2;\tsigned:1;\n",
            "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n",
            "\nprint fmt: \"%s\", __get_str(filename)\n",
        ));
        let format = formats.get(7).unwrap();
        let record = b"\x07\0sh\0\0\xfe\xff\x0c\0\x03\0ab\0";
        let text = |name| format.field(name).unwrap().text(record, Order::LITTLE);
        assert_eq!((text("comm"), text("filename")), (Some("sh"), Some("ab")));
        let ret = format.field("ret").unwrap();
        assert_eq!(ret.number(record, Order::LITTLE), Some(-2));
        assert_eq!(format.fields.len(), 3);
        assert_eq!(ret.number(&record[..7], Order::LITTLE), None);
    }
}

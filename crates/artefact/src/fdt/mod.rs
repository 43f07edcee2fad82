//! The flattened device tree: the container of device trees and of U-Boot's FIT images.
//!
//! Format: Devicetree Specification 0.4, chapter 5. A header of ten big-endian words, a list of
//! reserved memory, a stream of tokens (node begins, property, node ends) and a table of property
//! names.
//!
//! Why not a library: `vm-fdt` only writes; `dtoolkit` refuses node names of more than 31
//! characters, which FITs with one configuration per board have, and neither can place the value
//! of a property at an aligned offset. Here that is done with NOP tokens, which every reader skips.

mod read;
mod write;

use std::borrow::Cow;

use super::bytes::{be32, be64, c_str};

/// What a device tree begins with, and a FIT, which is one.
pub const MAGIC: u32 = 0xd00d_feed;
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;
const HEADER_BYTES: usize = 40;

/// Nodes deeper than this are refused, which also bounds the recursion in writing and dropping.
const MAX_DEPTH: usize = 64;
/// Longest node or property name, in bytes. U-Boot and dtc have no limit near it.
const MAX_NAME: usize = 255;

/// A device tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fdt<'a> {
    /// Memory the kernel must leave alone: (address, size) in bytes.
    pub reserved: Vec<(u64, u64)>,
    /// Physical id of the CPU that boots.
    pub boot_cpu: u32,
    /// The root node, whose name is empty.
    pub root: Node<'a>,
}

/// A node: properties in order, then child nodes in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node<'a> {
    /// The name with its unit address, if any.
    pub name: Cow<'a, str>,
    /// Its properties.
    pub props: Vec<Prop<'a>>,
    /// Its child nodes.
    pub children: Vec<Node<'a>>,
}

/// A property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prop<'a> {
    /// The name.
    pub name: Cow<'a, str>,
    /// The value, not interpreted.
    pub value: Cow<'a, [u8]>,
    /// Where the value begins in the blob it was read from, in bytes; 0 if it was made here.
    pub offset: usize,
}

/// What is wrong with a flattened device tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FdtError {
    /// It does not start like one.
    #[error("not a flattened device tree (no d00dfeed at the start); check the file or the offset")]
    NotFdt,
    /// Only version 17 and what is compatible with it is read.
    #[error("device tree version {0} is not supported; convert it with `dtc -V 17`")]
    Version(u32),
    /// The header says more bytes than there are.
    #[error(
        "device tree is cut short: {needed} bytes announced, {available} there; copy all of it"
    )]
    Cut {
        /// Bytes the header announces.
        needed: usize,
        /// Bytes available.
        available: usize,
    },
    /// The token stream makes no sense.
    #[error("device tree is damaged at byte {offset}: {what}; make it again")]
    Damaged {
        /// Where, in bytes from the start of the blob.
        offset: usize,
        /// What was found.
        what: &'static str,
    },
    /// More nodes inside each other than anything real has.
    #[error("device tree nodes are nested deeper than {MAX_DEPTH}; flatten the tree")]
    TooDeep,
    /// It cannot be written in 32-bit offsets.
    #[error("device tree would exceed 4 GiB; use smaller images")]
    TooBig,
    /// A name that cannot be stored.
    #[error("`{0}` cannot be a device tree name; use 1 to 255 characters, none of them `/` or NUL")]
    Name(String),
    /// Not a power of two of at least 4.
    #[error("data cannot be aligned to {0} bytes; use a power of two from 4 to 1048576")]
    Align(usize),
}

impl<'a> Node<'a> {
    /// An empty node called `name`.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Node<'a> {
        Node {
            name: name.into(),
            ..Node::default()
        }
    }

    /// The property called `name`.
    pub fn prop(&self, name: &str) -> Option<&Prop<'a>> {
        self.props.iter().find(|prop| prop.name == name)
    }

    /// The child called `name`.
    pub fn child(&self, name: &str) -> Option<&Node<'a>> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The child called `name`, to change it.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Node<'a>> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    /// The (first) string in the property called `name`; bytes that are not UTF-8 are replaced.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = &self.prop(name)?.value;
        let text = c_str(value, 0, value.len()).unwrap_or(value);
        Some(String::from_utf8_lossy(text))
    }

    /// The property called `name` as one big-endian number of one or two 32-bit cells.
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = &self.prop(name)?.value;
        match value.len() {
            4 => be32(value, 0).map(u64::from),
            8 => be64(value, 0),
            _ => None,
        }
    }

    /// Sets the property called `name`, in place if it exists, else after the others.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, [u8]>>) {
        let (name, value) = (name.into(), value.into());
        match self.props.iter_mut().find(|prop| prop.name == name) {
            Some(prop) => prop.value = value,
            None => self.props.push(Prop {
                name,
                value,
                offset: 0,
            }),
        }
    }

    /// Sets the property called `name` to a string.
    pub fn set_text(&mut self, name: impl Into<Cow<'a, str>>, text: &str) {
        self.set(name, [text.as_bytes(), b"\0"].concat());
    }

    /// Sets the property called `name` to one 32-bit cell.
    pub fn set_u32(&mut self, name: impl Into<Cow<'a, str>>, number: u32) {
        self.set(name, number.to_be_bytes().to_vec());
    }

    /// Removes the property called `name`; says whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.props.len();
        self.props.retain(|prop| prop.name != name);
        self.props.len() != before
    }
}

#[cfg(test)]
mod tests;

//! Bytes into a tree.

use super::super::bytes::{be32, be64, c_str};
use super::{
    BEGIN_NODE, END_NODE, Fdt, FdtError, HEADER_BYTES, MAGIC, MAX_DEPTH, MAX_NAME, NOP, Node, PROP,
    Prop,
};

impl<'a> Fdt<'a> {
    /// The tree in `blob`, which may be followed by other bytes, as in flash.
    ///
    /// # Errors
    /// Any [`FdtError`] of reading: the blob is not one, is cut or is damaged.
    pub fn parse(blob: &'a [u8]) -> Result<Fdt<'a>, FdtError> {
        if be32(blob, 0) != Some(MAGIC) {
            return Err(FdtError::NotFdt);
        }
        let field = |at| {
            be32(blob, at)
                .map(|n| n as usize)
                .ok_or(cut(HEADER_BYTES, blob))
        };
        let total = field(4)?;
        let (structure, strings, reserved_at) = (field(8)?, field(12)?, field(16)?);
        let (version, compatible) = (field(20)?, field(24)?);
        if version < 17 || compatible > 17 {
            return Err(FdtError::Version(version as u32));
        }
        let boot_cpu = field(28)? as u32;
        let (strings_size, structure_size) = (field(32)?, field(36)?);
        let blob = blob.get(..total).ok_or(cut(total, blob))?;
        let block = |from: usize, size: usize, what| {
            blob.get(..from.saturating_add(size))
                .ok_or(FdtError::Damaged { offset: from, what })
        };
        if structure % 4 != 0 {
            return Err(FdtError::Damaged {
                offset: structure,
                what: "the structure block is not aligned",
            });
        }
        let reader = Reader {
            blob: block(
                structure,
                structure_size,
                "the structure block is out of bounds",
            )?,
            strings: block(strings, strings_size, "the strings block is out of bounds")?,
            strings_at: strings,
            at: structure,
        };
        Ok(Fdt {
            reserved: reserved(blob, reserved_at)?,
            boot_cpu,
            root: reader.tree()?,
        })
    }
}

fn cut(needed: usize, blob: &[u8]) -> FdtError {
    FdtError::Cut {
        needed,
        available: blob.len(),
    }
}

fn reserved(blob: &[u8], mut at: usize) -> Result<Vec<(u64, u64)>, FdtError> {
    let mut list = Vec::new();
    loop {
        match (be64(blob, at), be64(blob, at.saturating_add(8))) {
            (Some(0), Some(0)) => return Ok(list),
            (Some(address), Some(size)) => list.push((address, size)),
            _ => {
                return Err(FdtError::Damaged {
                    offset: at,
                    what: "the list of reserved memory does not end",
                });
            }
        }
        at += 16;
    }
}

/// Walks the token stream. `blob` and `strings` are cut at the ends of their blocks.
struct Reader<'a> {
    blob: &'a [u8],
    strings: &'a [u8],
    strings_at: usize,
    at: usize,
}

impl<'a> Reader<'a> {
    fn damaged(&self, what: &'static str) -> FdtError {
        FdtError::Damaged {
            offset: self.at,
            what,
        }
    }

    fn word(&mut self) -> Result<u32, FdtError> {
        let word = be32(self.blob, self.at).ok_or(self.damaged("it ends too soon"))?;
        self.at += 4;
        Ok(word)
    }

    /// Moves over `size` bytes and the padding after them.
    fn skip(&mut self, size: usize) {
        self.at = self.at.saturating_add(size).next_multiple_of(4);
    }

    fn tree(mut self) -> Result<Node<'a>, FdtError> {
        let mut open: Vec<Node<'a>> = Vec::new();
        loop {
            match self.word()? {
                NOP => {}
                BEGIN_NODE if open.len() == MAX_DEPTH => {
                    return Err(FdtError::TooDeep);
                }
                BEGIN_NODE => open.push(self.begin()?),
                PROP => {
                    let prop = self.prop()?;
                    let node = open.last_mut();
                    node.ok_or(self.damaged("a property is outside of the root"))?
                        .props
                        .push(prop);
                }
                END_NODE => {
                    let node = open
                        .pop()
                        .ok_or(self.damaged("a node ends that never began"))?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(node),
                        None => return Ok(node),
                    }
                }
                _ => return Err(self.damaged("this is no token")),
            }
        }
    }

    fn begin(&mut self) -> Result<Node<'a>, FdtError> {
        let name = c_str(self.blob, self.at, MAX_NAME)
            .and_then(|name| str::from_utf8(name).ok())
            .ok_or(self.damaged("a node has no readable name"))?;
        self.skip(name.len() + 1);
        Ok(Node::new(name))
    }

    fn prop(&mut self) -> Result<Prop<'a>, FdtError> {
        let size = self.word()? as usize;
        let name_at = self.word()? as usize;
        let name = c_str(
            self.strings,
            self.strings_at.saturating_add(name_at),
            MAX_NAME,
        )
        .and_then(|name| str::from_utf8(name).ok())
        .ok_or(self.damaged("a property has no readable name"))?;
        let offset = self.at;
        let value = self
            .blob
            .get(offset..offset.saturating_add(size))
            .ok_or(self.damaged("a value is longer than the tree"))?;
        self.skip(size);
        Ok(Prop {
            name: name.into(),
            value: value.into(),
            offset,
        })
    }
}

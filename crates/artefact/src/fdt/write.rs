//! A tree into bytes.

use std::collections::HashMap;

use super::{
    BEGIN_NODE, END, END_NODE, Fdt, FdtError, HEADER_BYTES, MAGIC, MAX_DEPTH, MAX_NAME, NOP, Node,
    PROP, Prop,
};

impl Fdt<'_> {
    /// The tree as bytes. The value of every property called `data` begins at a multiple of
    /// `data_align` bytes from the start (4 is what the format gives anyway): some boards read
    /// an image where it lies, with DMA or as a device tree, and need 8 or more.
    ///
    /// # Errors
    /// [`FdtError::Align`], [`FdtError::Name`] or [`FdtError::TooBig`].
    pub fn to_bytes(&self, data_align: usize) -> Result<Vec<u8>, FdtError> {
        if !data_align.is_power_of_two() || !(4..=1 << 20).contains(&data_align) {
            return Err(FdtError::Align(data_align));
        }
        let mut writer = Writer::new(data_align);
        for (address, size) in self.reserved.iter().chain(&[(0, 0)]) {
            writer.out.extend_from_slice(&address.to_be_bytes());
            writer.out.extend_from_slice(&size.to_be_bytes());
        }
        let structure = writer.out.len();
        writer.node(&self.root, 0)?;
        writer.word(END);
        let strings = writer.out.len();
        writer.out.extend_from_slice(&writer.strings);
        let total = writer.out.len();
        let header = [
            MAGIC as usize,
            total,
            structure,
            strings,
            HEADER_BYTES,
            17,
            16,
            self.boot_cpu as usize,
            total - strings,
            strings - structure,
        ];
        for (slot, value) in writer.out.chunks_exact_mut(4).zip(header) {
            let word = u32::try_from(value).map_err(|_| FdtError::TooBig)?;
            slot.copy_from_slice(&word.to_be_bytes());
        }
        Ok(writer.out)
    }
}

struct Writer<'t> {
    /// From the start of the header, so that positions here are positions in the file.
    out: Vec<u8>,
    strings: Vec<u8>,
    names: HashMap<&'t str, u32>,
    data_align: usize,
}

impl<'t> Writer<'t> {
    fn new(data_align: usize) -> Self {
        Writer {
            out: vec![0; HEADER_BYTES],
            strings: Vec::new(),
            names: HashMap::new(),
            data_align,
        }
    }

    fn word(&mut self, word: u32) {
        self.out.extend_from_slice(&word.to_be_bytes());
    }

    fn pad(&mut self) {
        self.out.resize(self.out.len().next_multiple_of(4), 0);
    }

    fn node(&mut self, node: &'t Node<'_>, depth: usize) -> Result<(), FdtError> {
        if depth >= MAX_DEPTH {
            return Err(FdtError::TooDeep);
        }
        self.word(BEGIN_NODE);
        if depth > 0 {
            check_name(&node.name)?;
            self.out.extend_from_slice(node.name.as_bytes());
        }
        self.out.push(0);
        self.pad();
        for prop in &node.props {
            self.prop(prop)?;
        }
        for child in &node.children {
            self.node(child, depth + 1)?;
        }
        self.word(END_NODE);
        Ok(())
    }

    fn prop(&mut self, prop: &'t Prop<'_>) -> Result<(), FdtError> {
        check_name(&prop.name)?;
        let next = u32::try_from(self.strings.len()).map_err(|_| FdtError::TooBig)?;
        let name = *self.names.entry(&prop.name).or_insert(next);
        if name == next {
            self.strings.extend_from_slice(prop.name.as_bytes());
            self.strings.push(0);
        }
        while prop.name == "data" && !(self.out.len() + 12).is_multiple_of(self.data_align) {
            self.word(NOP);
        }
        self.word(PROP);
        self.word(u32::try_from(prop.value.len()).map_err(|_| FdtError::TooBig)?);
        self.word(name);
        self.out.extend_from_slice(&prop.value);
        self.pad();
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), FdtError> {
    let bad = name.is_empty() || name.len() > MAX_NAME || name.contains(['/', '\0']);
    if bad {
        Err(FdtError::Name(name.to_owned()))
    } else {
        Ok(())
    }
}

//! Reading a FIT and checking its hashes.

use std::ops::Range;

use super::super::fdt::{Fdt, Node};
use super::{FitError, Hash};

/// A FIT, as it was read. Properties that are missing are empty strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit<'a> {
    /// Text for people.
    pub description: String,
    /// Seconds since 1970, if it says when it was made.
    pub timestamp: Option<u32>,
    /// In the order of the file.
    pub images: Vec<Image<'a>>,
    /// In the order of the file.
    pub configurations: Vec<Configuration>,
    /// The name of the configuration that is used when none is asked for.
    pub default: Option<String>,
}

/// One image of a FIT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<'a> {
    /// The name of its node, such as `kernel-1`.
    pub name: String,
    /// Text for people.
    pub description: String,
    /// The `type` property, such as `kernel` or `flat_dt`.
    pub kind: String,
    /// The `arch` property.
    pub arch: String,
    /// The `os` property.
    pub os: String,
    /// The `compression` property.
    pub compression: String,
    /// Physical address to copy or unpack to.
    pub load: Option<u64>,
    /// Physical address to jump to.
    pub entry: Option<u64>,
    /// Where the data is, in bytes from the start of the file.
    pub range: Range<usize>,
    /// The data.
    pub data: &'a [u8],
    /// Its digests.
    pub hashes: Vec<StoredHash>,
}

/// A digest that a FIT holds of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHash {
    /// The `algo` property.
    pub algo: String,
    /// The digest.
    pub value: Vec<u8>,
}

/// What boots together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The name of its node, such as `conf-1`.
    pub name: String,
    /// Text for people.
    pub description: String,
    /// Name of the kernel image.
    pub kernel: Option<String>,
    /// Name of the ramdisk image.
    pub ramdisk: Option<String>,
    /// Names of the device tree and its overlays, in the order they are applied.
    pub fdt: Vec<String>,
}

/// A digest that is not what the data gives, or that cannot be computed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongHash {
    /// The name of the image.
    pub image: String,
    /// The `algo` property.
    pub algo: String,
    /// The digest in the file.
    pub stored: Vec<u8>,
    /// The digest of the data; `None` if the algorithm is not known here.
    pub computed: Option<Vec<u8>>,
}

impl<'a> Fit<'a> {
    /// The FIT at the start of `file`, which may go on after it.
    ///
    /// # Errors
    /// [`FitError::Fdt`] and [`FitError::NoImages`] if it is none, [`FitError::NoData`] if the
    /// data of an image is not in `file`.
    pub fn parse(file: &'a [u8]) -> Result<Fit<'a>, FitError> {
        let tree = Fdt::parse(file)?;
        let images = tree.root.child("images").ok_or(FitError::NoImages)?;
        let images = images.children.iter().map(|node| image(file, node));
        let configurations = tree.root.child("configurations");
        Ok(Fit {
            description: text(&tree.root, "description"),
            timestamp: cell(&tree.root, "timestamp"),
            images: images.collect::<Result<_, _>>()?,
            default: configurations
                .and_then(|node| node.text("default"))
                .map(|name| name.into()),
            configurations: configurations
                .map(|node| node.children.iter().map(configuration).collect())
                .unwrap_or_default(),
        })
    }

    /// The image called `name`.
    pub fn image(&self, name: &str) -> Option<&Image<'a>> {
        self.images.iter().find(|image| image.name == name)
    }

    /// Every digest that does not fit its data; empty if all is well. This reads all the data.
    pub fn wrong_hashes(&self) -> Vec<WrongHash> {
        self.images.iter().flat_map(Image::wrong_hashes).collect()
    }
}

impl Image<'_> {
    /// Every digest that does not fit the data; empty if all is well.
    pub fn wrong_hashes(&self) -> Vec<WrongHash> {
        let check = |hash: &StoredHash| {
            let computed = Hash::from_name(&hash.algo).map(|algo| algo.digest(self.data));
            (computed.as_ref() != Some(&hash.value)).then(|| WrongHash {
                image: self.name.clone(),
                algo: hash.algo.clone(),
                stored: hash.value.clone(),
                computed,
            })
        };
        self.hashes.iter().filter_map(check).collect()
    }
}

fn text(node: &Node<'_>, name: &str) -> String {
    node.text(name).unwrap_or_default().into_owned()
}

fn cell(node: &Node<'_>, name: &str) -> Option<u32> {
    node.number(name).and_then(|n| u32::try_from(n).ok())
}

fn image<'a>(file: &'a [u8], node: &Node<'_>) -> Result<Image<'a>, FitError> {
    let no_data = || FitError::NoData(node.name.to_string());
    let range = data_range(file, node).ok_or_else(no_data)?;
    let data = file.get(range.clone()).ok_or_else(no_data)?;
    let hashes = node
        .children
        .iter()
        .filter(|child| child.name.starts_with("hash"));
    Ok(Image {
        name: node.name.to_string(),
        description: text(node, "description"),
        kind: text(node, "type"),
        arch: text(node, "arch"),
        os: text(node, "os"),
        compression: text(node, "compression"),
        load: node.number("load"),
        entry: node.number("entry"),
        range,
        data,
        hashes: hashes.map(stored_hash).collect(),
    })
}

/// Where the data is: in the tree, or after it and found by position or by offset.
fn data_range(file: &[u8], node: &Node<'_>) -> Option<Range<usize>> {
    if let Some(data) = node.prop("data") {
        return Some(data.offset..data.offset + data.value.len());
    }
    let start = match cell(node, "data-position") {
        Some(position) => position as usize,
        None => {
            let tree_bytes = super::super::bytes::be32(file, 4)? as usize;
            tree_bytes
                .checked_next_multiple_of(4)?
                .checked_add(cell(node, "data-offset")? as usize)?
        }
    };
    Some(start..start.checked_add(cell(node, "data-size")? as usize)?)
}

fn stored_hash(node: &Node<'_>) -> StoredHash {
    StoredHash {
        algo: text(node, "algo"),
        value: node
            .prop("value")
            .map(|prop| prop.value.to_vec())
            .unwrap_or_default(),
    }
}

fn configuration(node: &Node<'_>) -> Configuration {
    let name = |role: &str| node.text(role).map(|name| name.into_owned());
    let fdt = node
        .prop("fdt")
        .map(|prop| prop.value.to_vec())
        .unwrap_or_default();
    Configuration {
        name: node.name.to_string(),
        description: text(node, "description"),
        kernel: name("kernel"),
        ramdisk: name("ramdisk"),
        fdt: String::from_utf8_lossy(&fdt)
            .split_terminator('\0')
            .map(str::to_owned)
            .collect(),
    }
}

//! How a path leads through a tree of folders and links.

use std::io;

use super::pieces;

/// As many links are followed as Linux follows.
const MOST_LINKS: usize = 40;

/// Folders, files and links, each known by a `Node`.
pub(super) trait Tree {
    /// What knows where something is.
    type Node: Clone;

    /// What is called so in a folder.
    fn child(&self, folder: &Self::Node, name: &str) -> io::Result<Self::Node>;

    /// Where a link leads to; `None` if it is none.
    fn target(&self, node: &Self::Node) -> io::Result<Option<String>>;
}

/// What is at a path below `top`, with the links on the way to it followed, and that at its end
/// if `last`. No link leads out of `top`.
pub(super) fn walk<T: Tree>(
    tree: &T,
    top: &T::Node,
    path: &str,
    last: bool,
) -> io::Result<T::Node> {
    let names = |path: &str| pieces(path).rev().map(str::to_owned).collect();
    let mut rest: Vec<String> = names(path);
    // The folders that lead there, the nearest last.
    let mut above: Vec<T::Node> = Vec::new();
    let mut links = 0;
    while let Some(name) = rest.pop() {
        if name == ".." {
            above.pop();
            continue;
        }
        let node = tree.child(above.last().unwrap_or(top), &name)?;
        let follows = last || !rest.is_empty();
        match tree.target(&node)?.filter(|_| follows) {
            Some(to) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::ErrorKind::NotFound.into());
                }
                if to.starts_with('/') {
                    above.clear();
                }
                let more: Vec<String> = names(&to);
                rest.extend(more);
            }
            None => above.push(node),
        }
    }
    Ok(above.pop().unwrap_or_else(|| top.clone()))
}

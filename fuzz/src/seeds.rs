//! What the targets begin with: the fixtures.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use crate::pieces::joined;
use crate::words::dictionary;
use fixtures::{Case, all_cases};

// Not all that tests need is used here.
#[allow(dead_code)]
#[path = "../../crates/sources/tests/sources/support/mod.rs"]
mod fixtures;

/// Most bytes of a seed: with more, runs are slow and find no more. A binary
/// file is no use without its end; of a text the beginning is enough.
const MOST_TEXT: usize = 8 * 1024;
const MOST_BINARY: usize = 64 * 1024;

/// Writes the seeds of all `targets` below `to`.
pub fn write(to: &Path, targets: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for target in targets {
        fs::create_dir_all(to.join(target)).expect("a folder for seeds");
        let code = match *target {
            "init_scripts" => "crates/rootfs/src",
            "disk" => "crates/image/src",
            _ => "crates/sources/src",
        };
        let words = dictionary(&root.join(code), target);
        fs::write(to.join(format!("{target}.dict")), words).expect("a dictionary");
    }
    let cases = all_cases();
    for case in &cases {
        let seed = short(&together(case));
        put(to, &case.format, case, &seed);
        put(to, "detect", case, &seed[..seed.len().min(4096)]);
    }
    for (i, case) in cases.iter().enumerate().step_by(4) {
        // Far from it in the list, so of another format.
        let other = &cases[(i + cases.len() / 3) % cases.len()];
        let parts = [case, other].into_iter().flat_map(|c| &c.parts);
        let cut = |bytes| short_of(bytes, MOST_TEXT / 4);
        let parts: Vec<_> = parts.take(9).map(|p| (&p.name, cut(&p.bytes))).collect();
        let parts = parts.iter().map(|(n, b)| (n.as_str(), &b[..]));
        put(to, "ingest", case, &joined(parts, "==8<=="));
    }
    for case in cases.iter().step_by(9) {
        for (kind, bytes) in packed(case) {
            save(
                &to.join("archive"),
                &format!("{}.{kind}", label(case)),
                &bytes,
            );
        }
    }
    kernel_tree(&root, &to.join("kernel_tree"));
    own(
        &root.join("fuzz/seeds/init_scripts"),
        &to.join("init_scripts"),
    );
    for name in ["ext2.img", "ext4.img"] {
        let packed = root.join(format!("crates/rootfs/src/root_image/testdata/{name}.gz"));
        for target in ["ext_image", "disk"] {
            image(&packed, &to.join(target), name);
        }
    }
    let lvm = root.join("crates/image/src/lvm/testdata/pv.gz");
    image(&lvm, &to.join("disk"), "lvm");
    for target in ["disk", "kernel_image"] {
        own(&root.join("fuzz/seeds").join(target), &to.join(target));
    }
    let boots = to.join("target_toml");
    for entry in fs::read_dir(root.join("targets"))
        .expect("targets")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Ok(text) = fs::read(entry.path().join("target.toml")) {
            save(&boots, &name, &text);
        }
    }
}

/// What was written for the fuzzer only.
fn own(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("seeds").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        save(to, &name, &fs::read(entry.path()).expect("a seed"));
    }
}

/// The part of an image that is not empty.
fn image(packed: &Path, to: &Path, name: &str) {
    let packed = fs::File::open(packed).expect("an image");
    let mut bytes = Vec::new();
    let unpack = flate2::read::GzDecoder::new(packed);
    unpack
        .take(2 * MOST_BINARY as u64)
        .read_to_end(&mut bytes)
        .expect("gzip");
    save(to, name, &bytes);
}

/// A source tree in one input, and each of its files alone.
fn kernel_tree(root: &Path, to: &Path) {
    let mut folders = vec![root.join("tests/kernel-tree")];
    let top = folders[0].clone();
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the tree").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("text");
            let name = path.strip_prefix(&top).expect("inside").to_string_lossy();
            save(to, &name.replace('/', "-"), text.as_bytes());
            all += &format!("{}{name}\n{text}", crate::kernel_tree::MARK);
        }
    }
    save(to, "all", all.as_bytes());
}

/// The parts of a recording in one input.
fn together(case: &Case) -> Vec<u8> {
    if !case.together {
        return case.parts[0].bytes.clone();
    }
    let most = 2 * MOST_TEXT / case.parts.len();
    let cut = |bytes: &[u8]| short_of(bytes, most);
    let parts: Vec<_> = case
        .parts
        .iter()
        .map(|p| (&p.name, cut(&p.bytes)))
        .collect();
    joined(parts.iter().map(|(n, b)| (n.as_str(), &b[..])), "--8<--")
}

fn short(bytes: &[u8]) -> Vec<u8> {
    let text = !bytes.iter().take(512).any(|b| *b == 0);
    short_of(bytes, if text { MOST_TEXT } else { MOST_BINARY })
}

fn short_of(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes[..bytes.len().min(most)].to_vec()
}

fn packed(case: &Case) -> Vec<(&'static str, Vec<u8>)> {
    let files = case
        .parts
        .iter()
        .map(|p| (p.name.as_str(), short_of(&p.bytes, 3000)));
    let files: Vec<_> = files.collect();
    let mut tar = tar::Builder::new(Vec::new());
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in &files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, &bytes[..])
            .expect("a tar in memory");
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(*name, options).expect("a zip in memory");
        zip.write_all(bytes).expect("a zip in memory");
    }
    let tar = tar.into_inner().expect("a tar in memory");
    let zip = zip.finish().expect("a zip in memory").into_inner();
    vec![
        ("tgz", gzipped(&tar)),
        ("gz", gzipped(&files[0].1)),
        (
            "zst",
            zstd::encode_all(&tar[..], 3).expect("zstd in memory"),
        ),
        ("zip.gz", gzipped(&zip)),
        ("xz", xz(&files[0].1)),
        ("bz2", bz2(&files[0].1)),
        ("tar", tar),
        ("zip", zip),
    ]
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).expect("gzip in memory");
    out.finish().expect("gzip in memory")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::default();
    let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).expect("xz in memory");
    out.write_all(bytes).expect("xz in memory");
    out.finish().expect("xz in memory")
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    out.write_all(bytes).expect("bzip2 in memory");
    out.finish().expect("bzip2 in memory")
}

fn label(case: &Case) -> String {
    let parts = case.dir.components().rev().take(3);
    let mut parts: Vec<_> = parts.map(|p| p.as_os_str().to_string_lossy()).collect();
    parts.reverse();
    parts.join("-")
}

fn put(to: &Path, target: &str, case: &Case, bytes: &[u8]) {
    save(&to.join(target), &label(case), bytes);
}

fn save(dir: &Path, name: &str, bytes: &[u8]) {
    fs::write(dir.join(name), bytes).expect("a seed");
}

//! What a boot reads of its disks, and of which files of an image that is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_lab::Run;
use bootlap_model::{FileSystem, Read, ReadOf, Timeline};
use bootlap_rootfs::root_image::{ImageFile, RootImage};
use bootlap_wire::pack::{File, Use};

use crate::evidence::ReadOptions;
use crate::failure::{Exit, Failure};

/// What `bootlap` itself keeps in a run's folder.
const OF_RUN: [&str; 3] = ["manifest.json", "console", "console.stamps"];

/// Which reads are of the image.
pub struct Which<'a> {
    /// Where the target mounts it.
    pub place: &'a str,
    /// The device that the user says it is.
    pub device: Option<u32>,
}

/// Uses of the files of an image.
pub struct Uses {
    /// The image's files, and at the end its metadata.
    pub files: Vec<File>,
    /// What was read, in the order of time.
    pub uses: Vec<Use>,
    /// Files that were read and that the image does not have.
    pub unknown: usize,
    /// Files that were read and whose names are no UTF-8.
    pub nameless: usize,
    /// Reads of other file systems.
    pub elsewhere: usize,
}

/// The evidence of `paths`, which has to have reads.
pub fn read(paths: &[PathBuf]) -> Result<Timeline, Failure> {
    let mut files = Vec::new();
    for path in paths {
        match Run::is_run(path) {
            true => files.extend(of_run(path)?),
            false => files.push(path.clone()),
        }
    }
    let timeline = super::read(&files, &ReadOptions::default())?.timeline;
    let clocks: HashSet<_> = timeline.reads.iter().map(|read| read.clock).collect();
    match clocks.len() {
        0 => Err(no_reads(paths)),
        1 => Ok(timeline),
        _ => {
            let why = "several of these files say what was read";
            Err(Failure::new(Exit::Usage, why).hint("name the trace or the pack of one boot"))
        }
    }
}

fn no_reads(paths: &[PathBuf]) -> Failure {
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let why = format!("{}: it does not say what was read", names.join(" "));
    Failure::new(Exit::NothingUsable, why).hint(
        "boot with trace_event=filemap:mm_filemap_add_to_page_cache trace_buf_size=8M and save \
         /sys/kernel/tracing/trace, or record on the target with bootlap-agent record",
    )
}

/// What lies in a run's folder besides the run.
fn of_run(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |e| Failure::new(Exit::Usage, format!("cannot read {}: {e}", dir.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && !name.starts_with('.') && !OF_RUN.contains(&&*name) {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(no_reads(&[dir.to_owned()])),
        false => Ok(files),
    }
}

/// The events that the kernel lost, and whether the order says nothing.
pub fn shortcomings(timeline: &Timeline) -> (u32, bool) {
    let notices = || timeline.notices.iter();
    let lost = notices().filter(|n| ["trace-events-lost", "pack-lost"].contains(&&*n.code));
    let lost: u64 = lost.map(|n| n.count).sum();
    let unordered = notices().any(|n| n.code == "pack-unordered");
    (u32::try_from(lost).unwrap_or(u32::MAX), unordered)
}

/// Names of files.
pub struct Named {
    /// Their paths, in the order of their first use.
    pub paths: Vec<String>,
    /// How many more were read that cannot be named.
    pub left_out: usize,
}

/// The files that were read, as far as the evidence itself has their names.
pub fn named(timeline: &Timeline, place: &str) -> Result<Named, Failure> {
    let mut reads: Vec<&Read> = timeline.reads.iter().collect();
    reads.sort_by_key(|read| read.at.ns);
    if reads.iter().any(|r| matches!(r.of, ReadOf::Inode { .. })) {
        let why = "a trace has inodes and no names";
        return Err(Failure::new(Exit::Usage, why)
            .hint("name the image that was booted: --image root.ext4"));
    }
    let (mut seen, mut nameless) = (HashSet::new(), HashSet::new());
    let mut paths = Vec::new();
    for read in reads.iter().filter(|read| is_at(read, place, timeline)) {
        match read.of {
            ReadOf::File { path, .. } if seen.insert(path) => {
                paths.push(timeline.text(path).to_owned());
            }
            ReadOf::Nameless { number, .. } => {
                nameless.insert(number);
            }
            _ => {}
        }
    }
    let left_out = nameless.len();
    match paths.is_empty() {
        true => Err(nothing_at(place, timeline, left_out)),
        false => Ok(Named { paths, left_out }),
    }
}

/// The file system of what was read by name.
fn system_of(read: &Read) -> Option<FileSystem> {
    match read.of {
        ReadOf::File { system, .. }
        | ReadOf::Nameless { system, .. }
        | ReadOf::Metadata { system } => Some(system),
        ReadOf::Inode { .. } => None,
    }
}

fn is_at(read: &Read, place: &str, timeline: &Timeline) -> bool {
    system_of(read).is_some_and(|system| timeline.text(system.place) == place)
}

/// Why there is no file: of what is mounted there nothing was read, or nothing that
/// has a name.
fn nothing_at(place: &str, timeline: &Timeline, nameless: usize) -> Failure {
    let failure = |why| Failure::new(Exit::NothingUsable, why);
    if nameless > 0 {
        let why = format!("{nameless} files were read at {place}, and no name of them is UTF-8");
        return failure(why).hint("rename them: files are taken by names that are UTF-8");
    }
    let mut reads = timeline.reads.iter();
    let why = match reads.any(|read| is_at(read, place, timeline)) {
        true => format!("only metadata was read of what is mounted at {place}, and no file"),
        false => format!("nothing was read of what is mounted at {place}"),
    };
    let of_files = timeline.reads.iter().filter_map(|read| match read.of {
        ReadOf::File { system, .. } => Some(timeline.text(system.place)),
        _ => None,
    });
    let mut places: Vec<&str> = of_files.collect();
    places.sort_unstable();
    places.dedup();
    failure(why).hint(match places.is_empty() {
        true => "record a boot that reads files: what is in memory already is not read".to_owned(),
        false => format!("--place says where; there were {}", places.join(", ")),
    })
}

/// Which files of `image` were used.
pub fn of_image(
    timeline: &Timeline,
    image: &RootImage,
    which: &Which<'_>,
) -> Result<Uses, Failure> {
    let file = |file: &ImageFile| File {
        inode: file.inode,
        size: file.size,
        mtime_ns: file.mtime_ns,
        path: file.path.as_bytes().to_vec(),
        system: 0,
    };
    let metadata = image.files.len();
    let mut files: Vec<File> = image.files.iter().map(file).collect();
    files.push(File {
        inode: 0,
        size: 0,
        mtime_ns: 0,
        path: Vec::new(),
        system: 0,
    });
    let known = Known::of(image);
    let device = match which.device {
        Some(device) => Some(device),
        None => known.device(timeline)?,
    };
    let mut uses = Vec::new();
    let (mut unknown, mut nameless) = (HashSet::new(), HashSet::new());
    let mut elsewhere = 0;
    for read in &timeline.reads {
        let found = match read.of {
            ReadOf::Inode { device: of, inode } if Some(of) == device => known.inode(inode),
            // The disk's own pages are an inode of the kernel's.
            ReadOf::Inode { device: of, inode }
                if of < 1 << 20 && Some(inode) == device.map(u64::from) =>
            {
                Some(metadata)
            }
            ReadOf::File { path, .. } if is_at(read, which.place, timeline) => {
                known.path(timeline.text(path))
            }
            ReadOf::Nameless { number, .. } if is_at(read, which.place, timeline) => {
                nameless.insert(number);
                continue;
            }
            ReadOf::Metadata { system } if is_at(read, which.place, timeline) => {
                // Of another image it lies elsewhere; it is found below.
                if !is_of(system, image) {
                    continue;
                }
                Some(metadata)
            }
            _ => {
                elsewhere += 1;
                continue;
            }
        };
        match found {
            Some(file) => uses.push(Use {
                ns: read.at.ns,
                file,
                start: read.start,
                end: read.end,
            }),
            None => {
                unknown.insert(read.of);
            }
        }
    }
    if uses.iter().all(|each| each.file == metadata) {
        let (unknown, nameless) = (unknown.len(), nameless.len());
        return Err(nothing_of(timeline, which.place, unknown, nameless));
    }
    if uses.iter().all(|each| each.file != metadata) {
        uses.extend(metadata_uses(image, &uses, metadata));
    }
    Ok(Uses {
        files,
        uses,
        unknown: unknown.len(),
        nameless: nameless.len(),
        elsewhere,
    })
}

fn is_of(system: FileSystem, image: &RootImage) -> bool {
    image.id != 0 && (system.id, system.kind) == (image.id, image.kind)
}

/// Why none of the image's files was used.
fn nothing_of(timeline: &Timeline, place: &str, unknown: usize, nameless: usize) -> Failure {
    if let Some(ReadOf::Inode { .. }) = timeline.reads.first().map(|read| read.of) {
        let why = "none of the files that were read is in the image";
        return Failure::new(Exit::NothingUsable, why)
            .hint("name the image that was booted, and the trace's device: --device 179:2");
    }
    if unknown == 0 {
        return nothing_at(place, timeline, nameless);
    }
    let why = format!("none of the {unknown} files that were read at {place} is in the image");
    Failure::new(Exit::NothingUsable, why)
        .hint("--image is what the target mounts there; is it of this target?")
}

/// What has to be read to open the files that are used, each at the file's first use.
fn metadata_uses(image: &RootImage, uses: &[Use], metadata: usize) -> Vec<Use> {
    let mut first: HashMap<usize, i64> = HashMap::new();
    for each in uses {
        let ns = first.entry(each.file).or_insert(each.ns);
        *ns = each.ns.min(*ns);
    }
    let mut files: Vec<usize> = first.keys().copied().collect();
    files.sort_by_key(|file| (first.get(file), *file));
    let ranges = image.metadata_of(&files).into_iter();
    let uses = ranges.map(|(file, range)| Use {
        ns: first.get(&file).copied().unwrap_or_default(),
        file: metadata,
        start: range.start,
        end: range.end,
    });
    uses.collect()
}

/// The image's files by what reads know of them.
struct Known<'i> {
    image: &'i RootImage,
    inodes: HashMap<u64, usize>,
    paths: HashMap<&'i str, usize>,
}

impl<'i> Known<'i> {
    fn of(image: &'i RootImage) -> Self {
        let (mut inodes, mut paths) = (HashMap::new(), HashMap::new());
        for (index, file) in image.files.iter().enumerate() {
            // One inode may have several names: the first is as good as another.
            let index = *inodes.entry(file.inode).or_insert(index);
            paths.insert(file.path.as_str(), index);
        }
        Self {
            image,
            inodes,
            paths,
        }
    }

    fn inode(&self, inode: u64) -> Option<usize> {
        self.inodes.get(&inode).copied()
    }

    fn path(&self, path: &str) -> Option<usize> {
        self.paths.get(path).copied()
    }

    /// The device most of whose inodes are files of the image; none if the reads
    /// have names.
    fn device(&self, timeline: &Timeline) -> Result<Option<u32>, Failure> {
        // By inode, the end of what was read of it.
        let mut devices: BTreeMap<u32, HashMap<u64, u64>> = BTreeMap::new();
        for read in &timeline.reads {
            if let ReadOf::Inode { device, inode } = read.of
                && device >= 1 << 20
            {
                let end = devices.entry(device).or_default().entry(inode).or_default();
                // The last page ends behind the file.
                *end = read.start.max(*end);
            }
        }
        if devices.is_empty() {
            return Ok(None);
        }
        let fits = |(inode, start): (&u64, &u64)| {
            let file = self.inode(*inode).and_then(|at| self.image.files.get(at));
            file.is_some_and(|file| *start < file.size)
        };
        let counted = devices.iter().map(|(device, inodes)| {
            let fitting = inodes.iter().filter(|entry| fits(*entry)).count();
            (fitting, inodes.len(), *device)
        });
        let best = counted.max_by_key(|(fitting, ..)| *fitting);
        match best {
            // Some are made, grow or go during a boot. Of another image by chance many
            // fit, where files are small.
            Some((fitting, all, device)) if fitting * 4 >= all * 3 => Ok(Some(device)),
            Some((fitting, all, device)) => {
                let (major, minor) = (device >> 20, device & ((1 << 20) - 1));
                let why = format!(
                    "the trace is of another image: of {all} files that were read on {major}:{minor}, \
                     {fitting} are in this one and as long"
                );
                Err(Failure::new(Exit::NothingUsable, why).hint(
                    "inodes are good for one image only: make a pack with the image that was \
                     booted, and from that one for another image",
                ))
            }
            None => Ok(None),
        }
    }
}

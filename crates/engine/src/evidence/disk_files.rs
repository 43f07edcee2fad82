//! Which files of its disk a boot reads: what the machine was asked for, seen from outside, and
//! where files are on the image. Nothing has to run on the target.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use bootlap_analysis::ReadBefore;
use bootlap_analysis::disks::FileRead;
use bootlap_image::{Found, Window};
use bootlap_lab::Run;
use bootlap_model::{Axis, RequestKind, Stamp, Timeline};
use bootlap_rootfs::root_image::RootImage;

use crate::failure::{Exit, Failure};

/// What was read of a run's disk.
pub struct DiskFiles {
    /// In the order of their first read.
    pub files: Vec<FileRead>,
    /// The partition that the system is on; where none is known, the only one with files.
    pub root: Option<u32>,
}

impl DiskFiles {
    /// The paths of those on the root that are `wanted`, in their order.
    ///
    /// # Errors
    /// If it is not known which partition that is.
    pub fn on_root(&self, wanted: impl Fn(&FileRead) -> bool) -> Result<Vec<String>, Failure> {
        let root = self.root.ok_or_else(|| {
            let why = "which partition of the disk is the root is not known";
            Failure::new(Exit::NothingUsable, why)
                .hint("`bootlap show RUN --by files` lists what was read of each")
        })?;
        let root = format!("{root}:/");
        let files = self.files.iter().filter(|file| wanted(file));
        let paths = files.filter_map(|file| file.file.strip_prefix(&root));
        Ok(paths
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect())
    }
}

/// Whether at least half of a file was read: whoever reads ahead takes whole files.
pub fn is_mostly_read(file: &FileRead) -> bool {
    file.read_bytes.saturating_mul(2) >= file.size
}

/// Bytes of the disk that belong to one name.
struct Stretch {
    start: u64,
    end: u64,
    /// Its place in [`Map::names`].
    name: usize,
}

/// What each byte of a disk belongs to.
struct Map {
    /// Of files, in order, none in another.
    stretches: Vec<Stretch>,
    /// In which what is in no file belongs to.
    partitions: Vec<Stretch>,
    /// Names and lengths.
    names: Vec<(String, u64)>,
    root: Option<u32>,
}

/// What `run`, whose evidence is `timeline`, read of the disk that it was booted from. A file that
/// the target itself changed on the disk is not found by its name.
///
/// # Errors
/// If the run has no requests, its disk is no raw image, or another one by now.
pub fn of_run(run: &Run, timeline: &Timeline) -> Result<DiskFiles, Failure> {
    if timeline.requests.is_empty() {
        return Err(none(run));
    }
    let map = Map::of(&disk(run)?)?;
    let axis = Axis::of(timeline);
    let booted = booted(run);
    let mut before = ReadBefore::of(timeline);
    let mut found: HashMap<usize, FileRead> = HashMap::new();
    for request in &timeline.requests {
        let Some(done) = axis.at(request.clock, request.done) else {
            continue;
        };
        let again = before.add(done, request);
        if request.kind != RequestKind::Read || request.disk != booted {
            continue;
        }
        let end = request.offset.saturating_add(request.bytes.into());
        map.each(request.offset, end, |name, bytes| {
            let read = found.entry(name).or_insert_with(|| map.unread(name, done));
            read.read_bytes += bytes;
            read.reads += 1;
        });
        for range in again {
            map.each(range.start, range.end, |name, bytes| {
                found
                    .entry(name)
                    .and_modify(|read| read.again_bytes += bytes);
            });
        }
    }
    let mut files: Vec<(usize, FileRead)> = found.into_iter().collect();
    files.sort_by_key(|(name, file)| (file.first_ns, *name));
    Ok(DiskFiles {
        files: files.into_iter().map(|(_, file)| file).collect(),
        root: map.root,
    })
}

fn none(run: &Run) -> Failure {
    let why = format!("{}: it has no requests of a disk", run.dir.display());
    Failure::new(Exit::NothingUsable, why).hint(
        "bootlap's probe records them when a target with [disk] is booted in counted time: boot \
         it again, without --plain",
    )
}

/// The probe counts disks in the order of the arguments, and the one that is booted is the last.
fn booted(run: &Run) -> u8 {
    let disks = run.manifest.machine.pointer("/model/disks/n");
    let disks = disks.and_then(|n| n.as_str()?.parse::<u8>().ok());
    disks.unwrap_or(1).saturating_sub(1)
}

/// The image that was booted.
fn disk(run: &Run) -> Result<Window, Failure> {
    let part = run.manifest.parts.iter().find(|part| part.name == "disk");
    let part = part.ok_or_else(|| none(run))?;
    // As the target names it: from its own folder on.
    let path = &Path::new(&run.manifest.target_path).join(&part.origin);
    let cannot = |e: std::io::Error| {
        let why = format!(
            "cannot read the disk that was booted, {}: {e}",
            path.display()
        );
        Failure::new(Exit::Usage, why)
    };
    let file = File::open(path).map_err(cannot)?;
    let there = file.metadata().map_err(cannot)?;
    let started: Option<jiff::Timestamp> = run.manifest.started.parse().ok();
    let changed = there
        .modified()
        .ok()
        .and_then(|at| jiff::Timestamp::try_from(at).ok());
    let is_newer = changed.zip(started).is_some_and(|(at, start)| at > start);
    if is_newer || there.len() != part.bytes {
        let why = format!("{} was changed since this boot", path.display());
        return Err(Failure::new(Exit::Usage, why).hint("boot the target again, with --fresh"));
    }
    Ok(Window::all(Rc::new(file), there.len()))
}

impl Map {
    fn of(disk: &Window) -> Result<Self, Failure> {
        let found = Found::of(disk);
        let with_files = |at: &usize| found.volumes[*at].kind.starts_with("ext");
        let mut ext = (0..found.volumes.len()).filter(with_files);
        let only = ext.next().filter(|_| ext.next().is_none());
        let root = found.systems.first().map(|system| system.volume).or(only);
        let mut map = Self {
            stretches: Vec::new(),
            partitions: Vec::new(),
            names: Vec::new(),
            root: root.map(|volume| found.table.partitions[volume].number),
        };
        for (partition, volume) in found.table.partitions.iter().zip(&found.volumes) {
            let window = disk.part(partition.start, partition.bytes);
            let number = partition.number;
            if volume.kind.starts_with("ext") {
                map.add_files(&window, number, partition.start)?;
            }
        }
        map.stretches.sort_by_key(|stretch| stretch.start);
        // Of two files with one block, which a damaged disk has, the first has it.
        let mut to = 0;
        map.stretches.retain_mut(|stretch| {
            stretch.start = stretch.start.max(to);
            to = stretch.end.max(to);
            stretch.start < stretch.end
        });
        // A logical volume, which comes last, is a part of the partition around it.
        for partition in found.table.partitions.iter().rev() {
            map.partitions.push(Stretch {
                start: partition.start,
                end: partition.start.saturating_add(partition.bytes),
                name: map.names.len(),
            });
            map.names.push((format!("{}:", partition.number), 0));
        }
        Ok(map)
    }

    fn add_files(&mut self, window: &Window, number: u32, start: u64) -> Result<(), Failure> {
        let wrong = |e: String| Failure::new(Exit::Usage, format!("partition {number}: {e}"));
        let image = RootImage::ext(window).map_err(wrong)?;
        let data = image.data_of(window).map_err(wrong)?;
        for (file, ranges) in image.files.iter().zip(data) {
            let name = self.names.len();
            self.names
                .push((format!("{number}:/{}", file.path), file.size));
            self.stretches
                .extend(ranges.into_iter().map(|range| Stretch {
                    start: start + range.start,
                    end: start + range.end,
                    name,
                }));
        }
        Ok(())
    }

    /// What `start..end` belongs to, and how many bytes of it; each name once.
    fn each(&self, start: u64, end: u64, mut seen: impl FnMut(usize, u64)) {
        let first = self
            .stretches
            .partition_point(|stretch| stretch.end <= start);
        let within = self.stretches[first..].iter().take_while(|s| s.start < end);
        let mut parts: Vec<(usize, u64)> = Vec::new();
        let mut rest = end.saturating_sub(start);
        for stretch in within {
            let bytes = stretch.end.min(end) - stretch.start.max(start);
            rest -= bytes;
            match parts.iter_mut().find(|(name, _)| *name == stretch.name) {
                Some((_, sum)) => *sum += bytes,
                None => parts.push((stretch.name, bytes)),
            }
        }
        let mut around = self.partitions.iter();
        let around = around.find(|p| p.start <= start && start < p.end);
        parts.extend(around.filter(|_| rest > 0).map(|p| (p.name, rest)));
        for (name, bytes) in parts {
            seen(name, bytes);
        }
    }

    fn unread(&self, name: usize, at: Stamp) -> FileRead {
        let (file, size) = self.names[name].clone();
        FileRead {
            file,
            size,
            read_bytes: 0,
            again_bytes: 0,
            reads: 0,
            first_ns: at.ns,
        }
    }
}

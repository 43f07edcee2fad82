"""Each table script: made-up runs in, the page out."""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from made_up import SCRIPTS, fake_bootlap, page, printed, script

MS = 1_000_000


def boot(ready_ms, **more):
    return {"ready_ns": ready_ms * MS, "identical": True, "phases": [], **more}


class Tables(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.work = Path(made.name)

    def has(self, text, *lines):
        for line in lines:
            self.assertIn(line + "\n", text + "\n", f"\n{text}")

    def test_what_a_script_takes_from_another_is_there(self):
        taken = 0
        for path in sorted(SCRIPTS.glob("table-*")):
            text = path.read_text()
            for name, other in re.findall(r"\b(\w+) = script\(\"([\w-]+)\"\)", text):
                for what in re.findall(rf"(?<![.\w]){name}\.(\w+)", text):
                    with self.subTest(path.name, of=other):
                        self.assertTrue(hasattr(script(other), what), what)
                    taken += 1
        self.assertGreater(taken, 30)

    def test_bootloaders(self):
        program = fake_bootlap(self.work, """
def answer(args):
    if args[0] == "apply":
        Path(value("-o")).mkdir()
        return {}
    ready = 900_000_000 if "uboot-bootdelay" in args[1] else 1_000_000_000
    return {"ready_ns": ready, "identical": True,
            "phases": [{"name": "bootloader", "start_ns": 0, "end_ns": 250_000_000}]}
""")
        text = page("table-bootloaders", program)
        self.has(text, "| as it is | 1000.000 ms | 250.000 ms |  |",
                 "| `uboot-bootdelay` | 900.000 ms | 250.000 ms | 100.000 ms |",
                 "Made by `scripts/table-bootloaders` with bootlap 0.0.0.")

    def test_tune(self):
        program = fake_bootlap(self.work, """
def manifest(folder, ms):
    folder.mkdir(parents=True)
    outcome = {"outcome": {"ready": {"ns": ms * 1_000_000}}}
    (folder / "manifest.json").write_text(json.dumps(outcome))

def answer(args):
    if args[0] == "apply":
        Path(value("-o")).mkdir()
        return {}
    if args[0] == "boot":
        return {"ready_ns": 500_000_000 if "set-a" in args[1] else 800_000_000}
    session = Path("runs/kiosk-tune/1")
    variants = [{"name": "a=1", "dir": "v1"}, {"name": "a=2", "dir": "v2"}, {"name": "b", "dir": "v3"}]
    for folder, ms in [("baseline", 800), ("v1", 700), ("v2", 500), ("v3", 790)]:
        manifest(session / folder / "0", ms)
    (session / "experiment.json").write_text(json.dumps({"variants": variants}))
    step = {"recipe": "a=2", "saved_ns": 3e8, "interval_ns": [2e8, 4e8], "without_ns": 3e8, "without_p": 0.01}
    return {"before_ns": 800_000_000, "after_ns": 505_000_000, "boots": 16, "steps": [step]}
""")
        text = page("table-tune", program, LAYOUTS="1", WORK=str(self.work))
        self.has(text, "| found by `tune` | 0.500 s | 16 |", "| best of all subsets | 0.500 s | 4 |",
                 "| a=2 | 300.00 ms | 200.00 to 400.00 | 300.00 ms | 0.0100 |",
                 "| a=2 | 300.00 ms |", "| b | 10.00 ms |", "| (none) | 0.800 s | +60.00 % |")
        self.assertIn("is +0.00 % from the best subset", text)

    def test_advise(self):
        program = fake_bootlap(self.work, """
def answer(args):
    finding = lambda rule, ns: {"rule": rule, "recipe": rule, "saving_kind": "this-boot", "saving_ns": ns}
    trial = lambda rule, ns: {"recipe": rule, "saved_ns": ns, "verdict": "faster" if ns > 0 else "slower",
                              "interval_ns": [ns - 1_000_000, ns + 1_000_000]}
    board = finding("line", 0) | {"saving_kind": "predicted-board", "predicted_saving_ns": 70_000_000}
    if args[0] == "advise":
        return {"tool": "bootlap 0.0.0", "findings": [finding("good", 20_000_000), finding("bad", 90_000_000), board]}
    return {"trials": [trial("good", 25_000_000), trial("bad", -5_000_000), trial("line", 100_000)]}
""")
        target = self.work / "mine"
        target.mkdir()
        text = page("table-advise", program, str(target))
        self.has(text, "- 1 of 2 findings whose saving this boot can show (50 %)",
                 "- Slower than before: `bad` on mine (goal: none).",
                 "| good | `good` | 20.0 ms | 25.0 ms | 24.0 ms to 26.0 ms | 0.80 | faster |",
                 "| line | `line` | 70.0 ms on a board | 0.1 ms | -0.9 ms to 1.1 ms |  | faster |")

    def test_check(self):
        table = script("table-check")

        def asked(*_):
            kernel = {"name": "kernel", "start_ns": 0, "end_ns": 100 * MS, "instructions": 5e7}
            return boot(400, instructions=2e8, phases=[kernel])

        def ended(_, group, *__, codes):
            broken = "injected" in str(group)
            growth = {"before": 1000, "shift": 1 if broken else 0, "interval": [0, 2]}
            result = {"state": "broken" if broken else "ok",
                      "limits": [{"name": "kernel instructions", "growth": growth, "causes": []}]}
            return codes[broken], json.dumps(result)

        groups = [(kind, self.work / f"{kind}-0", self.work / f"build-{kind}")
                  for kind in ("baseline", "unchanged", "injected")]
        with mock.patch.multiple(table, asked=asked, ended=ended):
            text = printed(table.report, self.work, groups, self.work / "stock")
        self.has(text, "| +0.1 % of the kernel's instructions | 8 | 0 | 0 | **1 of 1** |",
                 "| unchanged | 8 | **1 of 1** | 0 | 0 |",
                 "| +0.1 % | +0.100 % | +0.000 % to +0.200 % | broken |  |",
                 "| total, ms | 400.0 | 0.000 % | 400.0 | 0.000 % |")

    def test_references(self):
        table = script("table-references")
        made = boot(1000, tool="bootlap 0.0.0", console="Data Size:    1000000 Bytes\nCalibrating delay loop (skipped)",
                    phases=[{"name": "kernel", "start_ns": 0, "end_ns": 5 * MS}],
                    spans=[{"track": "initcalls", "name": "ip_auto_config", "ns": 9 * MS},
                           {"track": "boot loader", "name": "uncompress kernel", "ns": 8 * MS}])
        for name in table.VARIANTS:
            (self.work / f"{name}.json").write_text(json.dumps({**made, "ready_ns": (900 if name == "quiet" else 1000) * MS}))
        with mock.patch.object(table, "of_this_bootlap", lambda _: self.work), \
                mock.patch.object(sys, "argv", ["table-references"]):
            text = printed(table.main)
        self.assertIn("| 7 | `quiet` | 2.352 → 1.285 s, kernel to init | 1.000 s → 900.00 ms (-100.00 ms) | yes |", text)
        self.assertIn("| 9 | U-Boot's boot delay | “several seconds” | 1.000 s → 1.000 s (0.00 ms) | too small to say |", text)
        self.has(text, "| stock | 1.000 s | `bootlap boot targets/kiosk` |")

    def test_board_model(self):
        table = script("table-board-model")
        spans = [{"track": "console", "start_ns": 1_000_000_000, "name": "x" * 1150},
                 {"track": "kernel", "start_ns": 0, "name": "not text"},
                 {"track": "console", "start_ns": 2_000_000_000, "name": "READY"}]
        log, took = table.on_the_line({"spans": spans})
        self.assertAlmostEqual(took, 2.1)
        self.assertTrue(log.endswith("[2.100000 1.100000] READY\n"), log)
        with mock.patch.object(table, "TOLD", [("CPU", 2.0), ("CPU", 0.5), ("CPU", 1.0)]
                               + [(k, 1.0) for k in ("log", "console", "wait", "storage", "storage + CPU", "size")]):
            self.assertIn("| CPU | 3 | 2.00 × | 2.00 × |", list(table.spread()))

    def test_collect(self):
        table = script("table-collect")
        counted = {"none": [100e6, 102e6], "bootchartd": [110e6, 112e6], "collect": [105e6, 107e6],
                   "cpu": [106e6, 108e6], "reads": [120e6, 122e6]}
        with mock.patch.multiple(table, agent=lambda *_: self.work, bootchartd=lambda *_: self.work,
                                 costs=lambda *_: counted):
            text = printed(table.row, table.Kiosk, self.work, self.work, 2)
        self.has(text, "| kiosk | 101 M | 10.00 M (10.00 to 10.00), 9.90% | 5.00 M (5.00 to 5.00), 4.95% "
                       "| 6.00 M (6.00 to 6.00), 5.94% | 20.00 M (20.00 to 20.00), 19.80% | 0.50 |")

    def test_replay_cost(self):
        table = script("table-replay-cost")
        counted = {"none": [100e6], "front": [101e6], "beside": [102e6]}
        (self.work / "boot.pack").write_bytes(b"pack")
        argv = ["table-replay-cost", str(self.work), "--keep", str(self.work), "--layouts", "1"]
        with mock.patch.multiple(table, agent=lambda *_: self.work, Guest=mock.MagicMock(),
                                 costs=lambda *_: counted), mock.patch.object(sys, "argv", argv):
            text = printed(table.main)
        self.has(text, "| `replay`, then init | 1.00 M (1.00 to 1.00), 1.00% |")

    def test_explain(self):
        table = script("table-explain")
        place = {"file": "drivers/a.c", "module": "a", "made_by": {"line": 7}, "level": "device",
                 "included_by": None, "options": [{"name": "A"}],
                 "conditions": [{"on": True, "part": "object", "any": ["A"]}]}
        said = {"version": "6.1", "symbols": [{"places": [place]}, {"places": []}]}
        truth = [("a", 7, "a_init", "device", "drivers/a.c"), ("b", 1, "b_init", "fs", "fs/b.c")]
        judge = SimpleNamespace(builds=lambda file, off: off == "")
        with mock.patch.object(sys, "argv", ["table-explain", "DIR"]):
            text = printed(table.report, said, truth, judge, 0.5)
        self.has(text, "| file, the only one named | 1 | 50.0% |", "| not found, or elsewhere | 1 | 50.0% |",
                 "| option, of those that make could judge | 1 of 1 | 100.0% |", "Wrong: `b_init` (fs/b.c).")

    def test_viewer(self):
        table = script("table-viewer")
        seen = {"paint_ms": 90, "worst_paint_ms": 120, "memory": 5e7,
                "pan": {"fps": 60, "p95_ms": 17}, "zoom": {"fps": 55, "p95_ms": 20}}
        rows = [("a log", 1000, 3, 4_000_000, 100_000, self.work)]
        text = table.page({"browser": "1.0", "pages": [seen]}, rows, [250_000], 150_000)
        self.has(text, "| a log | 3 | 4 000 | 100 | 250 | 300 | 90 (120) | 60 (17 ms) | 55 (20 ms) | 50 |")

    def test_source_speed(self):
        table = script("table-source-speed")
        log = self.work / "log"
        log.write_bytes(b"x" * 2_000_000)
        took = {"wc": (0.1, 0.1, 1e6), "bootlap": (0.5, 0.4, 8e6)}
        best = lambda command, **_: took["wc" if command[0] == "wc" else "bootlap"]
        told = [{"lines": {"used": 100, "total": 100}, "spans": 20_000, "marks": 0}]
        with mock.patch.multiple(table, best=best, asked=lambda *_: told):
            text = printed(table.reading, [("a log", log, 100_000)])
        self.has(text, "| a log | 2.0 | 100\u202f000 | 0.500 | 0.400 | 0.25 | 5 | 0.100 | 4.0 | 20\u202f000 | 8.0 | 400 |")

    def test_capture(self):
        table = script("table-capture")
        run = self.work / "run"
        run.mkdir()
        chunk = lambda us, text: bytes([us & 0x7F | 0x80, us >> 7]) + bytes([len(text) << 3 & 0x7F | 0x80, len(text) >> 4]) + text
        (run / "console.stamps").write_bytes(b"BOOTLAP\0\x02" + bytes(7) + chunk(2000, b"@500 a\r\n") + chunk(3000, b"@4500 b\r\n")
                                             + chunk(1000, b"@5900 c\r\n"))
        (run / "manifest.json").write_text('{"capture": {"zero_monotonic_ns": 0}}')
        late = table.errors(run)
        self.assertEqual(late, [500, 1500])
        self.assertAlmostEqual(table.at(late, 0.5), 1500 / 1e6)

    def test_power_cuts(self):
        table = script("table-power-cuts")
        counts = {"record": 2, "replay": 1, "layout": 1}
        text = table.report(4, counts, {a: 1.25 for a in counts}, ["replay after 0.10 s: e2fsck: damaged"])
        self.has(text, "| record | 1.2 s | 2 | 0 |", "| replay | 1.2 s | 1 | 1 |", "- replay after 0.10 s: e2fsck: damaged")

    def test_layout(self):
        table = script("table-layout")
        line = " sh-1 [000] 1.0: block_rq_issue: 7,0 {} 4096 () {} + {} none,0,0 [sh]\n"
        text = line.format("RA", 0, 8) + line.format("R", 8, 8) + line.format("R", 100, 2) + line.format("WS", 1, 9)
        self.assertEqual(table.counted(text), (3, 1, 9))

    def test_rc(self):
        table = script("table-rc")
        rows = {"one": [4.0], "startpar": [2.0], "agent": [1.5], "timed": [1.2]}
        computed = [{"critical_ns": 1e9, "found_ns": 1.1e9}]
        with mock.patch.multiple(table, measure=lambda *_: (rows, computed), loops_per_ms=lambda: 1), \
                mock.patch.object(table.os, "sched_setscheduler", lambda *_: None):
            text = printed(table.table, self.work, self.work)
        self.has(text, "| wait | 4000 | 2000 | 1500 | 1200 | 1000 | 1100 |",
                 "| wait | 0.38 (0.38 to 0.38) | 0.75 (0.75 to 0.75) | 1.50 (1.50 to 1.50) | 1.20 (1.20 to 1.20) |")

    def test_splash(self):
        table = script("table-splash")
        console = "[    1.000200] splash: start\n[    1.050200] bootlap: picture-complete\n"
        self.assertEqual(table.moment(console, "splash: start"), 1_000_200)
        self.assertIsNone(table.moment(console, "splash: end"))
        self.assertEqual(table.way_row("`dd`", 300, 54_000, None), "| `dd` | 300 | 54.0 ms | 27.00 M |  |")

    def test_probe_cost(self):
        program = fake_bootlap(self.work, """
def answer(args):
    if args[0] == "apply":
        return {}
    run = Path(value("--runs")) / "run"
    run.mkdir(exist_ok=True)
    (run / "manifest.json").write_text('{\\n  "wall_ms": %d\\n}\\n' % (100 if "--no-probe" in args else 110))
    sys.stdout.write('{"run":"%s"}' % run)
    raise SystemExit
""")
        text = page("table-probe-cost", program, PAIRS="2")
        self.has(text, "| kiosk, simulated time | 100 | 110 | 1.1 | 1.1000 to 1.1000 |")

    def test_a_bootlap_that_fails_ends_the_script(self):
        program = fake_bootlap(self.work, "def answer(args):\n    raise SystemExit(5)\n")
        with self.assertRaisesRegex(AssertionError, "ended with 5"):
            page("table-bootloaders", program)


if __name__ == "__main__":
    unittest.main()

"""The driver and the strategy in a lab of their own: labgrid's coordinator and exporter on the
loopback, and QEMU as the board."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest
from labgrid import Environment
from labgrid.strategy import StrategyError

import bootlap

BOARD = [sys.executable, str(pathlib.Path(__file__).parent / "board.py")]
# What SeaBIOS says when there is nothing to boot.
READY = "No bootable device"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def running(words, sign, **options):
    """A server, once it has said `sign`."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options) as child:
        try:
            for line in child.stdout:
                if sign in line:
                    break
            else:
                pytest.fail(f"{words[0]} ended without a word")
            yield child
        finally:
            child.terminate()
            child.stdout.close()


def waiting(port):
    """Once somebody listens there."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    pytest.fail(f"nobody listens at {port}")


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The environment file of a place whose board is QEMU."""
    monkeypatch.chdir(tmp_path)
    coordinator, console, line = free_port(), free_port(), free_port()
    tools = os.path.dirname(sys.executable)
    pidfile = tmp_path / "board.pid"
    (tmp_path / "exporter.yaml").write_text(f"""
board:
  NetworkSerialPort:
    host: 127.0.0.1
    port: {console}
    protocol: raw
""")
    address = f"127.0.0.1:{coordinator}"
    (tmp_path / "lab.yaml").write_text(f"""
targets:
  main:
    resources:
      RemotePlace:
        name: board
    drivers:
      SerialDriver: {{}}
      ExternalPowerDriver:
        cmd_on: {' '.join(BOARD)} on {line} {pidfile}
        cmd_off: {' '.join(BOARD)} off {pidfile}
      BootlapDriver:
        ready: {READY}
        timeout: 120
        off_seconds: 0.1
      BootlapStrategy: {{}}
options:
  coordinator_address: {address}
imports:
- bootlap.labgrid
""")

    def client(*words):
        return subprocess.run([f"{tools}/labgrid-client", "-x", address, "-p", "board", *words],
                              check=True, capture_output=True, text=True).stdout

    with contextlib.ExitStack() as servers:
        servers.enter_context(running([*BOARD, "serve", str(console), str(line)], "ready"))
        words = [f"{tools}/labgrid-coordinator", "-l", address]
        coordinating = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        servers.callback(coordinating.wait)
        servers.callback(coordinating.terminate)
        waiting(coordinator)
        words = [f"{tools}/labgrid-exporter", "-c", address, "-n", "lab", "exporter.yaml"]
        exporting = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        servers.callback(exporting.wait)
        servers.callback(exporting.terminate)
        servers.callback(subprocess.run, [*BOARD, "off", str(pidfile)])
        for _ in range(60):
            if "NetworkSerialPort" in client("resources"):
                break
            assert exporting.poll() is None, "the exporter has ended"
        client("create")
        client("add-match", "*/board/*")
        client("acquire")
        yield str(tmp_path / "lab.yaml")


def test_every_boot_of_a_place_is_recorded(lab, tmp_path):
    target = Environment(lab).get_target("main")
    strategy = target.get_driver("BootlapStrategy")
    strategy.transition("booted")
    first = strategy.last
    assert first.ready > 0
    assert any("SeaBIOS" in span["name"] for span in first.json["spans"])
    # Booted is booted.
    strategy.transition("booted")
    assert strategy.last is first
    strategy.transition("off")
    strategy.transition("booted")
    assert strategy.last is not first
    runs = sorted((tmp_path / "runs/main").iterdir())
    assert [bootlap.read(run).ready for run in runs] == [first.ready, strategy.last.ready]
    assert bootlap.compare(runs[0], runs[1]).total.before == pytest.approx(first.ready)
    # What never comes is told, and recorded.
    driver = target.get_driver("BootlapDriver")
    driver.ready, driver.timeout = "never said", 3
    strategy.transition("off")
    with pytest.raises(StrategyError, match="never said"):
        strategy.transition("booted")
    assert strategy.last.ready is None
    assert len(list((tmp_path / "runs/main").iterdir())) == 3
    strategy.transition("off")
    with pytest.raises(StrategyError, match="no state"):
        strategy.transition("asleep")

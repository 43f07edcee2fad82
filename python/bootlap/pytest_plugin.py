"""The fixture `boot` for pytest.

    pytest --boot=targets/kiosk                   boots it in QEMU, once for the whole session
    pytest --boot=runs/@last                or goes by what was recorded
    pytest --boot=serial.log --boot-ready=login:

    def test_boot(boot):
        assert boot.ready < 2.0
        assert boot.took("nginx.service") < 0.3

The time, the phases and the largest costs become properties of the test in JUnit files; with
--boot-page FOLDER the page of the boot is written there, and its name is a property, too.
"""

import os

import pytest

import bootlap


def pytest_addoption(parser):
    group = parser.getgroup("bootlap", "boots")
    group.addoption("--boot", action="append", metavar="TARGET|RUN|FILE", default=None,
                    help="the target to boot, or evidence of one boot (repeatable)")
    group.addoption("--boot-ready", metavar="REGEX", default=None,
                    help="the line that means ready, for logs that no target describes")
    group.addoption("--boot-page", metavar="FOLDER", default=None,
                    help="write the page of the boot there")
    parser.addini("boot", "the same as --boot", type="linelist", default=[])
    parser.addini("boot_ready", "the same as --boot-ready", default="")


def _asked(config):
    named = config.getoption("--boot")
    if named:
        return named
    # Names in a file are relative to the file.
    return [os.path.join(config.rootpath, name) for name in config.getini("boot")]


@pytest.fixture(scope="session")
def _session_boot(request, tmp_path_factory):
    config = request.config
    asked = _asked(config)
    if not asked:
        pytest.skip("no boot was named: --boot TARGET, or boot = … in pytest's configuration")
    ready = config.getoption("--boot-ready") or config.getini("boot_ready") or None
    if len(asked) == 1 and os.path.isfile(os.path.join(asked[0], "target.toml")):
        found = bootlap.boot(asked[0], runs=tmp_path_factory.mktemp("runs"))
    else:
        found = bootlap.read(*asked, ready=ready)
    folder = config.getoption("--boot-page")
    page = None
    if folder:
        os.makedirs(folder, exist_ok=True)
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in found.json["target"])
        page = found.page(os.path.join(folder, f"{name or 'boot'}.html"))
    return found, page


@pytest.fixture
def boot(_session_boot, record_property):
    """The boot that was named: a `bootlap.Boot`."""
    found, page = _session_boot
    if found.ready is not None:
        record_property("boot.ready_s", f"{found.ready:.6f}")
    for name, took in found.phases.items():
        record_property(f"boot.phase.{name}_s", f"{took:.6f}")
    for name, took, _ in found.costs[:3]:
        record_property(f"boot.cost.{name}_s", f"{took:.6f}")
    if page:
        record_property("boot.page", page)
    return found

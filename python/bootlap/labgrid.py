"""Records every boot of a labgrid place: its console, from the moment the power comes on.

    targets:
      main:
        resources:
          RemotePlace: {name: my-board}
        drivers:
          SerialDriver: {}
          NetworkPowerDriver: {}
          BootlapDriver: {ready: 'login:'}
          BootlapStrategy: {}
    imports: [bootlap.labgrid]

`BootlapDriver.boot()` switches the place off and on, and returns a `bootlap.Boot`; the strategy's
state `booted` does the same. Each boot is a run of its own below `runs/NAME`, for `bootlap compare`
and `bootlap history`.
"""

import datetime
import os
import selectors
import subprocess
import tempfile
import time

import attr
from labgrid import target_factory
from labgrid.driver import Driver
from labgrid.protocol import ConsoleProtocol, PowerProtocol
from labgrid.step import step
from labgrid.strategy import Strategy, StrategyError
from pexpect import TIMEOUT

from . import _program
from ._boot import read

#: How long a read of the console waits, in seconds: the end is noticed so late, no stamp is.
_POLL = 0.1


@target_factory.reg_driver
@attr.s(eq=False)
class BootlapDriver(Driver):
    """Switches the place off and on, and records what its console says until it is ready."""

    bindings = {"console": ConsoleProtocol, "power": PowerProtocol}

    #: The regular expression of the line that means ready.
    ready = attr.ib(validator=attr.validators.instance_of(str))
    #: Seconds to wait for it.
    timeout = attr.ib(default=300.0, converter=float)
    #: Seconds that the place stays off. (`off` alone is a truth value in YAML.)
    off_seconds = attr.ib(default=2.0, converter=float)
    #: The folder for runs.
    runs = attr.ib(default="runs", validator=attr.validators.instance_of(str))

    @Driver.check_active
    @step(title="boot, recorded by bootlap")
    def boot(self):
        """One boot, as a `bootlap.Boot`; its `ready` is None if it never came."""
        name = self.target.name
        stamp = datetime.datetime.now().strftime("%Y-%m-%d_%H-%M-%S.%f")
        run = os.path.join(self.runs, name, stamp)
        os.makedirs(os.path.dirname(run), exist_ok=True)
        self.power.off()
        time.sleep(self.off_seconds)
        while self._read():
            pass  # what it said before belongs to no boot
        with tempfile.TemporaryDirectory() as folder:
            # bootlap counts from the start of this command, which tells us to switch on.
            go = os.path.join(folder, "go")
            os.mkfifo(go)
            told = os.open(go, os.O_RDWR | os.O_NONBLOCK)
            try:
                self._record(run, go, told, name)
            finally:
                os.close(told)
        return read(run)

    def _record(self, run, go, told, name):
        words = [_program.program(), "--quiet", "capture", "-", "--power-cmd", f"echo >'{go}'",
                 "--until", self.ready, "--for", str(self.timeout), "--name", name,
                 "--out", run, "--json"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as child:
            try:
                with selectors.DefaultSelector() as selector:
                    selector.register(told, selectors.EVENT_READ)
                    while child.poll() is None and not selector.select(_POLL):
                        pass
                self.power.on()
                while child.poll() is None:
                    self._pass_on(child)
            finally:
                if child.poll() is None:
                    child.terminate()
            said = child.stderr.read().decode(errors="replace").strip()
        # 6: it never got ready, which the run says, too.
        if child.returncode not in (0, 6):
            raise _program.Failed(words[2:], child.returncode, said)

    def _pass_on(self, child):
        data = self._read()
        if not data:
            return
        try:
            child.stdin.write(data)
            child.stdin.flush()
        except BrokenPipeError:
            pass  # it has seen enough

    def _read(self):
        try:
            return self.console.read(size=1, timeout=_POLL)
        except TIMEOUT:
            return b""


@target_factory.reg_driver
@attr.s(eq=False)
class BootlapStrategy(Strategy):
    """The states `off` and `booted`; whoever goes to `booted` finds that boot in `last`."""

    bindings = {"power": PowerProtocol, "bootlap": BootlapDriver}

    #: `state` is labgrid's own.
    status = attr.ib(default="unknown")
    #: The last boot, as a `bootlap.Boot`.
    last = attr.ib(default=None)

    @step(args=["to"])
    def transition(self, to):
        """Goes to `off` or `booted`; a place that is booted is not booted again."""
        if to == self.status:
            return
        if to == "off":
            self.target.activate(self.power)
            self.power.off()
        elif to == "booted":
            self.target.activate(self.bootlap)
            self.last = self.bootlap.boot()
            if self.last.ready is None:
                self.status = "unknown"
                raise StrategyError(f"it never said {self.bootlap.ready!r}: {self.last!r}")
        else:
            raise StrategyError(f"there is no state {to!r}; these are: off, booted")
        self.status = to

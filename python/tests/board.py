"""A board with a serial line and a switch: QEMU with a PC's BIOS, whose console comes to whoever
is connected, whether it is on or off.

    board.py serve PORT LINE     the console's server at PORT, the board's own end at LINE
    board.py on LINE PIDFILE
    board.py off PIDFILE
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time

QEMU = ["qemu-system-x86_64", "-M", "pc,graphics=off", "-accel", "tcg", "-m", "64", "-nodefaults",
        "-display", "none", "-daemonize"]


def listen(port):
    server = socket.create_server(("127.0.0.1", port))
    server.setblocking(False)
    return server


def serve(port, line):
    """Passes bytes between one client and one board, each of which comes and goes."""
    servers = {listen(port): "client", listen(line): "board"}
    ends = {}
    with selectors.DefaultSelector() as selector:
        for server in servers:
            selector.register(server, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                if key.fileobj in servers:
                    end, _ = key.fileobj.accept()
                    ends[servers[key.fileobj]] = end
                    selector.register(end, selectors.EVENT_READ)
                    continue
                end = key.fileobj
                try:
                    data = end.recv(4096)
                except OSError:
                    data = b""
                name = next((n for n, e in ends.items() if e is end), None)
                if not data:
                    selector.unregister(end)
                    end.close()
                    ends.pop(name, None)
                    continue
                other = ends.get("client" if name == "board" else "board")
                if other is not None:
                    try:
                        other.sendall(data)
                    except OSError:
                        pass


def off(pidfile):
    try:
        with open(pidfile) as file:
            pid = int(file.read())
    except FileNotFoundError:
        return
    os.kill(pid, signal.SIGTERM)
    while os.path.exists(pidfile):
        time.sleep(0.01)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "serve":
        serve(int(rest[0]), int(rest[1]))
    elif what == "on":
        subprocess.run([*QEMU, "-serial", f"tcp:127.0.0.1:{rest[0]}", "-pidfile", rest[1]],
                       check=True)
    else:
        off(rest[0])

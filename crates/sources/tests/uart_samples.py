#!/usr/bin/env python3
"""Samples of a board's pins, as a logic analyser would have taken them, made
from a stamped console (`console.stamps` of a run).

    uart_samples.py console.stamps pins.bin --rate 1000000 --baud 115200
    sigrok-cli -I binary:numchannels=3:samplerate=1000000 -i pins.bin \\
        -C 0=power,1=uart,2=led -O vcd -o input

One byte per sample: bit 0 is the supply, which comes 50 ms after the recording
began; bit 1 the console's line, 8N1, on which a byte waits until the one before
it is sent; bit 2 an LED that is set when the pattern was sent.
"""

import argparse
import struct

MARK = 1 << 63


def console(path):
    """The bytes of a stamped console with their times in ns."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"BOOTLAP\0", "no stamped console"
    for at in range(16, len(data) - 15, 16):
        time, rest = struct.unpack_from("<QQ", data, at)
        if not time & MARK:
            yield time, rest & 0xFF


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stamps")
    parser.add_argument("out")
    parser.add_argument("--rate", type=int, default=1_000_000, help="samples a second")
    parser.add_argument("--baud", type=float, default=115_200)
    parser.add_argument("--bytes", type=int, default=10**9, help="how many bytes of the console")
    parser.add_argument("--power", type=int, default=50_000_000, help="ns until the supply comes")
    parser.add_argument("--led", default="Run /", help="sets the LED when it was sent")
    parser.add_argument("--invert", action="store_true", help="the line idles low")
    parser.add_argument("--faster", type=int, default=1, help="divides the console's times")
    args = parser.parse_args()

    bit = 1e9 / args.baud
    edges = []  # of the line: (ns, level)
    free, text, led = 0, "", None
    for time, byte in list(console(args.stamps))[: args.bytes]:
        start = max(time // args.faster + args.power, free)
        frame = [0] + [byte >> k & 1 for k in range(8)] + [1]
        edges += [(start + k * bit, level) for k, level in enumerate(frame)]
        free = start + 10 * bit
        text = (text + chr(byte))[-len(args.led) :]
        if text == args.led and led is None:
            led = free
    end = free + 5e6
    samples = bytearray()
    line, at = 1, 0
    for n in range(int(end * args.rate / 1e9)):
        ns = n * 1e9 / args.rate
        while at < len(edges) and edges[at][0] <= ns:
            line = edges[at][1]
            at += 1
        on = ns >= args.power
        level = on and line ^ args.invert
        samples.append(on | level << 1 | (led is not None and ns >= led) << 2)
    with open(args.out, "wb") as file:
        file.write(samples)


main()

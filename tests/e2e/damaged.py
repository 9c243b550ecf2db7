#!/usr/bin/env python3
"""Programs whose fat binaries are damaged by one byte: they may fail or even work, but with a message, never by a crash.

The bytes are those of the sections that hold device code, of the record that leads to them, and of the relocations that fill it in.
Headers, whose bytes are sizes and offsets, are tried with several values. Python because it is processes and bytes.
"""
import concurrent.futures
import os
import pathlib
import random
import struct
import subprocess
import sys

import harness

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import foreign  # noqa: E402  (from the folder above)

PREBUILT = pathlib.Path(__file__).resolve().parent.parent / "programs" / "prebuilt"
SECTIONS = (".nv_fatbin", "__nv_relfatbin", ".nvFatBinSegment")
HEADER = 0x50  # container header and the first entry's
PROGRAMS = {"bitonic": ["8"], "radixsort": ["300"], "rdc": ["100"], "pathfinder": ["200"]}  # plain, zstd, several parts, several targets
COUNT = int(os.environ.get("DAMAGED_COUNT", "60"))  # of each program
REPRISE = TMP = None  # set by main
ENVIRONMENT = foreign.environment()


def sections(image):
    """Name, offset in the file and size of each section of a 64-bit ELF."""
    table, count, names = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 60)
    rows = [struct.unpack_from("<IIQQQQ", image, table + 64 * i) for i in range(count)]
    for name, _, _, address, offset, size in rows:
        start = rows[names][4] + name
        yield image[start:image.index(b"\0", start)].decode(), address, offset, size


def relocations(image):
    """Offsets in the file of the addends that end up in the record of fat binaries."""
    table = {name: (address, offset, size) for name, address, offset, size in sections(image)}
    at, _, size = table[".nvFatBinSegment"]
    _, offset, length = table[".rela.dyn"]
    return [o + 16 for o in range(offset, offset + length, 24) if at <= struct.unpack_from("<Q", image, o)[0] < at + size]


def changes(image, rng, count):
    """Positions and new values."""
    places = []
    for name, _, offset, size in sections(image):
        if name in SECTIONS:
            places.append(range(offset, offset + size))
    heads = [p for r in places for p in list(r)[:HEADER]] + [a + k for a in relocations(image) for k in range(8)]
    for _ in range(count):
        at = rng.choice(heads) if rng.random() < 0.8 else rng.choice(rng.choice(places))
        yield at, image[at] ^ rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))


def attempt(number, name, image, at, value):
    """What went wrong, or None."""
    path = pathlib.Path(TMP) / f"damaged{number}"
    path.write_bytes(image[:at] + bytes([value]) + image[at + 1:])
    path.chmod(0o755)
    try:
        done = subprocess.run([REPRISE, "run", "--functional", "--watchdog", "3000000", "--", path, *PROGRAMS[name]],
                              capture_output=True, timeout=60, env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        return f"{name}: byte {at:#x} = {value:#x}: does not end"
    finally:
        path.unlink()
    if done.returncode < 0 or done.returncode > 128:
        return f"{name}: byte {at:#x} = {value:#x}: status {done.returncode}: {done.stderr[-300:]}"
    return None


def test_one_byte():
    rng, tries = random.Random(1), []
    for name in PROGRAMS:
        image = (PREBUILT / name).read_bytes()
        tries += [(name, image, at, value) for at, value in changes(image, rng, COUNT)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda t: attempt(t[0], *t[1]), enumerate(tries)) if w]
    assert not wrong, f"{len(wrong)} of {len(tries)}:\n" + "\n".join(wrong)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))

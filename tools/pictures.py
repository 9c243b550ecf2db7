#!/usr/bin/env python3
"""Pictures of what approximation does: for each annotated workload the exact result, the approximated one and their difference, side by
side, as PNG, a page that shows them, and pictures.json, from which 'reprise report' shows them beside all else.

    tools/pictures.py --reprise build/src/reprise --out report/pictures [--size medium] [--mech lnl] [--set lnl.threshold=0.1]
"""
import argparse
import base64
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

# Width of the picture by workload and size, tiny to large, and which of the results it is; how many bytes a pixel has.
WORKLOADS = {"hotspot-approx": ((64, 256, 512, 512), 1), "bilateral-approx": ((32, 160, 640, 1024), 4),
             "convSeparable-approx": ((256, 1024, 1024, 3072), 1), "convTexture-approx": ((128, 512, 1024, 3072), 1),
             "Sobel-approx": ((192, 640, 1024, 1024), 1)}
SIZES = ("tiny", "small", "medium", "large")
FORMATS = {"f32": "f", "u8": "B"}
GAP = 8


def read_result(path):
    """The first result of a file of them: a list of numbers (docs/results.md)."""
    data = pathlib.Path(path).read_bytes()
    first, head, rest = data.split(b"\n", 2)
    if first != b"reprise results 1":
        raise ValueError(f"{path} is no file of results")
    kind, count = head.split()[:2]
    letter = FORMATS[kind.decode()]
    return struct.unpack(f"<{int(count)}{letter}", rest[:int(count) * struct.calcsize(letter)])


def grey(values, low, high):
    scale = 255 / (high - low) if high > low else 0
    return bytes(min(255, max(0, int((v - low) * scale))) if math.isfinite(v) else 255 for v in values)


def png(path, width, rows):
    """Writes rows of grey pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    pixels = b"".join(b"\0" + row for row in rows)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b""))


def side_by_side(path, exact, got, width):
    """Both on the scale of the exact one; the difference, from 0 (black) to its largest value (white)."""
    low, high = min(exact), max(exact)
    off = [abs(a - b) for a, b in zip(exact, got)]
    parts = [grey(exact, low, high), grey(got, low, high), grey(off, 0, max(off))]
    gap = b"\xff" * GAP
    png(path, 3 * width + 2 * GAP, [gap.join(p[y:y + width] for p in parts) for y in range(0, len(exact) // width * width, width)])
    return max(off), math.sqrt(sum(v * v for v in off) / len(off)) / abs(sum(exact) / len(exact) or 1)


def picture(arguments, name, tmp, out):
    results = []
    for mech in ("base", arguments.mech):
        file = pathlib.Path(tmp) / f"{name}.{mech}.results"
        settings = [word for s in arguments.set if mech != "base" for word in ("--set", s)]
        how = ["--functional"] if mech == "base" else ["--mech", mech]
        subprocess.run([arguments.reprise, "run", "--gpu", "lnl", "--bits", "32", "--size", arguments.size, *how, *settings, "--results", str(file), name],
                       check=True, stdout=subprocess.DEVNULL)
        results.append(read_result(file))
    widths, components = WORKLOADS[name]
    exact, got = (r[::components] for r in results)
    most, rmse = side_by_side(out / f"{name}.png", exact, got, widths[SIZES.index(arguments.size)])
    png_text = base64.b64encode((out / f"{name}.png").read_bytes()).decode()
    return {"workload": name, "size": arguments.size, "mech": arguments.mech, "settings": arguments.set, "rmse_over_mean": rmse, "max": most,
            "png": "data:image/png;base64," + png_text}


def section(p):
    return (f"<h2>{p['workload']}</h2><p>{p['mech']}: RMSE {100 * p['rmse_over_mean']:.2f}% of the mean, at most {p['max']:.4g}</p>"
            f"<img src='{p['workload']}.png' alt='{p['workload']}'>")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reprise", default="build/src/reprise")
    parser.add_argument("--out", default="report/pictures")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--mech", default="lnl")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("names", nargs="*", default=list(WORKLOADS))
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        pictures = [picture(arguments, name, tmp, out) for name in arguments.names or WORKLOADS]
    (out / "pictures.json").write_text(json.dumps({"schema": 1, "pictures": pictures}, indent=1))
    (out / "index.html").write_text("<!DOCTYPE html><meta charset='utf-8'><title>Exact, approximated, difference</title>"
                                    "<h1>Exact, approximated, difference</h1>" + "".join(map(section, pictures)))
    print(f"{out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
